"""Verifies the GPU code on a GPU: ``python tools/gpu_verify.py [PART ...]``.

It builds ChainerX with the CUDA backend, runs the tests of ChainerX and Chainer on it and those of
CuPy, runs the operations under ``compute-sanitizer``, and the benchmarks. Each part ends within
nine minutes, and adds its result to a report in ``docs/gpu_reports``, one file for a GPU and a day.
A part that runs again replaces its result. ``--table`` makes the table in
``docs/gpu_verification.rst`` from all reports.

Without a GPU it says so and stops. ``--emulated`` tries this program on the emulation of CUDA that
``tools/build.py --test`` compiles, without the parts that build and sanitize; it writes no report
unless ``--report`` names a file.
"""

import argparse
import contextlib
import datetime
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

from build import CUDA_TESTS

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / 'docs' / 'gpu_reports'
PAGE = ROOT / 'docs' / 'gpu_verification.rst'
EMULATION = ROOT / 'build' / 'chainerx' / 'cuda_emulation'
STAND_IN = ROOT / 'tests' / 'helpers' / 'cupy_emulation'
SECONDS = 530
_MARKED = re.compile(r'(\.\. The table is made.*?\n\n).*\Z', re.DOTALL)

_PYTEST = [
    *(sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--color=no'),
    *(['-n', '4'] if importlib.util.find_spec('xdist') else []),
]
_ON_CUDA = {'CHAINERX_TEST_DEVICE': 'cuda:0'}
_FUNCTIONS = 'tests/chainer_tests/functions_tests'
_EXAMPLES = ['tests/example_tests', 'tests/smoke_tests']


def _sanitizer(tool, tests):
    pytest = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'no:xdist']
    return [
        *('compute-sanitizer', '--tool', tool, '--error-exitcode', '86', '--print-limit', '20'),
        *(*pytest, 'tests/chainerx_tests/test_ops.py', '-k', tests),
    ]


def _benchmark(script, *arguments):
    return [sys.executable, f'benchmarks/{script}.py', *arguments]


#: Commands by part, and variables of their environment.
PARTS = {
    'build': ([sys.executable, 'tools/build.py'], {'CHAINERX_BUILD_CUDA': '1'}),
    'cuda': ([*_PYTEST, '-m', 'not slow', *CUDA_TESTS], _ON_CUDA),
    'chainer': (
        [*_PYTEST, '-m', 'not slow', '-k', 'chainerx or cuda', 'tests/chainer_tests'],
        _ON_CUDA,
    ),
    'gpu-functions': ([*_PYTEST, '-m', 'gpu and not slow', _FUNCTIONS], {}),
    'gpu-others': (
        [*_PYTEST, '-m', 'gpu and not slow', 'tests/chainer_tests', f'--ignore={_FUNCTIONS}'],
        {},
    ),
    'gpu-examples': ([*_PYTEST, '-m', 'gpu and not slow', *_EXAMPLES], {}),
    'multi_gpu': (
        [*_PYTEST, '-m', 'multi_gpu and not slow', 'tests/chainer_tests', *_EXAMPLES],
        {},
    ),
    'memcheck-forward': (_sanitizer('memcheck', 'test_forward or test_layouts'), _ON_CUDA),
    'memcheck-backward': (_sanitizer('memcheck', 'test_backward'), _ON_CUDA),
    'racecheck-forward': (_sanitizer('racecheck', 'test_forward'), _ON_CUDA),
    'racecheck-backward': (_sanitizer('racecheck', 'test_backward'), _ON_CUDA),
    'benchmark-chainerx': (_benchmark('run', '--device', 'cuda:0'), {}),
    'benchmark-cupy': (_benchmark('run', '--device', '@cupy:0'), {}),
    'bandwidth-chainerx': (_benchmark('bandwidth', '--device', 'cuda:0'), {}),
    'bandwidth-cupy': (_benchmark('bandwidth', '--device', '@cupy:0'), {}),
    'gemm-chainerx': (_benchmark('gemm', '--device', 'cuda:0'), {}),
    'gemm-cupy': (_benchmark('gemm', '--device', '@cupy:0'), {}),
}


