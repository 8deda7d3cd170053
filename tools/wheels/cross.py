"""Compiles for other platforms with Zig: ``python tools/wheels/cross.py TARGET``.

TARGET is one of Zig's, for example ``aarch64-linux-gnu.2.28`` or ``aarch64-macos``. This compiles
the C++ library, and shows that it needs nothing of this machine; wheels for such a platform are
made there. ``--kernels`` compiles only the kernels, with their tests, which ``--run`` runs, for
example in ``qemu-aarch64``; GoogleTest's sources are taken from ``/usr/src/googletest`` (``apt
install libgtest-dev``). Needs ``pip install cmake ninja ziglang``.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNELS = Path('chainerx_cc/chainerx/backends/native/kernels')
GOOGLETEST = Path('/usr/src/googletest')


def _run(*command, **variables):
    print('+', shlex.join(map(str, command)), flush=True)
    subprocess.run(list(map(str, command)), check=True, env={**os.environ, **variables})


def platform_tag(target):
    """Returns the tag of the wheels of OpenBLAS that fit a target of Zig."""
    machine, system = target.split('-')[:2]
    if system == 'linux':
        return f'manylinux_2_28_{machine}'
    if system == 'macos':
        return 'macosx_11_0_arm64' if machine == 'aarch64' else 'macosx_10_9_x86_64'
    raise ValueError(f'{target!r} is for neither linux nor macos')


def cmake_arguments(target):
    """Returns CMake's arguments to compile for a target of Zig."""
    machine, system = target.split('-')[:2]
    compiler = f'{sys.executable};-m;ziglang'
    return [
        '-G',
        'Ninja',
        '-DCMAKE_BUILD_TYPE=Release',
        f'-DCMAKE_SYSTEM_NAME={"Darwin" if system == "macos" else "Linux"}',
        f'-DCMAKE_SYSTEM_PROCESSOR={machine}',
        f'-DCMAKE_C_COMPILER={compiler};cc;-target;{target}',
        f'-DCMAKE_CXX_COMPILER={compiler};c++;-target;{target}',
        # CMake knows neither the program's name nor its subcommands.
        f'-DCMAKE_AR={_wrapper("ar")}',
        f'-DCMAKE_RANLIB={_wrapper("ranlib")}',
    ]


def _wrapper(subcommand):
    path = ROOT / 'build' / 'cross' / f'zig-{subcommand}'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m ziglang {subcommand} "$@"\n')
    path.chmod(0o755)
    return path


def fetch_openblas(target, folder):
    """Unpacks OpenBLAS's package for a target into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    _run(
        *(sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:'),
        *('--platform', platform_tag(target), '--dest', folder, 'scipy-openblas32'),
    )
    (wheel,) = folder.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


def _build(source, folder, target, *arguments, openblas):
    _run(
        *('cmake', '-S', source, '-B', folder, *cmake_arguments(target), *arguments),
        PYTHONPATH=str(openblas),
    )
    _run('cmake', '--build', folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('target', help="one of Zig's targets")
    parser.add_argument('--kernels', action='store_true', help='the kernels and their tests only')
    parser.add_argument('--run', metavar='EMULATOR', help='command that runs the tests')
    args = parser.parse_args()
    base = ROOT / 'build' / 'cross' / args.target
    openblas = base / 'openblas'
    fetch_openblas(args.target, openblas)
    if not args.kernels:
        _build(
            *(ROOT / 'chainerx_cc', base / 'library', args.target),
            *('-DCHAINERX_BUILD_PYTHON=OFF', f'-DPython_EXECUTABLE={sys.executable}'),
            openblas=openblas,
        )
        return
    prefix = base / 'googletest'
    _build(GOOGLETEST, base / 'googletest-build', args.target, openblas=openblas)
    _run('cmake', '--install', base / 'googletest-build', '--prefix', prefix)
    tests = base / 'kernels'
    _build(
        *(ROOT / KERNELS, tests, args.target, '-DCHAINERX_BUILD_TEST=ON'),
        *(f'-DPython_EXECUTABLE={sys.executable}', f'-DGTest_DIR={prefix}/lib/cmake/GTest'),
        *(
            ['-DCMAKE_CROSSCOMPILING_EMULATOR=' + ';'.join(shlex.split(args.run))]
            if args.run
            else []
        ),
        openblas=openblas,
    )
    if args.run:
        _run(
            'ctest',
            '--test-dir',
            tests,
            '--output-on-failure',
            '--no-tests=error',
            '--parallel',
            '2',
        )


if __name__ == '__main__':
    main()
