"""Training with parameters that are divided between the ranks equals data parallel training."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainermn._sharding import memory

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]


class Block(chainer.Chain):
    """Link with parameters of its own, and links inside."""

    def __init__(self, n):
        super().__init__()
        with self.init_scope():
            self.inner = L.Linear(n, 2 * n + 1)
            self.outer = L.Linear(2 * n + 1, n, nobias=True)
            self.bn = L.BatchNormalization(n)
            self.scale = chainer.Parameter(numpy.array(1, 'float32'))
            self.shift = chainer.Parameter(numpy.full((n,), 0.1, 'float32'))

    def forward(self, x):
        h = self.outer(F.dropout(F.relu(self.inner(x)), 0.3))
        return x + F.scale(self.bn(h), self.scale, axis=0) + F.broadcast_to(self.shift, x.shape)


class Net(chainer.Chain):
    """Tied layers, odd sizes, dictionaries of variables, a parameter that is never used."""

    def __init__(self, forgets=False):
        super().__init__()
        self.forgets = forgets
        with self.init_scope():
            self.conv = L.Convolution2D(1, 3, 3, stride=2)
            self.first = L.Linear(27, 33)
            self.block = Block(33)
            self.last = L.Linear(33, 10)
            self.unused = L.Linear(1, 5)

    def forward(self, x, t):
        h = F.relu(self.conv(x.reshape(-1, 1, 8, 8)))
        h = F.relu(self.first(h))
        for _ in range(2):
            h = F.forget(self.block, h) if self.forgets else self.block(h)
        return F.softmax_cross_entropy(self.last(h), t)


class Tied(chainer.Chain):
    """Words, whose vectors also weigh the output."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(17, 9)
            self.lstm = L.LSTM(9, 9)
            self.bias = chainer.Parameter(numpy.zeros(17, 'float32'))

    def forward(self, x, t):
        self.lstm.reset_state()
        losses = []
        for i in range(x.shape[1]):
            h = self.lstm(self.embed(x[:, i]))
            losses.append(F.softmax_cross_entropy(F.linear(h, self.embed.W, self.bias), t))
        return sum(losses)


class Dense(chainer.Chain):
    """Large enough to be released."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(64, 401)
            self.second = L.Linear(401, 403, nobias=True)
            self.third = L.Linear(403, 10)

    def forward(self, x, t):
        h = F.relu(self.first(x))
        return F.softmax_cross_entropy(self.third(F.relu(self.second(h))), t)


def digits(n, size=24):
    x, t = chainer.dataset.concat_examples(chainer.datasets.get_digits()[0][: n * size])
    return [(x[i : i + size], t[i : i + size]) for i in range(0, n * size, size)]


def words(n):
    rng = numpy.random.RandomState(0)
    return [
        (rng.randint(0, 17, (12, 3)).astype('i'), rng.randint(0, 17, 12).astype('i'))
        for _ in range(n)
    ]


def params_of(model):
    with chainermn.gathered_parameters(model):
        to_host = chainer.get_device('@numpy').send
        return {path: to_host(p.array).copy() for path, p in sorted(model.namedparams())}


def train(optimizer, model, data, comm, hooks=()):
    for hook in hooks:
        optimizer.add_hook(hook)
    numpy.random.seed(comm.rank + 1)
    for x, t in data:
        x, t = x[comm.rank :: comm.size], t[comm.rank :: comm.size]
        optimizer.update(model, model.device.send(x), model.device.send(t))
    return params_of(model)


def make(kind, device='@numpy', seed=0, **options):
    numpy.random.seed(seed)
    model = kind(**options)
    model.to_device(device)
    return model


def train_in_parallel(comm, make_optimizer, model, data, hooks=()):
    """Trains copies of the model, without the first update, which only equalizes them."""
    multi = chainermn.create_multi_node_optimizer(make_optimizer(), comm).setup(model)
    multi.update()
    return train(multi, model, data, comm, hooks)


def shard(comm, optimizer, model):
    multi = chainermn.create_multi_node_optimizer(optimizer, comm, sharded='parameters')
    return multi.setup(model)


def assert_equal(actual, expected, tolerance=0):
    assert actual.keys() == expected.keys()
    for path in actual:
        numpy.testing.assert_allclose(actual[path], expected[path], 0, tolerance, err_msg=path)


# A link that is called twice adds two means, instead of taking the mean of the sums.
CASES = {
    'called twice': (Net, {}, digits, False, 1e-6, chainer.optimizers.MomentumSGD),
    'forget': (Net, {'forgets': True}, digits, False, 1e-6, chainer.optimizers.Adam),
    'tied': (Tied, {}, words, True, 0, chainer.optimizers.Adam),
    'dense': (Dense, {}, digits, False, 0, chainer.optimizers.Adam),
}


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('case, small', [*[(case, 0) for case in CASES], ('dense', 1 << 16)])
def test_equals_data_parallel(comm, case, device, small, monkeypatch):
    monkeypatch.setattr(memory, 'SMALL', small)
    kind, options, data, whole, tolerance, optimizer = CASES[case]
    expected_model = make(kind, device, **options)
    expected = train_in_parallel(comm, optimizer, expected_model, data(3))
    # Other initial values on other ranks, which rank 0 replaces.
    model = make(kind, device, seed=comm.rank, **options)
    chainermn.shard_parameters(model, comm, whole)
    actual = train(shard(comm, optimizer(), model), model, data(3), comm)
    assert_equal(actual, expected, tolerance)
    if hasattr(model, 'block'):
        for name in 'avg_mean', 'avg_var':
            mean, other = [
                chainer.get_device('@numpy').send(getattr(m.block.bn, name))
                for m in (model, expected_model)
            ]
            numpy.testing.assert_allclose(mean, other, 0, 1e-6)