def _is_benchmark(name):
    return name.startswith(('benchmark', 'bandwidth', 'gemm'))


def find_gpu():
    """Name, driver and compute capability of the first GPU; ``None`` without one."""
    query = 'nvidia-smi', '--query-gpu=name,driver_version,compute_cap', '--format=csv,noheader'
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    gpus = done.stdout.split('\n')
    return dict(zip(('device', 'driver', 'capability'), gpus[0].split(', '))) if gpus[0] else None


def _output_of(*command):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip().splitlines()[-1]


def _versions():
    names = 'numpy', 'cupy-cuda13x', 'cupy-cuda12x', 'torch', 'pytest'
    versions = {'python': platform.python_version()}
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    found = {
        'nvcc': _output_of(os.environ.get('CUDACXX') or 'nvcc', '--version'),
        'commit': _output_of('git', 'rev-parse', 'HEAD'),
    }
    return {**versions, **{name: value for name, value in found.items() if value}}


def summarize(output):
    """Counts and failed tests of an output of pytest or ``compute-sanitizer``."""
    counts = {}
    ends = re.findall(r'^=* ?(\d+ \w+(?:, \d+ \w+)*) in [\d.]+s', output, re.M)
    for number, what in re.findall(r'(\d+) (\w+)', ends[-1] if ends else ''):
        counts[what.removesuffix('s') if what == 'errors' else what] = int(number)
    reports = re.findall(r'(?:ERROR SUMMARY: (\d+) error|\((\d+) errors?, \d+ warning)', output)
    if reports:
        counts['sanitizer reports'] = sum(int(a or b) for a, b in reports)
    failures = re.findall(r'^(?:FAILED|ERROR) (\S+?::[\w:]+(?:\[.*?\](?= - |$))?)', output, re.M)
    return counts, failures


def run_part(name, extra, emulated, capability):
    """Runs a part; returns its result for the report."""
    command, variables = PARTS[name]
    paths = [ROOT, *([STAND_IN] if emulated else []), os.environ.get('PYTHONPATH', '')]
    environment = {**os.environ, **variables, 'PYTHONPATH': os.pathsep.join(map(str, paths))}
    if emulated:
        environment['CHAINER_TEST_CUPY'] = 'emulated'
        environment['CHAINERX_PATH'] = str(EMULATION)
        environment['CHAINERX_CUDA_EMULATION_SHARED'] = '1'
    elif name == 'build' and 'CHAINERX_NVCC_GENERATE_CODE' not in environment:
        arch = capability.replace('.', '')
        environment['CHAINERX_NVCC_GENERATE_CODE'] = f'arch=compute_{arch},code=sm_{arch}'
    command = [*command, *(extra if 'pytest' in command else [])]
    result = {'command': shlex.join([Path(command[0]).name, *command[1:]])}
    if shutil.which(command[0]) is None:
        return {**result, 'status': f'skipped: there is no {command[0]}'}
    print('+', result['command'], flush=True)
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=SECONDS)
        status = 'passed' if process.returncode == 0 else f'failed: status {process.returncode}'
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = f'failed: more than {SECONDS} seconds'
    counts, failures = summarize(output)
    print(output[-4000:])
    return {
        **result,
        'status': status,
        'seconds': round(time.monotonic() - start, 1),
        'counts': counts,
        'failures': failures,
        # What benchmarks print, or the end of what failed
        'output': output if _is_benchmark(name) else output[-4000:],
    }


def _result(part):
    counts = ', '.join(f'{n} {what}' for what, n in part.get('counts', {}).items())
    return f'{part["status"]} ({counts})' if counts else part['status']


