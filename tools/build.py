"""Builds the ChainerX core with CMake: ``python tools/build.py [--type TYPE] [--test]``.

Without arguments, it configures if needed, compiles changed files and installs the module into the
source tree, where an editable install finds it. ``--test`` also builds and runs the C++ tests
(``sanitize.py`` runs them with a sanitizer) and runs Python tests on the emulated CUDA backend;
``--emulated ARGUMENT ...`` only runs pytest with these arguments on that backend.

``setup.py`` calls the same functions for wheels. Both read these environment variables:

- ``CHAINER_BUILD_CHAINERX``: build the core with the package (``setup.py`` only).
- ``CHAINERX_BUILD_CUDA``: also build the CUDA backend.
- ``CHAINERX_BUILD_TYPE``: CMake's build type, ``Release`` by default.
- ``CHAINERX_CMAKE_GENERATOR``: CMake's generator, ``Ninja`` by default.
- ``CHAINERX_NVCC_GENERATE_CODE``: nvcc's ``--generate-code`` options, separated by semicolons.
- ``CMAKE_ARGS``: more arguments for CMake's configure step.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / 'chainerx_cc'
#: Folders of others' code, each with its licence.
THIRD_PARTY = SOURCE / 'third_party'
BUILD = ROOT / 'build' / 'chainerx'
#: Tests that also run on the CUDA backend, on a GPU or emulated.
CUDA_TESTS = [
    f'tests/chainerx_tests/test_{name}.py'
    for name in (
        'accuracy autograd backprop_ids bfloat16_ops cuda cuda_attention cuda_cudnn '
        'cuda_foreign_streams cuda_graphs cuda_groups cuda_layers cuda_linalg cuda_linear '
        'cuda_matmul cuda_memory cuda_rnn cuda_sort einsum indexing linalg nn_ops ops '
        'optimizer_steps random special'
    ).split()
]


class BuildError(Exception):
    """Build failure with a message for the user."""


def _flag(name):
    value = os.environ.get(name, '0')
    if value not in ('', '0', '1'):
        raise BuildError(f'the environment variable {name} must be 0 or 1, not {value!r}')
    return value == '1'


def wanted():
    """Returns whether the environment requests the compiled core."""
    return _flag('CHAINER_BUILD_CHAINERX')


def _program(name):
    """Returns the path of a program; looks in the interpreter's environment first.

    That environment may not be activated.
    """
    path = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if path is None:
        raise BuildError(
            f'{name!r} was not found; install the build requirements with '
            '"pip install cmake ninja pybind11 scipy-openblas32" or leave out '
            '--no-build-isolation'
        )
    return path


def _check_compiler():
    candidates = [os.environ['CXX']] if os.environ.get('CXX') else ['c++', 'g++', 'clang++']
    if not any(shutil.which(shlex.split(name)[0]) for name in candidates):
        raise BuildError(
            'no C++ compiler was found (tried {}); install one (on Debian and Ubuntu: '
            '"apt install g++") or set CXX'.format(', '.join(candidates))
        )


def _check_cuda():
    toolkit = os.environ.get('CUDA_PATH') or os.environ.get('CUDA_HOME')
    candidates = [
        os.environ.get('CUDACXX'),
        toolkit and toolkit + '/bin/nvcc',
        'nvcc',
        '/usr/local/cuda/bin/nvcc',
    ]
    if not any(name and shutil.which(name) for name in candidates):
        raise BuildError(
            'CHAINERX_BUILD_CUDA=1 needs the CUDA compiler nvcc, which was not found; '
            'set CUDACXX or CUDA_PATH, put nvcc on PATH, or unset CHAINERX_BUILD_CUDA'
        )


def _check_modules():
    missing = []
    for module in 'pybind11', 'scipy_openblas32':
        try:
            __import__(module)
        except ImportError:
            missing.append(module.replace('_', '-'))
    if missing:
        raise BuildError(
            'the build needs {}; run "pip install {}" or leave out --no-build-isolation'.format(
                ' and '.join(missing), ' '.join(missing)
            )
        )


def copy_licences():
    """Copies the licences of what the core contains beside it.

    Returns:
        list of str: Paths of the copies in this repository.
    """
    _check_modules()
    names = {'pybind11': 'pybind11', 'scipy-openblas32': 'openblas'}
    copies = []
    licences = {file.parent.name: file for file in THIRD_PARTY.glob('*/LICENSE.md')}
    for package, name in names.items():
        (licence,) = [file for file in metadata.files(package) if 'LICENSE' in file.name]
        licences[name] = licence.locate()
    for name, licence in sorted(licences.items()):
        copies.append(f'chainerx/LICENSE.{name}.txt')
        shutil.copyfile(licence, ROOT / copies[-1])
    return copies


def _run(step, command, **variables):
    assignments = ['{}={}'.format(*item) for item in variables.items()]
    print('+', shlex.join(assignments + command), flush=True)
    if subprocess.run(command, env={**os.environ, **variables}).returncode != 0:
        raise BuildError(f'the step "{step}" failed; see its messages above')


def _interpreter():
    """Returns what tells interpreters apart: the environment and the binary interface.

    One interpreter has several names, such as ``python`` and ``python3``.
    """
    names = sys.prefix, sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX')
    return '\n'.join([*names, ''])


def configure(folder, build_type=None, build_tests=False, sanitizer=''):
    """Configures a build folder."""
    _check_compiler()
    cuda = _flag('CHAINERX_BUILD_CUDA')
    if cuda:
        _check_cuda()
    _check_modules()
    command = [
        _program('cmake'),
        '-S',
        str(SOURCE),
        '-B',
        str(folder),
        '-G',
        os.environ.get('CHAINERX_CMAKE_GENERATOR') or 'Ninja',
        f'-DPython_EXECUTABLE:FILEPATH={sys.executable}',
        '-DCMAKE_BUILD_TYPE={}'.format(
            build_type or os.environ.get('CHAINERX_BUILD_TYPE') or 'Release'
        ),
        '-DCHAINERX_BUILD_CUDA={}'.format('ON' if cuda else 'OFF'),
        '-DCHAINERX_BUILD_PYTHON=ON',
        f'-DCHAINERX_SANITIZE={sanitizer}',
        '-DCHAINERX_BUILD_TEST={}'.format('ON' if build_tests else 'OFF'),
    ]
    interpreter = folder / 'interpreter.txt'
    if not interpreter.exists() or interpreter.read_text() != _interpreter():
        # CMake would keep what it has found; most of what is compiled does not depend on it.
        command[1:1] = ['-U', '*Python*', '-U', '*PYTHON_*']
    if 'CHAINERX_NVCC_GENERATE_CODE' in os.environ:
        codes = os.environ['CHAINERX_NVCC_GENERATE_CODE']
        command.append(f'-DCHAINERX_NVCC_GENERATE_CODE={codes}')
    if command[command.index('-G') + 1].startswith('Ninja'):
        command.append('-DCMAKE_MAKE_PROGRAM={}'.format(_program('ninja')))
    _run('configure', command + shlex.split(os.environ.get('CMAKE_ARGS', '')))
    interpreter.write_text(_interpreter())


def compile_all(folder, targets=()):
    """Compiles what changed, of all targets or some."""
    # CMake uses ccache if installed; these settings share its cache between source copies.
    os.environ.setdefault('CCACHE_BASEDIR', str(ROOT))
    os.environ.setdefault('CCACHE_NOHASHDIR', '1')
    jobs = os.environ.get('CMAKE_BUILD_PARALLEL_LEVEL') or str(os.cpu_count())
    command = [_program('cmake'), '--build', str(folder), '--parallel', jobs]
    _run('compile', command + [word for target in targets for word in ('--target', target)])


def run_tests(folder, **variables):
    """Runs the C++ tests of a build folder with some environment variables."""
    _run(
        'C++ tests',
        [
            _program('ctest'),
            '--test-dir',
            str(folder),
            '--output-on-failure',
            '--no-tests=error',
            '--parallel',
            str(os.cpu_count()),
        ],
        **variables,
    )


def run_emulated(folder, arguments, **variables):
    """Runs pytest on the CUDA backend that was compiled for the host."""
    options = '-q', '-n', 'auto', '-m', 'not slow', '--timeout', '600'
    _run(
        'tests on the emulated CUDA backend',
        [sys.executable, '-m', 'pytest', *options, *arguments],
        CHAINERX_PATH=str(folder / 'cuda_emulation'),
        CHAINERX_TEST_DEVICE='cuda:0',
        **variables,
    )


def run_emulated_cuda_tests(folder):
    """Runs the tests of ChainerX and Chainer that concern the CUDA backend, emulated."""
    run_emulated(
        folder,
        # chainermn's are here without CuPy
        [str(ROOT / test) for test in [*CUDA_TESTS, 'tests/chainermn_tests/test_gpus.py']],
        CHAINERX_CUDA_KEPT_BYTES='0',  # freed blocks are overwritten, so that late reads show
    )
    tests = [
        'chainer_tests',
        'smoke_tests',
        'example_tests/test_same_losses.py::test_20_losses[mnist/train_mnist.py -u 64 -e 2 -b 64]',
    ]
    run_emulated(
        folder,
        ['-k', 'chainerx or cuda', *[str(ROOT / 'tests' / test) for test in tests]],
        CHAINER_TEST_CUPY='emulated',
    )


def install(folder, prefix, component='python'):
    """Installs a component of a build folder below ``prefix``.

    Returns:
        list of str: Paths of the installed files.
    """
    _run(
        'install',
        [
            _program('cmake'),
            '--install',
            str(folder),
            '--component',
            component,
            '--prefix',
            str(prefix),
        ],
    )
    return (folder / f'install_manifest_{component}.txt').read_text().splitlines()


def build_chainerx(prefix, build_type=None, build_tests=False, development=False):
    """Configures, compiles and installs the Python module below ``prefix``.

    ``development`` adds the files with which C++ programs are compiled.

    Returns:
        list of str: Paths of the installed files.
    """
    if not (SOURCE / 'CMakeLists.txt').exists():
        raise BuildError(f'{SOURCE} has no CMakeLists.txt')
    configure(BUILD, build_type, build_tests)
    compile_all(BUILD)
    installed = install(BUILD, prefix)
    return installed + (install(BUILD, prefix, 'development') if development else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--type', help='CMake build type, for example Debug')
    parser.add_argument(
        '--test',
        action='store_true',
        help='also build and run the C++ tests, and tests of the CUDA backend on an emulation',
    )
    parser.add_argument(
        '--emulated',
        nargs=argparse.REMAINDER,
        metavar='ARGUMENT',
        help='only run pytest with these arguments on the CUDA backend, emulated',
    )
    args = parser.parse_args()
    try:
        if args.emulated:
            configure(BUILD, args.type, build_tests=True)
            compile_all(BUILD, ['cuda_emulated'])
            run_emulated(BUILD, args.emulated)
            return
        build_chainerx(ROOT, args.type, args.test)
        if args.test:
            run_tests(BUILD)
            run_emulated_cuda_tests(BUILD)
    except BuildError as error:
        sys.exit(f'error: {error}')


if __name__ == '__main__':
    main()
