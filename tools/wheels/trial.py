"""Tries a wheel in a new virtual environment: ``python tools/wheels/trial.py WHEEL``."""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / 'chainerx_cc' / 'examples'
DIGITS = ROOT / 'chainer' / 'datasets' / '_digits' / 'digits.bin'


def _clean_environment():
    """Returns the environment variables without those that could bring in the sources."""
    names = ('PYTHONPATH', 'PYTHONHOME', 'VIRTUAL_ENV', 'LD_LIBRARY_PATH', 'CMAKE_PREFIX_PATH')
    return {name: value for name, value in os.environ.items() if name not in names}


def _run(*command, cwd, capture=False):
    print('+', shlex.join(map(str, command)), flush=True)
    result = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=_clean_environment(),
        stdout=subprocess.PIPE if capture else None,
        check=True,
        text=True,
    )
    return result.stdout and result.stdout.strip()


def training_command():
    """Returns what the README's command runs after the installation, without the interpreter."""
    command = subprocess.check_output(
        [sys.executable, str(ROOT / 'tools' / 'readme_command.py'), 'train'], text=True
    )
    program, *arguments = shlex.split(command.split('&&')[-1])
    assert program == 'python', command
    return [ROOT / arguments[0], *arguments[1:]]


def try_training(python, folder):
    """Runs the README's training command with an interpreter that has the wheel."""
    where = _run(
        python, '-c', 'import chainerx; print(chainerx.__file__)', cwd=folder, capture=True
    )
    assert 'site-packages' in where, where
    _run(python, '-c', 'import chainer; chainer.print_runtime_info()', cwd=folder)
    _run(python, *training_command(), cwd=folder)
    log = json.loads((folder / 'result' / 'log').read_text())
    accuracy = log[-1]['validation/main/accuracy']
    assert accuracy > 0.9, accuracy
    print(f'accuracy {accuracy:.3f}')


def try_cmake(python, folder):
    """Builds and runs a C++ program that finds the library in the wheel."""
    code = 'import chainerx; print(chainerx.get_cmake_dir())'
    cmake_dir = _run(python, '-c', code, cwd=folder, capture=True)
    build = folder / 'cpp'
    _run('cmake', '-S', EXAMPLES / 'mnist', '-B', build, f'-DChainerX_DIR={cmake_dir}', cwd=folder)
    _run('cmake', '--build', build, cwd=folder)
    lines = _run(build / 'train_mnist', DIGITS, cwd=folder, capture=True).splitlines()
    assert float(lines[-1].split()[-1]) > 0.96, lines[-1]
    # Of a module's errors, this one passes through both libraries.
    failed = subprocess.run(
        [build / 'train_mnist', folder / 'missing'], capture_output=True, text=True
    )
    assert failed.returncode == 1 and 'missing' in failed.stderr, failed


def try_wheel(wheel, python, folder, requirements=()):
    """Installs a wheel in a new virtual environment and tries it there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _run(python, '-m', 'venv', folder / 'env', cwd=folder)
    new_python = folder / 'env' / 'bin' / 'python'
    _run(new_python, '-m', 'pip', 'install', '--quiet', *requirements, f'{wheel}[plot]', cwd=folder)
    try_training(new_python, folder)
    if shutil.which('cmake'):
        try_cmake(new_python, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('wheel', type=Path)
    parser.add_argument(
        '--python', default=sys.executable, help='interpreter; this one unless given'
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try_wheel(args.wheel.resolve(), args.python, Path(folder))


if __name__ == '__main__':
    main()
