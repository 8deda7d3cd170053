"""The examples learn, on two ranks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import mpi

FOLDER = Path(__file__).resolve().parents[2] / 'examples' / 'chainermn'

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(mpi.reason_to_skip()) or mpi.mpiexec() is None,
        reason=mpi.reason_to_skip() or 'needs mpiexec',
    ),
]


def run(tmp_path, script, *options):
    """Returns the entries of the log and what the script prints."""
    command = [sys.executable, '-m', 'chainermn.run', '-n', '2', str(FOLDER / script), *options]
    result = subprocess.run(
        [*command, '-o', str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=100,
        env=mpi._environment({}),
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads((tmp_path / 'log').read_text()), result.stdout


def test_data_parallel(tmp_path):
    options = '--dtype', 'bfloat16', '--sharded'
    log, _ = run(tmp_path, 'train_mnist.py', '-e', '5', *options)
    assert len(log) == 5 and log[-1]['validation/main/accuracy'] > 0.7
    # Started again, it goes on.
    log, printed = run(tmp_path, 'train_mnist.py', '-e', '7', *options)
    assert [entry['epoch'] for entry in log] == [1, 2, 3, 4, 5, 6, 7]
    assert log[-1]['validation/main/accuracy'] > 0.75
    assert '[0]' in printed and '[1]' not in printed


def test_model_parallel(tmp_path):
    log, _ = run(tmp_path, 'train_mnist_model_parallel.py', '-e', '8')
    assert log[-1]['main/accuracy'] > 0.85
