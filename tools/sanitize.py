"""Runs the tests with a sanitizer: ``python tools/sanitize.py address|thread [ARGUMENTS]``.

``address`` finds memory errors, leaks and undefined behaviour, ``thread`` finds data races. Each
builds ChainerX in a folder of its own, ``build/chainerx-address`` or ``build/chainerx-thread``, and
leaves the module in the source tree alone. The C++ tests run first and stop at the first report.
Then the Python tests run in an interpreter with the run time library of the sanitizer: for
``address`` those of ChainerX and the files of ``tests/chainer_tests`` that name it, for ``thread``
those that use threads. Each file runs in its own process, which looks for leaks when it ends. They
go on after a report; the last line counts tests and reports, which are in ``reports`` in the build
folder. Any failure and any report fails the command.

ARGUMENTS go to one pytest, in place of the tests to run, for example
``tests/chainerx_tests/test_ops.py -k conv``. ``--only cpp`` and ``--only python`` run one of both.
The Python tests need GCC.

The interpreter itself is not compiled with a sanitizer. Its locks are seen, its own data races are
not, and of the leaks only those that ChainerX has allocated count.
"""

import argparse
import collections
import dataclasses
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import build
from build import ROOT, BuildError

TESTS = ROOT / 'tests'
# Names and documentation are made once and stay as long as the process.
_INITIALIZATION = 'chainerx/python/module.cc:'
# Refused allocations are warnings, too, but no reports.
_REPORT = re.compile(
    r'(ERROR|WARNING|FATAL): (Address|Thread)Sanitizer: |Sanitizer: CHECK failed|'
    r'LeakSanitizer has encountered|runtime error: '
)


@dataclasses.dataclass(frozen=True)
class Sanitizer:
    """How to run tests with a sanitizer.

    Attributes:
        library: The run time library.
        variables: Options of the run time libraries, by environment variable.
        tests: Makes the list of Python test files.
    """

    library: str
    variables: dict
    tests: object


def _tests_that_name_chainerx():
    files = sorted((TESTS / 'chainer_tests').rglob('test_*.py'))
    own = sorted((TESTS / 'chainerx_tests').rglob('test_*.py'))
    return [*own, *(f for f in files if 'chainerx' in f.read_text())]


def _tests_that_use_threads():
    return sorted((TESTS / 'chainerx_tests').glob('test_thread*.py'))


# Some tests request more memory than there is; others start threads in a forked process.
SANITIZERS = {
    'address': Sanitizer(
        'libasan.so',
        {
            'ASAN_OPTIONS': 'allocator_may_return_null=1:max_allocation_size_mb=3072:'
            'detect_leaks=1:detect_stack_use_after_return=1',
            'UBSAN_OPTIONS': 'print_stacktrace=1',
        },
        _tests_that_name_chainerx,
    ),
    'thread': Sanitizer(
        'libtsan.so',
        {'TSAN_OPTIONS': 'allocator_may_return_null=1:die_after_fork=0'},
        _tests_that_use_threads,
    ),
}


def _install(folder):
    """Makes a package ``chainerx`` with the module of a build folder; returns its parent folder."""
    prefix = folder / 'python'
    shutil.rmtree(prefix, ignore_errors=True)
    shutil.copytree(
        ROOT / 'chainerx',
        prefix / 'chainerx',
        ignore=shutil.ignore_patterns('*.so*', '__pycache__'),
    )
    build.install(folder, prefix)
    return prefix


def _libraries(folder, names):
    """Returns paths of the compiler's run time libraries."""
    cache = (folder / 'CMakeCache.txt').read_text()
    compiler = re.search(r'^CMAKE_CXX_COMPILER:\w+=(.*)$', cache, re.M).group(1)
    paths = []
    for name in names:
        path = subprocess.run(
            [compiler, f'-print-file-name={name}'], capture_output=True, text=True, check=True
        ).stdout.strip()
        if not os.path.isabs(path):
            raise BuildError(
                f'{compiler} has no {name}: the Python tests with a sanitizer need GCC'
            )
        paths.append(os.path.realpath(path))
    return paths


