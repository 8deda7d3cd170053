"""The C++ example builds against an installed ChainerX, outside the tree, and learns."""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / 'build' / 'chainerx'


def _program(name):
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)


@pytest.mark.chainerx
@pytest.mark.skipif(not (BUILD / 'cmake_install.cmake').exists() or not _program('cmake'),
                    reason='needs CMake and the build folder of ChainerX')
def test_example(tmp_path):
    def run(*command):
        result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    cmake = _program('cmake')
    run(cmake, '--install', BUILD, '--component', 'cpp', '--prefix', tmp_path / 'prefix')
    run(cmake, '-S', ROOT / 'chainerx_cc' / 'examples' / 'mnist', '-B', tmp_path / 'build',
        '-DCMAKE_PREFIX_PATH=%s' % (tmp_path / 'prefix'))
    run(cmake, '--build', tmp_path / 'build')
    program = tmp_path / 'build' / 'train_mnist'
    lines = run(program, ROOT / 'chainer' / 'datasets' / '_digits' / 'digits.bin').splitlines()
    assert len(lines) == 21
    assert float(lines[-1].split()[-1]) >= 0.96

    missing = subprocess.run([program, tmp_path / 'missing'], capture_output=True, text=True)
    assert missing.returncode == 1
    assert 'missing' in missing.stderr
