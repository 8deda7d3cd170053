"""Modules of tests can be imported where ChainerX is not built, as after ``pip install .``."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
IMPORT = """
import importlib, pathlib, sys, warnings

sys.modules['chainerx._core'] = None
warnings.simplefilter('ignore')
import chainerx, pytest

assert not chainerx.is_available()
sys.path.insert(0, 'tests')
for path in sorted(pathlib.Path('tests/chainer_tests').rglob('test_*.py')):
    if 'chainerx' in path.read_text('utf-8'):
        try:
            importlib.import_module('.'.join(path.with_suffix('').parts))
        except pytest.skip.Exception:
            pass
"""


@pytest.mark.slow
def test_modules_import():
    command = [sys.executable, '-c', IMPORT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
