"""Links across ranks, against the same computation in one process."""

import copy

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
import chainermn.functions as C
from chainermn.links import MultiNodeBatchNormalization, create_mnbn_model

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]


def to_numpy(array):
    return chainer.get_device('@numpy').send(array)


def batch(rank, shape=(6, 3, 2, 2), dtype='float32'):
    return numpy.random.RandomState(rank).normal(rank, 1 + rank, shape).astype(dtype)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_batch_normalization(comm, dtype, device):
    """The statistics, gradients and running averages are those of the whole batch."""
    whole = numpy.concatenate([batch(i, dtype=dtype) for i in range(comm.size)])
    ws = numpy.concatenate([batch(i + 50, dtype=dtype) for i in range(comm.size)])
    param_dtype = 'float32' if dtype == 'float16' else dtype
    expected = L.BatchNormalization(3, dtype=param_dtype)
    x = chainer.Variable(whole)
    y = expected(x)
    F.sum(ws * y * y).backward()

    actual = MultiNodeBatchNormalization(3, comm, dtype=param_dtype)
    actual.to_device(device)
    own = slice(comm.rank * 6, comm.rank * 6 + 6)
    x_own = chainer.Variable(actual.device.send(whole[own]))
    y_own = actual(x_own)
    F.sum(actual.device.send(ws[own]) * y_own * y_own).backward()
    tolerance = {'float16': 5e-2, 'float32': 1e-4, 'float64': 1e-9}[dtype]
    for a, b in [
        (y_own.array, y.array[own]),
        (x_own.grad, x.grad[own]),
        (actual.avg_mean, expected.avg_mean),
        (actual.avg_var, expected.avg_var),
        (comm.allreduce(to_numpy(actual.gamma.grad)), expected.gamma.grad),
        (comm.allreduce(to_numpy(actual.beta.grad)), expected.beta.grad),
    ]:
        numpy.testing.assert_allclose(to_numpy(a), b, tolerance, tolerance)
    with chainer.using_config('train', False):
        fixed = expected(whole[own]).array
        numpy.testing.assert_allclose(to_numpy(actual(x_own).array), fixed, tolerance, tolerance)


def test_batch_normalization_finetunes(comm):
    bn = MultiNodeBatchNormalization(3, comm, use_gamma=False, use_beta=False)
    bn.start_finetuning()
    for step in range(2):
        bn(batch(comm.rank + 10 * step), finetune=True)
    means = [
        numpy.mean([batch(i + 10 * step).mean((0, 2, 3)) for i in range(comm.size)], axis=0)
        for step in range(2)
    ]
    numpy.testing.assert_allclose(bn.avg_mean, numpy.mean(means, axis=0), 1e-5)