def _environment(sanitizer, folder, prefix, reports):
    options = {
        name: f'{value}:halt_on_error=0:exitcode=0:log_path={reports / "process"}'
        for name, value in sanitizer.variables.items()
    }
    return {
        **os.environ,
        **options,
        # Exceptions are caught by the sanitizer, too, which must find the C++ library at once.
        'LD_PRELOAD': ' '.join(_libraries(folder, (sanitizer.library, 'libstdc++.so'))),
        'CHAINER_SANITIZER': sanitizer.library,
        # Python's own allocator would hide its objects.
        'PYTHONMALLOC': 'malloc',
        'PYTHONPATH': os.pathsep.join(map(str, (prefix, ROOT))),
    }


def _reports(folder, prefix):
    """Returns the reports in the logs of all processes, less the leaks of others."""
    found = []
    # What allocations of ChainerX show in their stacks: a source file or, without one, the library.
    # A program of a test may import another build, whose stacks have no source files.
    own = re.compile(f'chainerx_cc/|{re.escape(str(prefix))}')
    for path in sorted(folder.iterdir()):
        for text in re.split(r'\n(?:=+\n)?\n', path.read_text(errors='replace')):
            if ' leak of ' in text:
                if own.search(text) and _INITIALIZATION not in text:
                    found.append(f'{path}:\n{text}')
            elif _REPORT.search(text):
                found.append(f'{path}:\n{text}')
    return found


def _run_pytest(arguments, results, folder, environment):
    """Runs pytest; returns whether it passed, and prints what it said if not."""
    command = [
        *(sys.executable, '-m', 'pytest', '-q', '-c', str(ROOT / 'pyproject.toml')),
        *('-o', 'timeout=900', '-p', 'no:cacheprovider', f'--junitxml={results}', *arguments),
    ]
    # The folder of the package is the current one, so that Python finds it before the source tree.
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    *_, last = process.stdout.strip().splitlines() or ['']
    name = arguments[-1].removeprefix(f'{ROOT}/')
    print(process.stdout + process.stderr if process.returncode else f'{name}: {last}', flush=True)
    return process.returncode == 0


def _count(results):
    """Returns the counts of all tests whose results are in a folder."""
    counts = collections.Counter()
    for path in results.iterdir():
        (suite,) = ElementTree.parse(path).getroot()
        for name in 'tests', 'failures', 'errors', 'skipped':
            counts[name] += int(suite.get(name))
    return counts


def _test_python(sanitizer, folder, arguments):
    prefix = _install(folder)
    reports, results = folder / 'reports', folder / 'results'
    for path in reports, results:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
    arguments = [
        str(ROOT / text) if (ROOT / text.split('::')[0]).exists() else text for text in arguments
    ]
    runs = [arguments] if arguments else [[str(path)] for path in sanitizer.tests()]
    environment = _environment(sanitizer, folder, prefix, reports)
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        futures = [
            executor.submit(_run_pytest, run, results / f'{i}.xml', prefix, environment)
            for i, run in enumerate(runs)
        ]
    passed = [future.result() for future in futures]
    found = _reports(reports, prefix)
    for text in found:
        print(text, end='\n\n')
    counts = _count(results)
    if len(list(results.iterdir())) < len(runs) or not counts['tests']:
        raise BuildError('pytest ended before it had results')
    print(
        '{} sanitizer: {tests} Python tests, {failures} failures, {errors} errors, '
        '{skipped} skipped; {} reports'.format(folder.name.split('-')[1], len(found), **counts)
    )
    if not all(passed) or found:
        raise BuildError(f'the Python tests failed; logs of the sanitizer are in {reports}')


def run(name, parts, arguments):
    """Builds with a sanitizer and runs the tests of ``parts``, ``'cpp'`` and ``'python'``."""
    sanitizer = SANITIZERS[name]
    folder = build.BUILD.with_name('chainerx-' + name)
    build.configure(folder, build_tests=True, sanitizer=name)
    build.compile_all(folder)
    if 'cpp' in parts:
        build.run_tests(
            folder,
            **{name: value + ':halt_on_error=1' for name, value in sanitizer.variables.items()},
        )
    if 'python' in parts:
        _test_python(sanitizer, folder, arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('sanitizer', choices=sorted(SANITIZERS))
    parser.add_argument('--only', choices=['cpp', 'python'], help='run only these tests')
    args, arguments = parser.parse_known_args()
    try:
        run(args.sanitizer, [args.only] if args.only else ['cpp', 'python'], arguments)
    except BuildError as error:
        sys.exit(f'error: {error}')


if __name__ == '__main__':
    main()
