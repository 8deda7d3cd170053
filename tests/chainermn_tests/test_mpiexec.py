"""The tests of ``any_ranks``, which run on one rank by themselves, on several."""

import re
import subprocess
from pathlib import Path

import pytest
from helpers import mpi

FOLDER = Path(__file__).with_name('any_ranks')


@pytest.mark.slow
@pytest.mark.parametrize('n', [2, 4])
def test_ranks(n):
    if mpi.reason_to_skip() or mpi.mpiexec() is None:
        pytest.skip(mpi.reason_to_skip() or 'needs mpiexec')
    options = '-q', '-x', '-p', 'no:cacheprovider', '-p', 'no:randomly'
    process = mpi.start_ranks(n, '-m', 'pytest', *options, str(FOLDER))
    try:
        output = process.communicate(timeout=110)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(process.communicate()[0]) from None
    assert process.returncode == 0, output
    assert len(re.findall(r'\d+ passed', output)) == n