def test_create_mnbn_model(comm):
    class Net(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.bn = L.BatchNormalization(3)
                self.blocks = chainer.ChainList(
                    chainer.Sequential(L.BatchNormalization(axis=0), F.relu)
                )
            self.same = self.bn

        def forward(self, x):
            return self.blocks[0](self.same(x))

    model = Net()
    model.bn.avg_mean[...] = 5
    model.bn.gamma.array[...] = 2
    new = create_mnbn_model(model, comm)
    assert type(model.bn) is L.BatchNormalization
    assert type(new.bn) is MultiNodeBatchNormalization
    assert type(new.blocks[0][0]) is MultiNodeBatchNormalization and new.same is new.bn
    assert (new.bn.avg_mean == 5).all() and (new.bn.gamma.array == 2).all()
    new.bn.gamma.array[...] = 3
    assert (model.bn.gamma.array == 2).all()
    x = numpy.concatenate([batch(i, (4, 3)) for i in range(comm.size)])
    model.bn.gamma.array[...] = 3
    expected = model(x).array[comm.rank * 4 : comm.rank * 4 + 4]
    copied = copy.deepcopy(new)
    for link in new, copied:
        numpy.testing.assert_allclose(
            link(x[comm.rank * 4 : comm.rank * 4 + 4]).array, expected, 1e-3, 1e-4
        )
    names = [name for name, _ in model.namedparams()]
    assert [name for name, _ in new.namedparams()] == names
    assert create_mnbn_model(L.BatchNormalization(2), comm).comm is comm


def linear(seed, n_in, n_out):
    rng = numpy.random.RandomState(seed)
    return L.Linear(n_in, n_out, initialW=rng.normal(0, 1, (n_out, n_in)).astype('float32'))


@pytest.mark.parametrize('device', DEVICES)
def test_chain_over_all_ranks(comm, device):
    """A model whose layers are on the ranks, one after the other, and back on rank 0."""
    if comm.size == 1:
        return
    model = chainermn.MultiNodeChainList(comm)
    last = comm.size - 1
    if comm.rank == 0:
        model.add_link(linear(0, 4, 5), rank_out=1)
        model.add_link(linear(99, 5, 2), rank_in=last)
    else:
        model.add_link(
            linear(comm.rank, 5, 5), comm.rank - 1, 0 if comm.rank == last else comm.rank + 1
        )
    model.to_device(device)
    x = chainer.Variable(batch(0, (3, 4)))
    x.to_device(device)
    y = model(x) if comm.rank == 0 else model()
    loss = F.sum(y * y) if comm.rank == 0 else y
    loss.backward()

    links = [linear(0, 4, 5), *[linear(i, 5, 5) for i in range(1, comm.size)], linear(99, 5, 2)]
    x_one = chainer.Variable(batch(0, (3, 4)))
    y_one = chainer.Sequential(*links)(x_one)
    F.sum(y_one * y_one).backward()
    if comm.rank == 0:
        numpy.testing.assert_allclose(to_numpy(y.array), y_one.array, 1e-4)
        numpy.testing.assert_allclose(to_numpy(x.grad), x_one.grad, 1e-4)
        numpy.testing.assert_allclose(to_numpy(model[1].W.grad), links[-1].W.grad, 1e-4)
    numpy.testing.assert_allclose(to_numpy(model[0].W.grad), links[comm.rank].W.grad, 1e-4)


class Sum(chainer.Chain):
    def forward(self, *xs):
        return sum(xs)


def test_chain_with_branches(comm):
    """Rank 0 gives its result to all ranks and itself, and adds what comes back."""
    ranks = list(range(comm.size))
    model = chainermn.MultiNodeChainList(comm)
    if comm.rank == 0:
        model.add_link(linear(0, 4, 4), rank_out=ranks)
    model.add_link(linear(comm.rank + 1, 4, 4), rank_in=0, rank_out=0)
    if comm.rank == 0:
        model.add_link(Sum(), rank_in=ranks)
    y = model(batch(0, (3, 4))) if comm.rank == 0 else model()
    (F.sum(y * y) if comm.rank == 0 else y).backward()
    first, rest = linear(0, 4, 4), [linear(i + 1, 4, 4) for i in ranks]
    h = first(batch(0, (3, 4)))
    y_one = sum([link(h) for link in rest])
    F.sum(y_one * y_one).backward()
    if comm.rank == 0:
        numpy.testing.assert_allclose(y.array, y_one.array, 1e-4)
        numpy.testing.assert_allclose(model[0].W.grad, first.W.grad, 1e-4)
    own = model[1 if comm.rank == 0 else 0]
    numpy.testing.assert_allclose(own.W.grad, rest[comm.rank].W.grad, 1e-4)


def test_chain_errors(comm):
    with pytest.raises(ValueError, match='has no link'):
        chainermn.MultiNodeChainList(comm)()
    with pytest.raises(ValueError, match='must be a rank from 0'):
        chainermn.MultiNodeChainList(comm).add_link(Sum(), rank_in=99)


@pytest.mark.parametrize('name', ['NStepLSTM', 'NStepGRU', 'NStepRNNTanh'])
def test_n_step_rnn(comm, name):
    """A sequence that continues on the next rank equals one sequence."""

    def make():
        numpy.random.seed(1)
        return getattr(L, name)(1, 3, 4, 0)

    rank, last = comm.rank, comm.size - 1
    rank_in, rank_out = rank - 1 if rank else None, rank + 1 if rank < last else None
    rnn = chainermn.links.create_multi_node_n_step_rnn(make(), comm, rank_in, rank_out)
    *states, ys, delegate = rnn([batch(rank, (2, 3))])
    loss = F.sum(ys[0] * ys[0])
    C.pseudo_connect(delegate, loss)[0].backward()

    one = make()
    *states_one, ys_one = one(
        *[None] * one.n_cells, [numpy.concatenate([batch(i, (2, 3)) for i in range(comm.size)])]
    )
    F.sum(ys_one[0] * ys_one[0]).backward()
    numpy.testing.assert_allclose(ys[0].array, ys_one[0].array[2 * rank : 2 * rank + 2], 1e-5)
    if rank == last:
        for state, state_one in zip(states, states_one):
            numpy.testing.assert_allclose(state.array, state_one.array, 1e-5)
    for param, param_one in zip(rnn.params(), one.params()):
        numpy.testing.assert_allclose(comm.allreduce(param.grad), param_one.grad, 1e-4, 1e-5)


def test_n_step_rnn_errors(comm):
    create = chainermn.links.create_multi_node_n_step_rnn
    with pytest.raises(ValueError, match='must be a link with n_cells'):
        create(L.Linear(1, 1), comm)
    with pytest.raises(ValueError, match='rank_in must be another rank'):
        create(L.NStepGRU(1, 1, 1, 0), comm, rank_in=comm.rank)
