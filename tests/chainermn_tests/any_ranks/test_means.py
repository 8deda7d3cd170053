"""Means of gradients without a communicator, and with transports of other code."""

import gc
import weakref

import numpy
import pytest

import chainer
import chainermn
from chainermn import means
from chainermn.means import shared_memory

SHAPES = [(), (0, 2), (3,), (300, 300), (7,), (2, 4)]


def make_params(rank, dtype='float32'):
    rng = numpy.random.RandomState(rank)
    params = [chainer.Parameter(numpy.zeros(shape, dtype)) for shape in SHAPES]
    for param in params:
        param.grad = numpy.asarray(rng.uniform(-1, 1, param.shape), dtype)
    return params


def assert_means(params, size, tolerance=1e-6):
    grads = zip(*[[p.grad for p in make_params(i)] for i in range(size)])
    for param, expected in zip(params, grads):
        expected = numpy.mean([g.astype('float64') for g in expected], axis=0)
        numpy.testing.assert_allclose(param.grad, expected, tolerance, tolerance)


@pytest.mark.parametrize('dtype', [None, 'float16', 'float64'])
@pytest.mark.parametrize('bucket_bytes', [None, 0, 40])
@pytest.mark.parametrize('shares', [True, False])
def test_reducer(world, make_channel, shares, bucket_bytes, dtype):
    channel = make_channel(shares and world.size > 1)
    reducer = means.Reducer(channel, means.OverHost(channel), bucket_bytes)
    reducer.dtype = dtype
    params = make_params(world.rank)
    for _ in range(2):
        for param, new in zip(params, make_params(world.rank)):
            param.grad = new.grad
        reducer.average(params)
        if world.size > 1:
            assert_means(params, world.size, 2e-3 if dtype == 'float16' else 1e-6)
    reducer.close()


