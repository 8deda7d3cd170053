"""One rank fails, and all end; mismatched calls are errors in the debug mode."""

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
import os, sys, time
import numpy
import chainermn
comm = chainermn.create_communicator('naive')
x = numpy.ones(2, 'float32')
comm.allreduce(x)
os.write(1, f'begin {time.time()}\\n'.encode())
"""


def run_failing(code, **variables):
    """Runs a program on two ranks that fails, and checks that it ends soon."""
    start = time.time()
    output = mpi.run_ranks(2, HEAD + code, status=None, **variables)
    begin = max(map(float, re.findall(r'begin ([0-9]+\.[0-9]+)', output)))
    assert start < begin and time.time() - begin < 5 + 5, output  # the tests may share the cores
    return output


@pytest.mark.parametrize('call', ['allreduce(x)', 'recv(1, 0)', 'bcast_obj(None, root=1)'])
def test_exception_ends_all_ranks(call):
    output = run_failing(f"""
if comm.rank == 1:
    raise KeyError('the reason')
comm.{call}
""")
    assert 'rank 1 failed' in output and "KeyError: 'the reason'" in output
    assert 'Traceback' in output


def test_hook_that_collects_what_others_print():
    output = run_failing("""
def collect(*error, previous=sys.excepthook):  # as torch.distributed does
    import contextlib, io
    with contextlib.redirect_stderr(io.StringIO()):
        previous(*error)
sys.excepthook = collect
if comm.rank == 1:
    raise KeyError('the reason')
comm.allreduce(x)
""")
    assert 'rank 1 failed' in output and "KeyError: 'the reason'" in output


def test_killed_rank_ends_all_ranks():
    run_failing("""
if comm.rank == 1:
    os.kill(os.getpid(), 9)
comm.allreduce(x)
""")


def test_way_out():
    code = HEAD + 'print(type(sys.excepthook).__name__)\ncomm.mpi_comm.Barrier()'
    assert '_Hook' in mpi.run_ranks(2, code)
    assert '_Hook' not in mpi.run_ranks(2, code, CHAINERMN_FORCE_ABORT_ON_EXCEPTION='0')
    alone = 'import sys, chainermn; print(type(sys.excepthook).__name__)'
    assert '_Hook' not in mpi.run_ranks(1, alone)
    assert '_Hook' in mpi.run_ranks(1, alone, CHAINERMN_FORCE_ABORT_ON_EXCEPTION='yes')


@pytest.mark.parametrize(
    'calls, messages',
    [
        (
            ['comm.allreduce(x)', 'comm.allreduce(x[:1])'],
            ["rank 0: allreduce((2,), 'float32')", "rank 1: allreduce((1,), 'float32')"],
        ),
        (['comm.bcast(x, 0)', 'comm.gather(x, 0)'], ['rank 0: bcast(0,)', 'rank 1: gather(0,)']),
        (['comm.bcast(x, 0)', 'comm.bcast(x, 1)'], ['rank 0: bcast(0,)', 'rank 1: bcast(1,)']),
        (['comm.allgather(x)', 'time.sleep(9)'], ['rank 0 waited 1 seconds', 'allgather']),
        (['comm.recv(1, 3)', 'time.sleep(9)'], ['rank 0 waited 1 seconds', 'recv from rank 1, tag 3']),
    ],
)  # fmt: skip
def test_debug_mode(calls, messages):
    output = run_failing(
        f'if comm.rank == 0:\n    {calls[0]}\nelse:\n    {calls[1]}\n',
        CHAINERMN_DEBUG='1',
        CHAINERMN_TIMEOUT='1',
    )
    for message in ['RuntimeError', *messages]:
        assert message in output


KILLED = """
import hashlib, os, random, signal, sys, threading
import numpy
import chainer, chainermn
import chainer.links as L
from chainer import training
from chainermn._checkpoints import files

comm = chainermn.create_communicator('naive')
numpy.random.seed(0)
layers = L.Linear(64, 30), chainer.functions.dropout, L.Linear(30, 10)
optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm)
optimizer.setup(L.Classifier(chainer.Sequential(*layers)))
part = chainermn.scatter_dataset(chainer.datasets.get_digits()[0], comm, shuffle=True, seed=0)
iterator = chainer.iterators.MultithreadIterator(part, 20)
updater = training.StandardUpdater(iterator, optimizer)
trainer = training.Trainer(updater, (40, 'iteration'), out=sys.argv[1])
checkpointer = chainermn.create_multi_node_checkpointer('run', comm, 2, 2)
trainer.extend(checkpointer, trigger=(1, 'iteration'))
complete = files.find(sys.argv[1], 'run')
for checkpoint in complete:  # nothing is half
    for file in files.read_manifest(sys.argv[1], checkpoint):
        files.read_bytes(sys.argv[1], file)
comm.mpi_comm.Barrier()
checkpointer.maybe_load(trainer)
assert updater.iteration == (complete[-1].iteration if complete else 0)
if comm.rank == 0:
    print('from', updater.iteration)
n_kills, restart = int(sys.argv[2]), int(os.environ['CHAINERMN_RESTART'])
if restart < n_kills and comm.rank == restart % 2:
    generator = random.Random(int(sys.argv[3]) + restart)
    if restart == 0:  # at a moment in the course of an iteration
        moment = generator.uniform(0.05, 0.3)
        threading.Timer(moment, os.kill, (os.getpid(), signal.SIGKILL)).start()
    else:  # while a checkpoint is being written
        n_more, write_part = generator.randint(1, 4), files.write_part
        def killing(*args):
            global n_more
            n_more -= 1
            if n_more == 0:
                moment = generator.uniform(0, 0.02)
                threading.Timer(moment, os.kill, (os.getpid(), signal.SIGKILL)).start()
            return write_part(*args)
        files.write_part = killing
trainer.run()
if comm.rank == 0:
    values = [param.array.tobytes() for _, param in sorted(optimizer.target.namedparams())]
    print('digest', hashlib.sha256(b''.join(values)).hexdigest())
    print('t', optimizer.t)
"""


@pytest.mark.timeout(600)
def test_killed_training_goes_on_to_the_bit(tmp_path):
    script = tmp_path / 'script.py'
    script.write_text(KILLED)
    digests = []
    for n_kills in 0, 4:
        process = subprocess.run(
            [sys.executable, '-m', 'chainermn.run', '-n', '2', '--restarts', str(n_kills)]
            + [str(script), str(tmp_path / str(n_kills)), str(n_kills), str(time.time_ns())],
            capture_output=True,
            text=True,
            timeout=280,
            env=mpi._environment({}),
        )
        assert process.returncode == 0, process.stdout + process.stderr
        assert re.search(r't 39$', process.stdout, re.M), process.stdout
        digests += re.findall('digest (.*)', process.stdout)
    assert digests[0] == digests[1]
    begins = [int(n) for n in re.findall('from ([0-9]+)', process.stdout)]
    assert len(begins) == 5 and begins == sorted(begins), process.stdout + process.stderr
