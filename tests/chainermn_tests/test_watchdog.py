"""Jobs in which a rank does not come: all are told who, where and why, and nobody waits for ever."""

import re
import subprocess
import sys
import time

import pytest
from helpers import mpi

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(mpi.reason_to_skip()) or mpi.mpiexec() is None,
        reason=mpi.reason_to_skip() or 'needs mpiexec',
    ),
]

HEAD = """
import os, signal, sys, time
import numpy
import chainermn
comm = chainermn.create_communicator('naive')
x = numpy.ones(2, 'float32')
comm.allreduce(x)

def follow():
    "Does what all ranks do."
    comm.allreduce(x)
    comm.allreduce(x)
"""
UNMATCHED = 'all ranks have waited 1 seconds in calls that do not match'


def launch(tmp_path, code, n=2, limit='1'):
    """Runs a program on several ranks under the launcher."""
    script = tmp_path / 'script.py'
    script.write_text(code)
    variables = {'CHAINERMN_TIMEOUT': limit, 'OMP_NUM_THREADS': '1'}
    return subprocess.run(
        [sys.executable, '-m', 'chainermn.run', '-n', str(n), str(script)],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
        env=mpi._environment(variables),
    )


def read_records(folder):
    paths = [folder / f'chainermn_calls.{rank}.txt' for rank in range(8)]
    return [path.read_text().splitlines() for path in paths if path.exists()]


ENDS = {
    'stopped': (
        'if comm.rank == 1:\n    os.kill(os.getpid(), signal.SIGSTOP)\nfollow()',
        [r'rank 1 on \S+: stopped for .* s, at script.py', r'rank 0 on \S+: in allreduce number 3'],
    ),
    'skips': (
        'if comm.rank == 2:\n    comm.bcast_obj(1)\nfollow()',
        [UNMATCHED, r'rank 2 on \S+: in bcast_obj number 3 with rank 0 as root, at script.py:\d+ in <module>'],
    ),
    'shapes': (  # MPI itself may see this
        'comm.allreduce(numpy.ones(1 if comm.rank == 1 else 10 ** 6))',
        ['rank 1', 'allreduce|Allreduce'],
    ),
    'recv': (
        'comm.recv(1, 7) if comm.rank == 0 else follow()',
        [UNMATCHED, r'rank 0 waits in recv from rank 1, tag 7|rank 0 on \S+: in recv from rank 1'],
    ),
    'send': (
        'comm.send(numpy.zeros(10 ** 7), 1, 7) if comm.rank == 0 else follow()',
        [UNMATCHED, r'in send to rank 1, tag 7, float64 \(10000000,\)'],
    ),
    'ends': (
        'if comm.rank == 1:\n    sys.exit()\nfollow()',
        [UNMATCHED, r'rank 1 on \S+: has ended its program'],
    ),
    'lock': (  # the first call of mpi4py on objects keeps Python's lock, so no beats come
        'from mpi4py import MPI\nif comm.rank == 1:\n    os.kill(os.getpid(), signal.SIGSTOP)\n'
        'MPI.COMM_WORLD.allreduce(1)',
        [r'rank 1 on \S+: stopped for', r'rank 0 on \S+: no sign of it'],
    ),
    'gpu': (  # what NCCL leaves to a GPU, while the program waits for that
        'from chainermn._recorder import recorder\n'
        'if comm.rank == 1:\n    os.kill(os.getpid(), signal.SIGSTOP)\n'
        'recorder.is_gpu_done = lambda: False\ntime.sleep(90)',
        [r'rank 1 on \S+: stopped for', r'rank 0 on \S+: in allreduce number 2.*at script.py'],
    ),
    'end of MPI': (
        'import atexit\nif comm.rank == 1:\n'
        '    from mpi4py import MPI\n    atexit.register(os.kill, os.getpid(), signal.SIGSTOP)',
        [r'rank 1 on \S+: stopped for', r'rank 0 on \S+: has ended its program'],
    ),
    'group': (
        'pair = comm.split(comm.rank % 2, 0)\n'
        'follow() if comm.rank in (1, 3) else pair.allreduce(x) if comm.rank else pair.recv(1, 3)',
        [UNMATCHED, r'rank 2 on \S+: in allreduce number 1 of ranks 0,2', 'in recv from rank 2'],
    ),
    'update': (
        """
import chainer
import chainer.links as L
model = L.Linear(3, 2)
optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(), comm).setup(model)
for i in range(5):
    if (i, comm.rank) == (4, 1):
        comm.gather_obj(None, 1)
    optimizer.update(lambda: chainer.functions.sum(model(numpy.ones((1, 3), 'float32'))))
""",
        [UNMATCHED, r'in update number \d+', r'rank 1 on \S+: in gather_obj'],
    ),
}  # fmt: skip


