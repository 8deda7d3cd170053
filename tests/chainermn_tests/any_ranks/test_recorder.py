"""The flight recorder: what it notes of calls, and that it keeps nothing else."""

import gc
import inspect
import json
import os
import threading
import weakref

import numpy
import pytest

import chainer.functions as F
import chainer.links as L
import chainermn
from chainer import optimizers
from chainermn import _recorder, _watchdog
from chainermn._recorder import recorder
from chainermn._tcp.comm import Comm
from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase

WATCHED = [
    *('split', 'finalize', 'send', 'recv', 'bcast', 'gather', 'allgather', 'alltoall', 'scatter'),
    *('allreduce', 'send_obj', 'recv_obj', 'bcast_obj', 'gather_obj', 'allgather_obj'),
    *('allreduce_obj', 'bcast_data', 'multi_node_mean_grad'),
]


@pytest.mark.parametrize('name', WATCHED)
def test_signatures(name):
    method = getattr(MpiCommunicatorBase, name)
    assert method.__qualname__ == f'MpiCommunicatorBase.{name}'
    assert method.__module__ == MpiCommunicatorBase.__module__
    assert inspect.signature(method) == inspect.signature(method.__wrapped__)


def test_calls(comm):
    x = numpy.ones((2, 3), 'float16')
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.allreduce(x)
    comm.bcast(x, root=comm.size - 1)
    comm.allgather_obj('text')
    if comm.size > 1:
        calls = [lambda: comm.send((x, x), right, tag=3), lambda: comm.recv(left, 3)]
        for call in calls if comm.rank else reversed(calls):
            call()
    texts = [str(call) for call in recorder.last]
    first = comm.calls.count - 2
    assert f'allreduce number {first}, float16 (2, 3)' in texts
    assert f'bcast number {first + 1} with rank {comm.size - 1} as root, float16 (2, 3)' in texts
    assert f'allgather_obj number {first + 2}' in texts
    if comm.size > 1:
        assert f'send to rank {right}, tag 3, float16 (2, 3)' in texts
        assert f'recv from rank {left}, tag 3' in texts
    assert all([call.seconds >= 0 for call in recorder.last])
    assert not any(recorder.inside.values())


#: Calls of mpi4py on objects: the first one of a communicator keeps Python's lock while it waits.
OBJECT_CALLS = 'bcast', 'gather', 'scatter', 'allgather', 'alltoall', 'reduce', 'allreduce'


@pytest.fixture
def strict_world(world):
    """Communicator of MPI, and maker of others, that refuses these calls."""
    if type(world) is Comm:
        pytest.skip('TCP has none of them')
    from mpi4py import MPI

    def refuse(*args):
        raise AssertionError('the watchdog would stand still')

    return type('Strict', (MPI.Intracomm,), dict.fromkeys(OBJECT_CALLS, refuse))(world)


def make_collective_calls(comm):
    x = numpy.ones(3, 'float32')
    comm.bcast(x)
    comm.gather(x)
    comm.allgather(x)
    comm.scatter(comm.alltoall([x] * comm.size))
    comm.allreduce(x)
    comm.bcast_obj('text')
    comm.gather_obj('text')
    comm.allgather_obj('text')
    comm.allreduce_obj(1)
    comm.split(0, comm.rank).finalize()


@pytest.mark.parametrize('name', ['naive', 'flat', 'non_cuda_aware', 'pure_nccl'])
def test_calls_let_the_watchdog_run(strict_world, name):
    comm = chainermn.create_communicator(name, strict_world)
    make_collective_calls(comm)
    assert type(comm.reducer.channel.mpi_comm) is type(strict_world)
    comm.finalize()


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'zero_fill': True, 'bucket_bytes': 1},
        {'sharded': True},
        {'sharded': 'gradients'},
        {'sharded': 'parameters'},
    ],
    ids=str,
)
def test_updates_let_the_watchdog_run(strict_world, options):
    comm = chainermn.create_communicator('naive', strict_world)
    model = L.Linear(300, 300)  # large enough for memory that the ranks share
    optimizer = chainermn.create_multi_node_optimizer(optimizers.Adam(), comm, **options)
    optimizer.setup(model)
    for _ in range(3):
        optimizer.update(lambda: F.sum(model(numpy.ones((2, 300), 'float32'))))
    comm.finalize()


