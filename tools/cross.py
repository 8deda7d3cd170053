"""Builds and tests ChainerX for other processors and systems: ``python tools/cross.py TARGET``.

- ``aarch64``: Linux on 64-bit ARM. GCC cross-compiles the library and the C++ tests, which
  ``qemu-aarch64`` runs. On Debian and Ubuntu, after ``dpkg --add-architecture arm64`` and ``apt-get
  update``, this needs ``g++-aarch64-linux-gnu libgtest-dev:arm64 qemu-user``.
- ``x86-64-v2``, ``x86-64-v3``: older processors than this one, without AVX and with AVX2.
  ``qemu-x86_64`` runs the C++ tests of the usual build, and Python tests of values. Needs
  ``qemu-user``.
- ``macos-arm64``, ``macos-x86_64``: macOS. The compiler of ``pip install ziglang`` compiles and
  links the library and the Python module, which nothing runs.

Builds for other systems are in ``build/cross/TARGET``, with OpenBLAS's wheel for that system.
More arguments go to GoogleTest, for example ``--gtest_filter=Gemm*``. The processor for ``aarch64``
is one without SVE: OpenBLAS's kernels for it give wrong products under QEMU 7.2.
"""

import argparse
import dataclasses
import os
import shlex
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import build
from build import ROOT, BuildError

FOLDER = ROOT / 'build' / 'cross'
CPP_TESTS = 'chainerx_native_kernels_test', 'chainerx_test', 'chainerx_onnx_test'
# QEMU itself fails where a process with threads forks.
NO_FORKS = '--gtest_filter=-*Fork*'
# Each elementwise operation by all its kernels against references; the others by their users.
PYTHON_TESTS = 'test_accuracy.py', 'test_nn_ops.py', 'test_linalg.py', 'test_optimizer_steps.py'


@dataclasses.dataclass(frozen=True)
class Target:
    """What to build with, and what runs it.

    Attributes:
        emulator: Command before the tests; none if nothing runs here.
        system: CMake's name of the system; none if the usual build is run.
        processor: CMake's name of the processor.
        wheels: pip's name of the platform, for the wheel of OpenBLAS.
        zig: Target of the compiler in ``ziglang``; none for that of GCC.
    """

    emulator: tuple[str, ...] = ()
    system: str | None = None
    processor: str | None = None
    wheels: str | None = None
    zig: str | None = None


# The libraries of Debian's cross compiler. The loader must find no others: with another build of
# the C library than its own, threads do not start.
ARM = '/usr/aarch64-linux-gnu'
TARGETS = {
    'aarch64': Target(
        (
            *('qemu-aarch64', '-cpu', 'cortex-a72', '-L', ARM),
            *('-E', f'LD_LIBRARY_PATH={ARM}/lib'),
        ),
        'Linux',
        'aarch64',
        'manylinux_2_28_aarch64',
    ),
    'x86-64-v2': Target(('qemu-x86_64', '-cpu', 'Nehalem')),
    'x86-64-v3': Target(('qemu-x86_64', '-cpu', 'Haswell')),
    'macos-arm64': Target((), 'Darwin', 'arm64', 'macosx_11_0_arm64', 'aarch64-macos.11.0'),
    'macos-x86_64': Target((), 'Darwin', 'x86_64', 'macosx_11_0_x86_64', 'x86_64-macos.11.0'),
}


def _run(*command):
    print('+', shlex.join(map(str, command)), flush=True)
    if subprocess.run(list(map(str, command))).returncode != 0:
        raise BuildError(f'{Path(command[0]).name} failed; see its messages above')


def _openblas(folder, platform):
    """Returns CMake's arguments that name the files in OpenBLAS's wheel for a platform."""
    package = folder / 'openblas'
    if not package.exists():
        wheels = folder / 'wheels'
        shutil.rmtree(wheels, ignore_errors=True)
        pip = [sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps']
        _run(
            *pip,
            *('--only-binary', ':all:', '--platform', platform, '--dest', wheels),
            'scipy-openblas32',
        )
        (wheel,) = wheels.iterdir()
        with zipfile.ZipFile(wheel) as file:
            file.extractall(package)
    (library,) = package.glob('scipy_openblas32/lib/libscipy_openblas.*')
    (license,) = package.glob('*.dist-info/licenses/LICENSE*')
    return [f'-DCHAINERX_OPENBLAS_LIBRARY={library}', f'-DCHAINERX_OPENBLAS_LICENSE={license}']


# The linker of Zig 0.17 crashes with -bundle, which CMake gives for modules.
_NO_BUNDLES = """\
for word; do
    shift
    [ "$word" != -bundle ] || word=-dynamiclib
    set -- "$@" "$word"
done
"""


def _zig_arguments(folder, target):
    """Returns CMake's arguments for a compiler of ``ziglang``, which CMake calls as one program."""
    programs = {'CXX_COMPILER': f'c++ -target {target}', 'AR': 'ar', 'RANLIB': 'ranlib'}
    arguments = []
    for name, command in programs.items():
        path = folder / f'zig-{name.lower()}'
        path.write_text(
            f'#!/bin/sh\n{_NO_BUNDLES}exec {sys.executable} -m ziglang {command} "$@"\n'
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        arguments.append(f'-DCMAKE_{name}={path}')
    return arguments


def compile_for(name):
    """Compiles for another system; returns the folder of the build."""
    target = TARGETS[name]
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [
        f'-DCMAKE_SYSTEM_NAME={target.system}',
        f'-DCMAKE_SYSTEM_PROCESSOR={target.processor}',
        *_openblas(folder, target.wheels),
    ]
    if target.zig:
        arguments += _zig_arguments(folder, target.zig)
    else:
        arguments += [
            f'-DCMAKE_CXX_COMPILER={target.processor}-linux-gnu-g++',
            '-DCMAKE_CROSSCOMPILING_EMULATOR={}'.format(';'.join(target.emulator)),
            '-DCHAINERX_BUILD_PYTHON=OFF',
        ]
    os.environ['CMAKE_ARGS'] = shlex.join(arguments)
    build.configure(folder / 'build', build_tests=bool(target.emulator))
    build.compile_all(folder / 'build', CPP_TESTS if target.emulator else ())
    return folder / 'build'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('target', choices=TARGETS)
    parser.add_argument('--only', choices=['cpp', 'python'], help='kind of tests (default: both)')
    args, arguments = parser.parse_known_args()
    target = TARGETS[args.target]
    try:
        if target.emulator and not shutil.which(target.emulator[0]):
            raise BuildError(f'{target.emulator[0]} is missing: apt install qemu-user')
        if target.system:
            folder = compile_for(args.target)
        else:
            folder = build.BUILD
            build.build_chainerx(ROOT, build_tests=args.only != 'python')
        if target.emulator and args.only != 'python':
            for test in CPP_TESTS:
                _run(*target.emulator, folder / test, NO_FORKS, *arguments)
        if target.emulator and not target.system and args.only != 'cpp':
            tests = [ROOT / 'tests' / 'chainerx_tests' / name for name in PYTHON_TESTS]
            pytest = [sys.executable, '-m', 'pytest', '-q', '--timeout', '0', '-m', 'not slow']
            _run(*target.emulator, *pytest, *tests)
    except BuildError as error:
        sys.exit(f'error: {error}')


if __name__ == '__main__':
    main()