@pytest.mark.parametrize('way', ENDS)
def test_job_that_cannot_go_on_ends(tmp_path, way):
    code, patterns = ENDS[way]
    start = time.monotonic()
    result = launch(tmp_path, HEAD + code, {'skips': 3, 'group': 4}.get(way, 2))
    assert result.returncode != 0 and time.monotonic() - start < 60
    for pattern in patterns:
        assert re.search(pattern, result.stderr), result.stderr
    records = read_records(tmp_path)
    if 'so all ranks end' in result.stderr:  # and MPI has not ended them
        place = f'{tmp_path}/chainermn_calls.<rank>.txt for ranks 0-{len(records) - 1}'
        assert f'the last calls of each rank are in {place}' in result.stderr
    for rank, calls in enumerate(records):
        assert calls[0].startswith(f'rank {rank} on ') and calls[-1].startswith('now ')
        if not calls[-1].startswith(
            ('now stopped', 'now no sign')
        ):  # it may have told nothing before
            assert calls[1].startswith('create_communicator number 1 (')
            assert re.fullmatch(r'allreduce number 2, float32 \(2,\) \(.* s\)', calls[2])
    if UNMATCHED in patterns:
        assert 'last calls: create_communicator number 1' in result.stderr


@pytest.mark.parametrize('what', ['pass', 'time.sleep(0.01)'])
def test_rank_outside_of_calls_may_take_long(tmp_path, what):
    """It comes at last, and the others have said where it is."""
    code = (
        'if comm.rank == 1:\n'
        '    end = time.monotonic() + 4\n'
        f'    while time.monotonic() < end:\n        {what}\n'
        "follow()\nprint('done')"
    )
    result = launch(tmp_path, HEAD + code)
    assert result.returncode == 0 and result.stdout.count('done') == 2, result.stderr
    assert re.search(
        r'rank 0 waits in allreduce number 3, float32 \(2,\), at script.py:\d+ in follow, for .* s; '
        r'not there: rank 1 on \S+: outside of calls, at script.py:1\d in <module>, for',
        result.stderr,
    ), result.stderr


def test_rank_before_its_first_communicator(tmp_path):
    wait = 'import time\nfrom mpi4py import MPI\nif MPI.COMM_WORLD.rank:\n    time.sleep(4)\n'
    result = launch(tmp_path, wait + HEAD)
    assert result.returncode == 0, result.stderr
    assert 'rank 0 waits in create_communicator number 1, at script.py' in result.stderr
    assert re.search(r'rank 1 on \S+: has made no communicator yet', result.stderr)


def test_off(tmp_path):
    code = 'import threading\ntime.sleep(comm.rank)\nfollow()\nprint(threading.active_count())'
    result = launch(tmp_path, HEAD + code, limit='0')
    assert result.returncode == 0 and 'waits' not in result.stderr, result.stderr
    assert re.findall(r'\] (\d)', result.stdout) == ['1', '1']


def test_bad_limit(tmp_path):
    result = launch(tmp_path, HEAD, limit='soon')
    assert result.returncode == 2
    assert "CHAINERMN_TIMEOUT must be a number of seconds, at least 0, not 'soon'" in result.stderr


def test_without_the_launcher():
    """A rank tells what it waits for; it does not know the others, so it ends nothing."""
    code = HEAD + 'if comm.rank == 1:\n    time.sleep(4)\nfollow()\n'
    output = mpi.run_ranks(2, code, CHAINERMN_TIMEOUT='1')
    line = (
        r'chainermn: rank 0 waits in allreduce number 3, float32 \(2,\), at <string>:\d+ in follow'
    )
    assert re.search(line, output), output
    assert 'rank 1 waits' not in output


FORKED = """
import multiprocessing, warnings
import chainermn._recorder
warnings.simplefilter('ignore')

def work(queue):
    import threading
    time.sleep(0.2)
    queue.put((threading.active_count(), chainermn._recorder.recorder.count))

def fork():
    context = multiprocessing.get_context('fork')
    queue = context.Queue()
    processes = [context.Process(target=work, args=(queue,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        print(process.exitcode, queue.get())

fork()
follow()
"""


def test_forked_processes(tmp_path):
    """They have no watchdog, and do not hold up that of their parent."""
    result = launch(tmp_path, HEAD + FORKED)
    assert result.returncode == 0, result.stderr
    found = re.findall(r'\] (\d+) \((\d+), (\d+)\)', result.stdout)
    assert [(status, count) for status, _, count in found] == [('0', '2')] * 6, result.stdout
    assert {n for _, n, _ in found} <= {'1', '2'}  # the other one is the queue's
