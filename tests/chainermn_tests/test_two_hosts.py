"""Ranks on two hosts: namespaces of this machine, which only a network connects."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import mpi

TOOL = Path(__file__).resolve().parents[2] / 'tools' / 'two_hosts.py'
UNAVAILABLE = 77


def reason_to_skip():
    if sys.platform != 'linux':
        return 'namespaces are of Linux'
    if mpi.reason_to_skip() or mpi.mpiexec() is None:
        return mpi.reason_to_skip() or 'needs mpiexec'
    version = subprocess.run([mpi.mpiexec(), '--version'], capture_output=True, text=True).stdout
    if 'HYDRA' not in version:
        return 'mpiexec is not that of MPICH, which takes a stand-in for ssh'
    result = subprocess.run([sys.executable, TOOL], capture_output=True, text=True)
    return result.stderr.strip() if result.returncode == UNAVAILABLE else None


pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope='module', autouse=True)
def _hosts():
    if reason := reason_to_skip():
        pytest.skip(reason)


def start(*command):
    return subprocess.Popen(
        [sys.executable, TOOL, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=mpi._environment({'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}),
    )


def end(process, seconds=140):
    """Waits for a process and what it started; returns what they printed."""
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError(f'hangs; it printed\n{process.communicate()[0]}') from None


def launch(tmp_path, code):
    script = tmp_path / 'script.py'
    script.write_text(code)
    launcher = sys.executable, '-m', 'chainermn.run', '-n', '2', '--hosts', 'left,right'
    return start(*launcher, str(script))


TRAINING = """
import hashlib
import numpy
import chainer, chainermn
import chainer.links as L

def sent_by_eth0():
    for line in open('/proc/net/dev'):
        name, _, values = line.partition(':')
        if name.strip() == 'eth0':
            return int(values.split()[8])

comm = chainermn.create_communicator('naive')
numpy.random.seed(comm.rank)
optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
model = L.Classifier(L.Linear(20000, 10))
optimizer.setup(model)
x, t = numpy.random.rand(2, 20000).astype('f'), numpy.array([0, 1], 'i')
before = sent_by_eth0()
for _ in range(4):
    optimizer.update(model, x, t)
sent = sent_by_eth0() - before
digest = hashlib.sha256(b''.join(p.array.tobytes() for p in model.params())).hexdigest()
digests = comm.allgather_obj(digest)
print('rank', comm.rank, comm.inter_rank, comm.inter_size, comm.intra_size, len(set(digests)), sent)
"""


def test_training(tmp_path):
    process = launch(tmp_path, TRAINING)
    output = end(process)
    assert process.returncode == 0, output
    lines = dict(re.findall(r'^\[[01]\] rank (\d \d) (2 1 1 \d+)$', output, re.M))
    assert set(lines) == {'0 0', '1 1'}, output
    # Each rank sends its half of the parameters and the other half of its gradients three times.
    assert all([int(line.split()[-1]) > 3 * 20000 * 10 * 4 for line in lines.values()]), output


def test_failure_on_the_other_host_ends_all(tmp_path):
    process = launch(
        tmp_path,
        'import chainermn\n'
        'comm = chainermn.create_communicator("naive")\n'
        'if comm.rank:\n    raise KeyError("the reason")\n'
        'comm.allreduce_obj(1)\n',
    )
    output = end(process)
    assert process.returncode not in (0, UNAVAILABLE)
    assert 'rank 1 failed' in output and "KeyError: 'the reason'" in output


def test_pairs_do_not_meet_and_nothing_stays():
    """Two pairs at once, one of which is killed."""
    where = 'ip -brief address show dev eth0 && hostname && readlink /proc/self/ns/net'
    pairs = [start('sh', '-c', f'{where}; sleep {seconds}') for seconds in (100, 0)]
    outputs = [pair.stdout.readline() + pair.stdout.readline() for pair in pairs]
    spaces = [pair.stdout.readline() for pair in pairs]
    assert all(['10.0.0.1' in text and 'left\n' in text for text in outputs]), outputs
    assert len({*spaces, os.readlink('/proc/self/ns/net') + '\n'}) == 3
    os.killpg(pairs[0].pid, signal.SIGKILL)
    for pair in pairs:
        end(pair, 60)
    numbers = {re.findall(r'\d+', space)[0] for space in spaces}
    deadline = time.monotonic() + 10
    while numbers & spaces_of_the_machine():
        assert time.monotonic() < deadline, numbers
        time.sleep(0.02)


def spaces_of_the_machine():
    """Numbers of the network namespaces that there are."""
    command = 'lsns', '--type', 'net', '--noheadings', '--output', 'NS'
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_folder_and_exit_status():
    process = start('sh', '-c', 'pwd; exit 3')
    assert end(process).strip() == os.getcwd() and process.returncode == 3
