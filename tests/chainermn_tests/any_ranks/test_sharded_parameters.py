"""Training with parameters that are divided between the ranks equals data parallel training."""

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainermn._sharding import memory, parts, step

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


def numpy_of(model):
    return {path: numpy.array(p.array) for path, p in sorted(model.namedparams())}


def test_each_rank_keeps_a_part(comm):
    model = make(Dense)
    whole = numpy_of(model)
    multi = shard(comm, chainer.optimizers.Adam(), model)
    (x, t), *_ = digits(1)
    multi.update(model, x, t)
    for path, param in model.namedparams():
        low, high = [whole[path].size * r // comm.size for r in (comm.rank, comm.rank + 1)]
        for array in (param.array, param.grad, *param.update_rule.state.values()):
            assert array.shape == (high - low,)


@pytest.mark.parametrize('device', DEVICES)
def test_memory_is_released(comm, device, monkeypatch):
    """Pages are there only in the call of a link, and in its backward."""
    made, states = [], []
    gather = memory.Memory.release

    def release(self):
        states.append([other.is_filled for other in made])
        gather(self)

    init = memory.Memory.__init__

    def __init__(self, specs):
        init(self, specs)
        made.append(self)

    monkeypatch.setattr(memory.Memory, '__init__', __init__)
    monkeypatch.setattr(memory.Memory, 'release', release)
    model = make(Dense, device)
    multi = shard(comm, chainer.optimizers.SGD(), model)
    (x, t), *_ = digits(1)
    multi.update(model, model.device.send(x), model.device.send(t))
    first, second, third = made
    assert not third.can_release
    assert states[:2] == [[True], [False, True]]
    assert [state[:2] for state in states[2:]] == [[False, False], [False, True], [True, False]]
    assert not first.is_filled and not second.is_filled
    assert not numpy.any(second.arrays[0])


def test_hooks_of_optimizers_see_all_parameters(comm):
    def hooks():
        return [
            chainer.optimizer_hooks.WeightDecay(1e-2),
            chainer.optimizer_hooks.GradientClipping(0.1),
        ]

    def make_sgd():
        return chainer.optimizers.SGD(0.1)

    expected = train_in_parallel(comm, make_sgd, make(Dense), digits(3), hooks())
    model = make(Dense)
    actual = train(shard(comm, make_sgd(), model), model, digits(3), comm, hooks())
    assert_equal(actual, expected, 1e-6)


def test_loss_scale_is_common(comm):
    """All ranks skip the update if one part of a gradient is not finite."""
    model = make(Dense)
    multi = shard(comm, chainer.optimizers.SGD(0.1), model)
    multi.loss_scaling()
    before = params_of(model)
    if comm.rank == comm.size - 1:
        model.third.b.grad = numpy.full(model.third.b.shape, numpy.inf, 'float32')
        with pytest.warns(UserWarning, match='Non finite number'):
            multi.update()
    else:
        multi.update()
    assert multi.t == 0 and multi.actual_optimizer._loss_scale == 1
    assert_equal(params_of(model), before)


def test_allreduce_grad_dtype(comm):
    """Gradients are sent in 16 bits, except those of the part that a rank has itself."""
    with comm.config_scope():
        comm.allreduce_grad_dtype = 'bfloat16'
        expected = train_in_parallel(comm, chainer.optimizers.SGD, make(Dense), digits(3))
        model = make(Dense)
        actual = train(shard(comm, chainer.optimizers.SGD(), model), model, digits(3), comm)
    assert_equal(actual, expected, 1e-5)


@pytest.mark.parametrize('dtype', ['float16', 'float64'])
def test_dtypes(comm, dtype):
    with chainer.using_config('dtype', dtype):
        data = [(x.astype(dtype), t) for x, t in digits(2)]
        expected = train_in_parallel(comm, chainer.optimizers.SGD, make(Dense), data)
        model = make(Dense)
        actual = train(shard(comm, chainer.optimizers.SGD(), model), model, data, comm)
    assert_equal(actual, expected, 1e-3 if dtype == 'float16' else 0)


def test_values_without_a_graph(comm, monkeypatch):
    """Results that are parameters, or views of them, stay after the call."""
    monkeypatch.setattr(memory, 'SMALL', 0)

    class Views(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.W = chainer.Parameter(numpy.arange(12, dtype='float32').reshape(3, 4))

        def forward(self):
            return {'whole': self.W, 'views': [F.transpose(self.W), self.W.array[1:]]}

    model = chainermn.shard_parameters(Views(), comm)
    expected = numpy.arange(12).reshape(3, 4)
    for mode in chainer.no_backprop_mode, chainer.force_backprop_mode:
        with mode():
            result = model()
        numpy.testing.assert_array_equal(result['whole'].array, expected)
        numpy.testing.assert_array_equal(result['views'][0].array, expected.T)
        numpy.testing.assert_array_equal(result['views'][1], expected[1:])
    F.sum(result['whole'] * result['whole']).backward()
    part = expected.ravel()[12 * comm.rank // comm.size : 12 * (comm.rank + 1) // comm.size]
    numpy.testing.assert_array_equal(model.W.grad, 2 * part)


def test_hooks_of_links_see_whole_parameters(comm, monkeypatch):
    monkeypatch.setattr(memory, 'SMALL', 0)
    x = numpy.ones((2, 5), 'float32')
    links = [make(lambda: L.Linear(5, 7)) for _ in range(2)]
    for link in links:
        numpy.random.seed(0)
        link.add_hook(chainer.link_hooks.SpectralNormalization())
    chainermn.shard_parameters(links[1], comm)
    ys = [link(x) for link in links]
    numpy.testing.assert_array_equal(ys[1].array, ys[0].array)
    for y, link in zip(ys, links):
        link.cleargrads()
        F.sum(y * y).backward()
    part = links[0].W.grad.ravel()[35 * comm.rank // comm.size : 35 * (comm.rank + 1) // comm.size]
    numpy.testing.assert_allclose(links[1].W.grad, part, 1e-6)


def test_files(comm, folder):
    model = chainermn.shard_parameters(make(Dense), comm)
    path = f'{folder}/model{comm.rank}'
    with pytest.raises(ValueError, match=r"'W' of shape \(401, 64\) is divided between"):
        chainer.serializers.save_npz(path, model)
    with chainermn.gathered_parameters(model):
        chainer.serializers.save_npz(path, model)
    other = make(Dense, seed=1)
    chainer.serializers.load_npz(path, other)
    assert_equal(numpy_of(other), params_of(model))
    other = chainermn.shard_parameters(make(Dense, seed=1), comm)
    with pytest.raises(ValueError, match='divided between'):
        chainer.serializers.load_npz(path, other)
    with chainermn.gathered_parameters(other):
        chainer.serializers.load_npz(path, other)
    assert_equal(params_of(other), params_of(model))
    with pytest.raises(TypeError, match='cannot be copied or pickled'):
        model.copy('copy')


class Keeping(chainer.Chain):
    """Link that uses the result of its previous call, which it has not returned."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.W = chainer.Parameter(numpy.ones((4, 4), 'float32'))
        self.kept = None

    def forward(self, x):
        h = F.linear(x, self.W)
        self.kept = h if self.kept is None else self.kept + h
        return self.kept


@pytest.mark.parametrize('device', DEVICES)
def test_results_that_are_not_returned(comm, device, monkeypatch):
    monkeypatch.setattr(memory, 'SMALL', 0)
    model = chainermn.shard_parameters(make(Keeping, device), comm)
    x = model.device.send(numpy.ones((2, 4), 'float32'))
    y = F.sum(model(x))
    y.backward()
    model(x)
    with pytest.raises(RuntimeError, match='did not return'):
        F.sum(model(x)).backward()


def test_bad_arguments(comm):
    def create(optimizer=None, **options):
        optimizer = chainer.optimizers.SGD() if optimizer is None else optimizer
        return chainermn.create_multi_node_optimizer(optimizer, comm, **options)

    with pytest.raises(ValueError, match="True, False, 'gradients' or 'parameters', not 'all'"):
        create(sharded='all')
    with pytest.raises(ValueError, match='parameter /W has no array yet'):
        create(sharded='parameters').setup(L.Linear(None, 2))
    with pytest.raises(RuntimeError, match='call `setup` method'):
        create(sharded='parameters').update()
    with pytest.raises(TypeError, match=r'needs a chainer\.GradientMethod'):
        create(chainer.Optimizer(), sharded='parameters')
    model = L.Linear(3, 2)
    multi = create(sharded='parameters').setup(model)
    with pytest.raises(ValueError, match='parameter /W is divided between the processes'):
        create().setup(model)
    with chainermn.gathered_parameters(model):
        with pytest.raises(ValueError, match='parameter /W is not divided between the ranks'):
            multi.update()
    multi.add_hook(chainer.optimizer_hooks.GradientLARS())
    with pytest.raises(ValueError, match='GradientLARS needs norms of whole parameters'):
        multi.update()
    y = F.sum(model(numpy.ones((1, 3), 'float32')) ** 2)
    with pytest.raises(RuntimeError, match='double backpropagation'):
        y.backward(enable_double_backprop=True)


def test_a_refused_link_stays_as_it_is(comm):
    model = chainer.Sequential(L.Linear(3, 2), L.Linear(None, 2))
    with pytest.raises(ValueError, match='parameter /1/W has no array yet'):
        chainermn.shard_parameters(model, comm)
    assert model[0].W.shape == (2, 3) and not model[0].local_link_hooks


# -- messages ahead of use


def train_ahead(comm, monkeypatch, n_bytes, joined, kind, optimizer, data, **options):
    """Trains with so many bytes ahead, and so many that are joined; returns the parameters."""
    monkeypatch.setattr(step, 'BYTES', n_bytes)
    monkeypatch.setattr(step, 'JOINED', joined)
    model = make(kind, **options)
    chainermn.shard_parameters(model, comm, kind is Tied)
    return train(shard(comm, optimizer(), model), model, data, comm)


@pytest.mark.parametrize('n_bytes, joined', [(1 << 25, 1 << 18), (1 << 25, 1), (5000, 1000)])
@pytest.mark.parametrize('small', [0, 1 << 13])
@pytest.mark.parametrize('case', CASES)
def test_what_comes_ahead_changes_no_bit(comm, case, small, n_bytes, joined, monkeypatch):
    monkeypatch.setattr(memory, 'SMALL', small)
    kind, options, data, _, _, optimizer = CASES[case]
    arguments = kind, optimizer, data(4)
    expected = train_ahead(comm, monkeypatch, 0, 1, *arguments, **options)
    assert_equal(train_ahead(comm, monkeypatch, n_bytes, joined, *arguments, **options), expected)


def test_only_the_first_call_of_a_step_waits(comm, monkeypatch):
    """All other parameters are on their way when they are needed, and the last ones stay."""
    monkeypatch.setattr(memory, 'SMALL', 0)
    calls = []
    for name in 'gather', 'start_gather', 'start_means':
        monkeypatch.setattr(parts, name, noting(calls, name, getattr(parts, name)))
    model = make(Dense)
    multi = shard(comm, chainer.optimizers.SGD(), model)
    counts = []
    for x, t in digits(3):
        calls.clear()
        multi.update(model, x, t)
        counts.append([calls.count(name) for name in ('gather', 'start_gather', 'start_means')])
    # Nothing is known in the first step. Then the first link waits, the others do not, and the
    # third one has its parameters until its backward.
    assert counts == [[6, 6, 2], [1, 5, 2], [1, 5, 2]]


def noting(calls, name, function):
    def note(*args):
        calls.append(name)
        return function(*args)

    return note


class Changing(chainer.Chain):
    """Calls other links in each step, with values of parameters that change in between."""

    def __init__(self):
        super().__init__()
        self.n_calls = 0
        self.inner = None
        with self.init_scope():
            self.layers = chainer.ChainList(*[L.Linear(64, 64) for _ in range(4)])

    def forward(self, x, t):
        self.n_calls += 1
        numbers = [[0, 1, 2, 3], [0, 1, 2, 3], [0, 2, 1, 1], [0], [0, 1, 2, 3], [0, 1, 2, 3]]
        h = x
        for i in numbers[self.n_calls % len(numbers)]:
            h = F.tanh(self.layers[i](h))
            if i == 1:
                self.disturb(h)
        return F.softmax_cross_entropy(h, t)

    def disturb(self, h):
        if self.n_calls == 7:
            with chainermn.gathered_parameters(self):
                self.layers[2].W.array += 0.1
        if self.n_calls == 13 and self.inner is not None:
            self.inner.update(lambda: F.sum(self.layers[3](h.array)))
        if self.n_calls == 8:
            with chainer.no_backprop_mode():
                self.layers[2](h)
        if self.n_calls == 10:
            F.sum(self.layers[3](h.array)).backward()


def test_order_of_calls_that_changes(comm, monkeypatch):
    monkeypatch.setattr(memory, 'SMALL', 0)
    results = []
    for n_bytes in 0, 1 << 25:
        monkeypatch.setattr(step, 'BYTES', n_bytes)
        model = make(Changing)
        multi = shard(comm, chainer.optimizers.SGD(0.1), model)
        model.inner = shard(comm, chainer.optimizers.SGD(0.1), model.layers[3])
        results.append(train(multi, model, digits(14), comm))
    assert_equal(*results)


def test_an_error_in_the_loss(comm, monkeypatch):
    monkeypatch.setattr(memory, 'SMALL', 0)
    model = make(Dense)
    multi = shard(comm, chainer.optimizers.SGD(), model)

    def fail(x):
        model.second(F.relu(model.first(x)))
        raise KeyError

    def step_of(x, t):
        multi.update(model, x, t)
        return params_of(model)

    (x, t), *rest = digits(3)
    multi.update(model, x, t)
    with pytest.raises(KeyError):
        multi.update(fail, x)
    other = make(Dense)
    twin = shard(comm, chainer.optimizers.SGD(), other)
    twin.update(other, x, t)
    for x, t in rest:
        twin.update(other, x, t)
        assert_equal(step_of(x, t), params_of(other))
