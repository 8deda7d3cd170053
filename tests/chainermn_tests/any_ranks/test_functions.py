"""Functions across ranks, and their gradients by numerical differentiation."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainermn
import chainermn.functions as C

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]


def made_by(rank, shape=(2, 3)):
    return numpy.random.RandomState(rank).uniform(-1, 1, shape)


def weight(rank, shape=(2, 3)):
    return made_by(1000 + rank, shape)


def weighted(ys, rank):
    """A nonlinear loss of this rank, or a scalar without value where a rank has no output."""
    ys = ys if isinstance(ys, tuple) else (ys,)
    if ys[0].shape == ():
        return ys[0]
    loss = 0
    for i, y in enumerate(ys):
        w = y.device.send(weight(rank * 10 + i, y.shape))
        loss += F.sum(w * y * y)
    return loss


def exchange(comm, xs):
    """Sends an array to the next rank and receives one."""
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    if comm.size == 1:
        return xs[0]
    if comm.rank == 0:
        delegate = C.send(xs[0], comm, after)
        return C.recv(comm, before, delegate_variable=delegate)
    y = C.recv(comm, before)
    return C.pseudo_connect(C.send(xs[0], comm, after), y)[0]


def exchange_tuples(comm, xs):
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    if comm.size == 1:
        return (xs[0], xs[-1])
    delegate = C.send((xs[0], xs[-1]), comm, after, tag=3)
    return C.recv(comm, before, delegate, tag=3)


FUNCTIONS = {
    'allgather': lambda comm, xs: C.allgather(comm, xs[0]),
    'alltoall': lambda comm, xs: C.alltoall(comm, xs),
    'bcast': lambda comm, xs: C.bcast(comm, xs[0] if comm.rank == comm.size - 1 else None, comm.size - 1),
    'gather': lambda comm, xs: C.gather(comm, xs[0], comm.size - 1),
    'scatter': lambda comm, xs: C.scatter(comm, xs if comm.rank == comm.size - 1 else None, comm.size - 1),
    'send': exchange,
    'send tuples': exchange_tuples,
}  # fmt: skip


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', FUNCTIONS)
def test_gradients(comm, name, device):
    function = FUNCTIONS[name]
    arrays = [made_by(comm.rank * 10 + i) for i in range(comm.size)]
    xs = tuple([chainer.Variable(chainer.get_device(device).send(x)) for x in arrays])
    ys = function(comm, tuple([x * 1 for x in xs]))
    first = ys[0] if isinstance(ys, tuple) else ys
    assert first.device == chainer.get_device(device)
    weighted(ys, comm.rank).backward()

    def total():
        """Sum of the losses of all ranks."""
        with chainer.no_backprop_mode():
            loss = weighted(function(comm, tuple(map(chainer.Variable, arrays))), comm.rank)
        return comm.allreduce_obj(float(loss.array))

    for rank in range(comm.size):
        for i in range(comm.size):
            direction = made_by(77 + i)
            slopes = []
            for step in 1e-4, -1e-4:
                if rank == comm.rank:
                    arrays[i] += step * direction
                slopes.append(total() / (2 * step))
                if rank == comm.rank:
                    arrays[i] -= step * direction
            if rank == comm.rank:
                grad = xs[i].grad
                slope = (
                    0
                    if grad is None
                    else float((chainer.get_device('@numpy').send(grad) * direction).sum())
                )
                assert slope == pytest.approx(sum(slopes), rel=1e-6, abs=1e-7)


def test_values(comm):
    rank, size = comm.rank, comm.size
    x = chainer.Variable(made_by(rank))
    for i, y in enumerate(C.allgather(comm, x)):
        numpy.testing.assert_array_equal(y.array, made_by(i))
    xs = tuple([made_by(rank * 10 + i) for i in range(size)])
    for i, y in enumerate(C.alltoall(comm, xs)):
        numpy.testing.assert_array_equal(y.array, made_by(i * 10 + rank))
    numpy.testing.assert_array_equal(C.bcast(comm, x).array, made_by(0))
    numpy.testing.assert_array_equal(C.scatter(comm, xs).array, made_by(rank))
    ys = C.gather(comm, x)
    if rank:
        assert ys.shape == ()
    else:
        numpy.testing.assert_array_equal(ys[-1].array, made_by(size - 1))
    if size > 1:
        y = exchange(comm, (x,))
        numpy.testing.assert_array_equal(y.array, made_by((rank - 1) % size))


def test_second_gradients(comm):
    x = chainer.Variable(made_by(comm.rank))
    ys = C.allgather(comm, x)
    (gx,) = chainer.grad([sum([F.sum(y**3) for y in ys])], [x], enable_double_backprop=True)
    numpy.testing.assert_allclose(gx.array, comm.size * 3 * x.array**2)
    (ggx,) = chainer.grad([F.sum(gx)], [x])
    numpy.testing.assert_allclose(ggx.array, comm.size * 6 * x.array)


def test_missing_gradients_are_zeros(comm):
    x = chainer.Variable(made_by(comm.rank))
    F.sum(C.allgather(comm, x)[0]).backward()
    numpy.testing.assert_array_equal(x.grad, numpy.full((2, 3), 0 if comm.rank else comm.size))


def test_pseudo_connect():
    delegate = chainer.Variable(numpy.array(5.0))
    a, b = chainer.Variable(made_by(0)), chainer.Variable(made_by(1))
    for before in delegate, None:
        for args, n in ((a,), 1), ((a, b), 2), (((a,),), 1), (((a, b),), 2), (([a, b],), 2):
            connected = C.pseudo_connect(before, *args)
            assert isinstance(connected, tuple) and len(connected) == n
            assert [y.array.tolist() for y in connected] == [x.array.tolist() for x in (a, b)[:n]]
    assert C.pseudo_connect(None, a) == (a,)
    y, z = C.pseudo_connect(delegate, a, b)
    F.sum(y * y).backward()
    numpy.testing.assert_array_equal(a.grad, 2 * a.array)
    assert b.grad is None and delegate.grad == 0
    with pytest.raises(TypeError, match='at least one'):
        C.pseudo_connect(delegate)


@pytest.mark.parametrize(
    'call, message',
    [
        (lambda c, x: C.send(x, c, c.rank), 'rank must be that of another process'),
        (lambda c, x: C.recv(c, c.rank), 'rank must be that of another process'),
        (lambda c, x: C.send(x, c, 99), 'rank must be a rank from 0'),
        (lambda c, x: C.send((), c, c.rank + 1), 'x must not be empty|rank must be'),
        (lambda c, x: C.alltoall(c, ()), 'xs must have . elements'),
    ],
)
def test_bad_arguments(comm, call, message):
    with pytest.raises(ValueError, match=message):
        call(comm, made_by(0))


def test_communication_backend(comm):
    choose = C.batch_normalization.get_communication_backend
    assert choose(comm) == choose(comm, 'mpi') == 'mpi'
    assert choose(chainermn.create_communicator('pure_nccl', comm.mpi_comm)) == 'nccl'
    with pytest.raises(ValueError, match='needs the communicator'):
        choose(comm, 'nccl')
    with pytest.raises(ValueError, match='must be one of'):
        choose(comm, 'other')
