"""The tests of ``any_ranks``, which run on one rank by themselves, on several."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from helpers import mpi

FOLDER = Path(__file__).with_name('any_ranks')

# Four ranks share the cores of most machines and wait busily, so they run what may depend on them.
SELECTED = [
    '(test_means_of_gradients and naive-float32 and numpy)',
    '(test_equals_one_rank and Adam and numpy)',
    '(test_equals_simulation and numpy)',
    '(test_large_gradients and float32 and numpy)',
    '(test_gradients and numpy)',
    '(test_batch_normalization and float64 and numpy)',
    '(test_scatter_dataset and 5)',
    'test_split',
    'test_chain',
    'NStepLSTM',
    'test_checkpointer_resumes',
    'copies',
    '(test_checkpoints_for_any_number_of_ranks and True and (scattered or divided-True))',
    '(test_checkpoints_for_any_number_of_ranks and divided-parameters)',
    '(test_equals_data_parallel and numpy)',
    'test_each_rank_keeps_a_part',
    '(test_bits_equal and 2 and numpy)',
    'test_backward_releases_gradients',
    '(test_own_means and (values or many))',
    '(test_int8_means and not test_digits)',
    'test_loss_scale_is_common',
    'test_snapshot',
]


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    'n, selected',
    [(2, ''), (3, 'test_int8_means and not test_digits'), (4, ' or '.join(SELECTED))],
    ids=['2', '3', '4'],
)
def test_ranks(n, selected):
    if mpi.reason_to_skip() or mpi.mpiexec() is None:
        pytest.skip(mpi.reason_to_skip() or 'needs mpiexec')
    options = '-q', '-x', '-p', 'no:cacheprovider', '-p', 'no:randomly'
    process = mpi.start_ranks(n, '-m', 'pytest', *options, '-k', selected, str(FOLDER))
    try:
        output = process.communicate(timeout=380)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError(process.communicate()[0]) from None
    assert process.returncode == 0, output
    assert output.count(' passed') == n