def test_calls_within_calls_and_errors(comm):
    count = recorder.count
    with comm.calls.watching('update'):
        comm.allreduce_obj(1)
    assert recorder.count == count + 1
    with pytest.raises(TypeError, match='allreduce'):
        comm.allreduce('text')
    with pytest.raises(ValueError, match='root'):
        comm.bcast(None, comm.size)
    assert recorder.count == count + 3 and not any(recorder.inside.values())
    assert 'bcast' in str(recorder.last[-1])


def test_keeps_no_arrays(comm):
    array = numpy.ones(3)
    reference = weakref.ref(array)
    comm.bcast_obj(array)
    comm.allreduce(array)
    comm.alltoall([array] * comm.size)
    del array
    gc.collect()
    assert reference() is None
    for _ in range(100):
        comm.allreduce(numpy.ones(1))
    assert len(recorder.last) == 64


def test_communicators_have_the_same_name_on_their_ranks(comm):
    half = comm.split(comm.rank % 2, -comm.rank)
    again = comm.split(comm.rank % 2, -comm.rank)
    names = comm.allgather_obj((comm.rank % 2, half.calls.name, again.calls.name))
    for color in 0, 1:
        assert len({name for name in names if name[0] == color}) <= 1
    assert half.calls.name != again.calls.name
    assert half.calls.world_rank(half.rank) == comm.rank
    assert half.calls.is_world == (comm.size == 1)
    for each in half, again:
        each.finalize()


@pytest.mark.parametrize(
    'ranks, text',
    [([], ''), ([3], '3'), ([0, 1, 2], '0-2'), ([5, 1, 0, 7, 6], '0-1,5-7'), ([2, 0], '0,2')],
)
def test_describe_ranks(ranks, text):
    assert _recorder.describe_ranks(ranks) == text


@pytest.fixture
def beats():
    """A watchdog without a thread, and what reads its beats."""
    read, write = os.pipe()
    watchdog = _watchdog._Watchdog(0, 2, 0.001, write)

    def look():
        watchdog._look()
        return json.loads(os.read(read, 4096))

    yield look
    os.close(read)
    os.close(write)


def test_beats(comm, beats):
    outside = beats()
    assert outside['call'] is None and 'test_recorder.py' in outside['line']
    with comm.calls.watching('a' * 1000):
        inside = beats()
        with recorder.busy():
            assert beats()['may_go_on']
    assert inside['call']['size'] == comm.size and len(inside['call']['text']) < 200
    assert inside['progress'] != outside['progress'] != beats()['progress']


def test_beats_of_several_threads(comm, beats, monkeypatch):
    """Another thread may be outside of calls, where nobody sees it."""
    monkeypatch.setattr(recorder, 'inside', {})
    assert not beats()['may_go_on']

    def call():
        with comm.calls.watching('call'):
            pass

    for _ in range(2):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        call()
    assert beats()['may_go_on']


def test_beats_are_short(comm, beats):
    for i in range(64):
        with comm.calls.watching(f'{i} ' + 'é' * 1000):
            pass
    beats()
    for _ in range(100):
        beat = beats()
    assert beat['last'] and len(json.dumps(beat)) < 3600


def test_beats_when_nobody_reads(beats):
    """The pipe gets full, or is closed: the program goes on."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    watchdog = _watchdog._Watchdog(0, 2, 60, write)
    for _ in range(1000):
        watchdog._look()
    os.close(read)
    watchdog._look()
    assert watchdog._pipe is None
    os.close(write)


def test_pipe_of_another_process(monkeypatch):
    for text in '', '0', 'x:y', '987654:1', '0:1':
        monkeypatch.setenv('CHAINERMN_BEATS', text)
        assert _watchdog._open_pipe() is None
    read, write = os.pipe()
    monkeypatch.setenv('CHAINERMN_BEATS', f'{write}:{os.fstat(write).st_ino}')
    assert _watchdog._open_pipe() == write
    os.close(read)
    os.close(write)


def test_communicator_of_one_rank_starts_nothing():
    if chainermn.create_communicator('naive').size == 1:
        names = [thread.name for thread in threading.enumerate()]
        assert 'chainermn watchdog' not in names
