"""Ranks on two hosts: namespaces of this machine, which only a network connects."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import mpi

TOOL = Path(__file__).resolve().parents[2] / 'tools' / 'two_hosts.py'
OVER_TCP = '--transport', 'tcp', '--ssh', shlex.join([sys.executable, str(TOOL)])
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


def launch(tmp_path, code, *options, ranks=2):
    script = tmp_path / 'script.py'
    script.write_text(code)
    launcher = sys.executable, '-m', 'chainermn.run', '-n', str(ranks), '--hosts', 'left,right'
    return start(*launcher, *options, str(script))


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
optimizer.update(model, x, t)
comm.mpi_comm.Barrier()
before = sent_by_eth0()
for _ in range(4):
    optimizer.update(model, x, t)
comm.mpi_comm.Barrier()
sent = sent_by_eth0() - before
digest = hashlib.sha256(b''.join(p.array.tobytes() for p in model.params())).hexdigest()
n_digests = len(set(comm.allgather_obj(digest)))
print('rank', comm.rank, comm.inter_rank, comm.inter_size, comm.intra_size, n_digests, sent)
"""


@pytest.mark.parametrize('ranks', [2, 4])
def test_training(tmp_path, ranks):
    process = launch(tmp_path, TRAINING, ranks=ranks)
    output = end(process)
    assert process.returncode == 0, output
    lines = re.findall(r'^\[(\d)\] rank (\d) (\d) 2 (\d) 1 (\d+)$', output, re.M)
    on_host = ranks // 2
    expected = [(f'{i}', f'{i}', f'{i // on_host}', f'{on_host}') for i in range(ranks)]
    assert sorted([line[:4] for line in lines]) == expected, output
    # Each host sends half of the gradients and half of the means, however many ranks it has.
    size = 4 * (20000 * 10 + 10) * 4
    assert all([size < int(line[4]) < 1.5 * size for line in lines]), output


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


ENDLESS = """
import os, time
import numpy
import chainermn
comm = chainermn.create_communicator('naive')
os.write(1, f'rank {comm.rank} {os.getpid()}\\n'.encode())
while True:
    comm.allreduce(numpy.ones(2, 'float32'))
"""


def start_endless(tmp_path, *options):
    """Starts a job; returns it and the processes of its ranks."""
    job = launch(tmp_path, ENDLESS, *options)
    pids = {}
    while len(pids) < 2:
        line = job.stdout.readline()
        assert line
        if match := re.search(r'rank (\d) (\d+)', line):
            pids[int(match[1])] = int(match[2])
    return job, pids


def ancestors(pid):
    found = []
    while pid > 1:
        pid = int(Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[1])
        found.append(pid)
    return found


def wait_for_end(pids, seconds):
    limit = time.monotonic() + seconds
    while left := [pid for pid in pids if _is_there(pid)]:
        assert time.monotonic() < limit, left
        time.sleep(0.05)


def _is_there(pid):
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] not in 'XZ'
    except FileNotFoundError:
        return False


def command_of(pid):
    return Path(f'/proc/{pid}/cmdline').read_text()


def cut(pid):
    """Cuts the link between the hosts."""
    variables = Path(f'/proc/{pid}/environ').read_text()
    left = re.search(r'TWO_HOSTS=left=(\d+)', variables)[1]
    subprocess.run(
        ['nsenter', '-t', left, '--net', 'ip', 'link', 'set', 'eth0', 'down'], check=True
    )


@pytest.mark.parametrize('options', [(), OVER_TCP], ids=['mpi', 'tcp'])
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_signal_ends_all(tmp_path, number, options):
    job, pids = start_endless(tmp_path, *options)
    above = [pid for rank in pids.values() for pid in ancestors(rank)]
    started = above[: above.index(job.pid)] + list(pids.values())
    job.send_signal(number)
    end(job)
    assert job.returncode == (128 + number if number != signal.SIGKILL else -9)
    wait_for_end(started, 30)


def test_cut_link_ends_all(tmp_path):
    job, pids = start_endless(tmp_path)
    cut(pids[0])
    output = end(job)
    assert job.returncode not in (0, UNAVAILABLE)
    assert 'rank 1 on right is lost' in output
    wait_for_end(pids.values(), 30)


def test_other_host_ends_by_itself_after_a_cut_link(tmp_path):
    """Rank and proxy of a host that the launcher, which is stopped, cannot reach."""
    job, pids = start_endless(tmp_path)
    launcher = next(pid for pid in ancestors(pids[1]) if 'chainermn.run' in command_of(pid))
    started = ancestors(pids[1])
    proxy = next(pid for pid in started if 'hydra_pmi_proxy' in command_of(pid).partition('\0')[0])
    os.kill(launcher, signal.SIGSTOP)
    try:
        cut(pids[0])
        wait_for_end([pids[1], *started[: started.index(proxy) + 1]], 60)
        assert _is_there(pids[0])
    finally:
        os.kill(launcher, signal.SIGCONT)
        job.terminate()
        end(job)
    wait_for_end(pids.values(), 30)


def test_folder_and_exit_status():
    process = start('sh', '-c', 'pwd; exit 3')
    assert end(process).strip() == os.getcwd() and process.returncode == 3
