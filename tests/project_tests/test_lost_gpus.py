"""A process of pytest ends with the first test that loses the GPU, and other tests still run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import lost_gpus

pytestmark = pytest.mark.slow

_TESTS = Path(__file__).resolve().parents[1]
_PROGRAM = """
import pytest

@pytest.mark.parametrize('i', range(8))
def test(i):
    if i == 2:
        raise RuntimeError('CUDA error in add: cudaErrorIllegalAddress')
    if i == 5:
        raise RuntimeError('CUDA error in add: cudaErrorMemoryAllocation')
"""


def _run(folder, *options):
    (folder / 'test_program.py').write_text(_PROGRAM)
    environment = {k: v for k, v in os.environ.items() if not k.startswith('PYTEST_')}
    environment['PYTHONPATH'] = os.pathsep.join([str(_TESTS), *filter(None, sys.path)])
    done = subprocess.run(
        [
            *(sys.executable, '-m', 'pytest', '-q', '-p', 'helpers.lost_gpus'),
            *('-p', 'no:cacheprovider', *options, folder),
        ],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
    )
    return done.returncode, done.stdout + done.stderr


def test_one_process(tmp_path):
    status, output = _run(tmp_path, '-p', 'no:xdist')
    assert status == 3
    assert 'test[2] has lost the GPU' in output and '2 passed' in output


def test_workers(tmp_path):
    pytest.importorskip('xdist')
    status, output = _run(tmp_path, '-n', '1')
    assert status == 1
    assert 'test[2] has lost the GPU' in output and 'cudaErrorIllegalAddress' in output
    assert '2 failed, 6 passed' in output


def test_is_part_of_the_tests(request):
    hooks = request.config.hook.pytest_runtest_makereport.get_hookimpls()
    assert lost_gpus.pytest_runtest_makereport in [hook.function for hook in hooks]