@pytest.mark.parametrize('hosts', [[[0, 1], [2, 3]], [[3, 0], [1, 2]]])
@pytest.mark.parametrize('dtype', [None, 'float64', 'bfloat16', 'int8'])
@pytest.mark.parametrize('shares', [True, False])
def test_several_ranks_on_each_host(world, make_channel, monkeypatch, shares, dtype, hosts):
    """All ranks get the same bits, which are those of means of which each keeps its part."""
    if world.size != 4:
        pytest.skip('needs two hosts of two ranks')
    channel = make_channel(False, hosts)
    reducer = means.Reducer(channel, means.OverHost(channel), 40)
    reducer.dtype = dtype
    if not shares:
        monkeypatch.setattr(shared_memory, 'make_rows', lambda *args: None)
    if dtype != 'int8':
        monkeypatch.setattr(channel, 'exchange', None)  # not between all ranks at once
    for _ in range(2):
        params = make_params(world.rank)
        # Several at once, which may go on at different times on different ranks.
        groups = reducer.divide_groups([params[3:], params[:3]])
        is_shared = shares and dtype in (None, 'float64')
        assert all(bool(bucket.rows) == is_shared for group in groups for bucket in group)
        pending = [mean for group in groups for mean in reducer.start(group)]
        for i, mean in enumerate(pending):
            if i % 3 != world.rank:
                mean.test()
        for mean in pending:
            mean.wait()
        assert_means(params, world.size, 1e-6 if dtype in (None, 'float64') else 2e-2)
        everywhere = world.allgather([param.grad.tobytes() for param in params])
        assert everywhere[1:] == everywhere[:-1]
    if dtype in (None, 'float64'):
        arrays = [param.grad.reshape(-1) for param in make_params(world.rank)]
        bounds = [[0, n // 5, n // 5, n // 2, n] for n in [array.size for array in arrays]]
        all_parts = [[slice(a, b) for a, b in zip(each, each[1:])] for each in bounds]
        own = reducer.own_means(arrays, all_parts).wait()
        for array, parts, param in zip(own, all_parts, params):
            expected = param.grad.reshape(-1)[parts[world.rank]]
            numpy.testing.assert_array_equal(array, expected)
    reducer.close()
    channel.free()


@pytest.mark.parametrize('shares', [True, False])
def test_groups_start_one_after_the_other(world, make_channel, shares):
    if world.size == 1:
        pytest.skip('one rank has nothing to send')
    channel = make_channel(shares)
    reducer = means.Reducer(channel, means.OverHost(channel))
    params = make_params(world.rank)
    groups = reducer.divide_groups([params[3:], params[:3]])
    assert [sum(len(b.params) for b in group) for group in groups] == [3, 3]
    assert all(bool(bucket.rows) == shares for group in groups for bucket in group)
    pending = [mean for group in groups for mean in reducer.start(group)]
    for mean in pending:
        mean.test()
    for mean in pending:
        mean.wait()
    assert_means(params, world.size)


def test_only_wait_takes_the_last_step(world):
    taken = []

    def steps():
        for i, requests in enumerate([[], [], None]):
            taken.append(i)
            yield requests
        taken.append('last')

    mean = means.Pending(steps())
    mean.test()
    assert taken == [0, 1, 2]
    mean.wait()
    assert taken == [0, 1, 2, 'last']
    mean.wait()
    mean.test()
    assert taken == [0, 1, 2, 'last']


def test_steps_wait_for_their_requests(world):
    """``test`` takes no step before the messages are there."""
    comm = world.Dup()
    data = numpy.zeros(1)
    taken = []

    def steps():
        yield [comm.Irecv(data, comm.rank)]
        taken.append(data[0])
        yield None

    mean = means.Pending(steps())
    mean.test()
    assert not taken
    comm.Send(numpy.ones(1), comm.rank)
    while not taken:
        mean.test()
    assert taken == [1]
    comm.Free()


def test_dropped_means_keep_their_memory(world):
    """MPI writes to the memory of a message that comes after its mean was dropped."""
    comm = world.Dup()

    class Memory(numpy.ndarray):
        """Array that can have weak references."""

    def steps(data):
        yield [comm.Irecv(data, comm.rank)]

    def done():
        yield None

    data = numpy.zeros(1).view(Memory)
    is_alive = weakref.ref(data)
    mean = means.Pending(steps(data))
    del data, mean
    gc.collect()
    assert is_alive() is not None
    comm.Send(numpy.ones(1), comm.rank)
    while is_alive() is not None:
        means.Pending(done()).wait()  # lets go of what has come
    comm.Free()


class Twice(means.Transport):
    """Transport that doubles gradients and sends nothing."""

    def __init__(self):
        self.sizes = []

    def steps(self, buckets):
        for bucket in buckets:
            flat = bucket.pack()
            flat *= 2
            self.sizes.append(bucket.size)
        yield None
        for bucket in buckets:
            bucket.unpack()


class OwnReducer(means.Reducer):
    def transport_of(self, bucket):
        return self.transport


class OwnCommunicator(chainermn.communicators.mpi_communicator_base.MpiCommunicatorBase):
    def make_reducer(self, channel):
        reducer = OwnReducer(channel, means.OverHost(channel))
        reducer.transport = self.transport = Twice()
        return reducer


@pytest.mark.parametrize('options', [{}, {'bucket_bytes': None}, {'double_buffering': True}])
def test_optimizers_use_the_transport_of_the_communicator(world, options):
    if world.size == 1 and not options.get('double_buffering'):
        pytest.skip('one rank has nothing to send')
    comm = OwnCommunicator(world)
    model = chainer.links.Linear(2, 1, nobias=True, initialW=1)
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(1), comm, **options)
    optimizer.setup(model)
    for _ in range(3):  # the first two copy parameters and show the order of gradients
        optimizer.update(lambda: chainer.functions.sum(model.W))
    n_updates = 1 if options.get('double_buffering') else 2
    numpy.testing.assert_array_equal(model.W.array, 1 - 2.0 * n_updates * numpy.ones((1, 2)))
    assert set(comm.transport.sizes) == {2}
    comm.finalize()


SMALL = 1 << 16  # bytes of a last group that has no messages of its own


@pytest.mark.parametrize(
    ('sizes', 'dtypes', 'least', 'groups'),
    [
        ([], '', 8, []),
        ([5, 0], 'ff', 8, [[0, 1]]),
        ([SMALL] * 4, 'ffff', 0, [[0], [1], [2], [3]]),
        ([SMALL] * 5, 'fffff', 2 * SMALL, [[0, 1], [2, 3], [4]]),
        ([SMALL] * 3, 'fef', 2 * SMALL, [[0], [1], [2]]),
        ([SMALL, SMALL, SMALL - 1], 'fff', SMALL, [[0], [1, 2]]),
    ],
)
def test_groups(sizes, dtypes, least, groups):
    assert means.group(sizes, dtypes, least) == groups
