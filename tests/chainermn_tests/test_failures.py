"""One rank fails, and all end; mismatched calls are errors in the debug mode."""

import re
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