def _tables(report):
    """Tables of the benchmarks, as lists of rows."""
    for name, part in report['parts'].items():
        lines = [line for line in part.get('output', '').splitlines() if line.startswith('| ')]
        if lines and _is_benchmark(name):
            yield [[cell.strip(' `') for cell in line.strip('|').split('|')] for line in lines]


def _list_table(rows, widths=None):
    lines = ['.. list-table::', '   :header-rows: 1']
    lines += [f'   :widths: {widths}'] if widths else []
    lines.append('')
    for row in rows:
        for i, cell in enumerate(row):
            lines.append(f'   {"* " if i == 0 else "  "}- {cell}'.rstrip())
    return '\n'.join(lines) + '\n'


def table(reports):
    """The text of the page below its introduction, made from reports."""
    head = ['date', 'GPU', 'driver', 'what ran', 'result']
    rows = [head]
    for report in reports:
        for name, part in report['parts'].items():
            gpu = [report[key] for key in ('date', 'device', 'driver')]
            rows.append([*(gpu if name == next(iter(report['parts'])) else [''] * 3), name])
            rows[-1].append(_result(part))
    if len(rows) == 1:
        rows.append(['no GPU run recorded yet', '', '', '', ''])
    text = _list_table(rows, '12 20 14 24 30')
    for report in reports:
        for rows in _tables(report):
            text += f'\n{report["device"]}, {report["date"]}:\n\n{_list_table(rows)}'
    return text


def write_page():
    reports = [json.loads(path.read_text()) for path in sorted(REPORTS.glob('*.json'))]
    text, n = _MARKED.subn(lambda m: m.group(1) + table(reports), PAGE.read_text())
    assert n == 1, f'{PAGE} has no place for the table'
    PAGE.write_text(text)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('part', nargs='*', help='parts to run; all unless given')
    parser.add_argument('--list', action='store_true', help='list the parts and their commands')
    parser.add_argument('--table', action='store_true', help='only write the page of results')
    parser.add_argument('--report', type=Path, help='file of the report')
    parser.add_argument('--emulated', action='store_true', help='try it on the emulation of CUDA')
    parser.add_argument('--select', metavar='EXPRESSION', help='only tests that match (-k)')
    args = parser.parse_args(arguments)
    unknown = [name for name in args.part if name not in PARTS]
    if unknown:
        parser.error(f'unknown part {", ".join(unknown)}; choose from {", ".join(PARTS)}')
    if args.list:
        for name, (command, variables) in PARTS.items():
            assigned = [f'{key}={value}' for key, value in variables.items()]
            print(f'{name}: {shlex.join(assigned + command)}')
        return None
    if args.table:
        return write_page()
    gpu = find_gpu()
    if args.emulated:
        if not EMULATION.exists():
            return 'there is no emulation of CUDA: run "python tools/build.py --test" first'
        gpu = {'device': 'emulated', 'driver': 'none', 'capability': ''}
    elif gpu is None:
        return 'there is no GPU here: nvidia-smi found none (--emulated tries this program)'

    today = datetime.date.today().isoformat()
    path = args.report
    if path is None and not args.emulated:
        device = re.sub(r'\W+', '-', gpu['device']).strip('-').lower()
        path = REPORTS / f'{today}-{device}.json'
    report = {'date': today, **gpu, 'versions': _versions(), 'parts': {}}
    if path is not None and path.exists():
        report['parts'] = json.loads(path.read_text())['parts']
    extra = ['-k', args.select] if args.select else []
    failed = []
    possible = [n for n in PARTS if not (args.emulated and re.match('build|memcheck|racecheck', n))]
    for name in args.part or possible:
        result = run_part(name, extra, args.emulated, gpu['capability'])
        report['parts'][name] = result
        if result['status'] != 'passed':
            failed.append(name)
        print(f'{name}: {_result(result)}', flush=True)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(report, indent=1) + '\n')
        if name == 'build' and failed:
            break
    return f'not passed: {", ".join(failed)}' if failed else None


if __name__ == '__main__':
    sys.exit(main())
