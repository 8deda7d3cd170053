"""Training with gradients that are divided between the ranks equals that with whole ones."""

import weakref

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainer import optimizer_hooks, optimizers
from chainermn._sharding import step

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]


class Probe(chainer.FunctionNode):
    """Identity whose backward calls a function."""

    def __init__(self, call):
        self._call = call

    def forward(self, inputs):
        return inputs

    def backward(self, indexes, gys):
        self._call()
        return gys


class Net(chainer.Chain):
    """Odd sizes, one parameter over several ranks, a scalar, and one that some ranks do not use."""

    def __init__(self, is_reversed=False):
        super().__init__()
        self.uses_rare = False
        self.seen = []
        self.layers = [
            L.Linear(64, 131),
            L.Linear(131, 127, nobias=True),
            L.Linear(127, 10),
            L.Linear(127, 10),
        ]
        with self.init_scope():
            for name, layer in zip('dcba' if is_reversed else 'abcd', self.layers):
                setattr(self, name, layer)
            self.scale = chainer.Parameter(numpy.array(1, 'float32'))
            self.empty = chainer.Parameter(numpy.zeros((0, 3), 'float32'))

    def see(self):
        self.seen.append([n for n, p in sorted(self.namedparams()) if p.grad is not None])

    def forward(self, x, t):
        first, second, third, rare = self.layers
        h = first(x)
        if isinstance(x, numpy.ndarray):
            (h,) = Probe(self.see).apply((h,))
        h = F.relu(second(F.relu(h)))
        y = third(h)
        y *= F.broadcast_to(F.cast(self.scale, y.dtype), y.shape)
        if self.uses_rare:
            y += 0.1 * rare(h)
        return F.softmax_cross_entropy(y, t)


def make(device='@numpy', seed=0, **options):
    numpy.random.seed(seed)
    model = Net(**options)
    model.to_device(device)
    return model


def batches(n, comm, size=24):
    x, t = chainer.dataset.concat_examples(chainer.datasets.get_digits()[0][: n * size])
    return [
        (x[i : i + size][comm.rank :: comm.size], t[i : i + size][comm.rank :: comm.size])
        for i in range(0, n * size, size)
    ]


def train(comm, make_optimizer, sharded, device='@numpy', hooks=(), scale=None, **options):
    """Returns the parameters as bytes, and the model."""
    optimizer = make_optimizer()
    multi = chainermn.create_multi_node_optimizer(optimizer, comm, sharded=sharded, **options)
    model = make(device, seed=comm.rank)
    multi.setup(model)
    for hook in hooks:
        multi.add_hook(hook)
    if scale is not None:
        multi.loss_scaling(**scale)
    for i, (x, t) in enumerate(batches(5, comm)):
        model.uses_rare = options.get('zero_fill', True) and (i + comm.rank) % 2 == 0
        multi.update(model, model.device.send(x), model.device.send(t))
    send = chainer.get_device('@numpy').send
    return {name: send(p.array).tobytes() for name, p in sorted(model.namedparams())}, model


OPTIMIZERS = [
    optimizers.AdaDelta,
    optimizers.AdaGrad,
    optimizers.Adam,
    lambda: optimizers.Adam(amsgrad=True, weight_decay_rate=0.01),
    optimizers.AdaBound,
    optimizers.AMSBound,
    optimizers.CorrectedMomentumSGD,
    optimizers.MomentumSGD,
    optimizers.MSVAG,
    optimizers.NesterovAG,
    optimizers.RMSprop,
    optimizers.RMSpropGraves,
    optimizers.SGD,
    optimizers.SMORMS3,
]


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('number', range(len(OPTIMIZERS)))
def test_bits_equal_those_of_whole_gradients(comm, number, device, monkeypatch):
    monkeypatch.setattr(step, 'BYTES', 1 << 15)  # so that some are waited for
    make_optimizer = OPTIMIZERS[number]
    expected, _ = train(comm, make_optimizer, True, device)
    assert train(comm, make_optimizer, 'gradients', device)[0] == expected


CASES = {
    'each gradient at once': {'bucket_bytes': 1},
    'at the end': {'bucket_bytes': None},
    'missing gradients': {'zero_fill': False},
    'hooks': {
        'hooks': [
            optimizer_hooks.WeightDecay(1e-2),
            optimizer_hooks.Lasso(1e-3),
            optimizer_hooks.GradientHardClipping(-0.01, 0.01),
        ]
    },
    'no clipping': {'hooks': [optimizer_hooks.GradientClipping(1e6)]},
    'loss scale': {'scale': {'scale': 64.0}, 'zero_fill': False},
    'dynamic loss scale': {'scale': {'interval': 2}, 'zero_fill': False},
}


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('options', CASES.values(), ids=CASES)
def test_options(comm, options, device):
    expected, _ = train(comm, optimizers.Adam, True, device, **options)
    assert train(comm, optimizers.Adam, 'gradients', device, **options)[0] == expected


@pytest.mark.parametrize('dtype', ['float16', 'float64', chainer.mixed16])
def test_dtypes(comm, dtype):
    with chainer.using_config('dtype', dtype):
        expected, _ = train(comm, optimizers.Adam, True)
        assert train(comm, optimizers.Adam, 'gradients')[0] == expected


def test_allreduce_grad_dtype(comm):
    """An owner does not round its own gradient, and large buckets have other owners."""
    with comm.config_scope():
        comm.allreduce_grad_dtype = 'bfloat16'
        expected, _ = train(comm, optimizers.SGD, True)
        actual, _ = train(comm, optimizers.SGD, 'gradients')
    for name in expected:
        pair = [numpy.frombuffer(arrays[name], 'float32') for arrays in (actual, expected)]
        numpy.testing.assert_allclose(*pair, 0, 1e-4)
    assert comm.allgather_obj(actual) == [actual] * comm.size


@pytest.mark.parametrize('is_reversed', [False, True])
def test_backward_releases_gradients(comm, is_reversed):
    """Gradients go while backward runs; after the first, in its order in place of a guess."""
    model = make(is_reversed=is_reversed)
    multi = chainermn.create_multi_node_optimizer(
        optimizers.SGD(), comm, sharded='gradients', bucket_bytes=1
    ).setup(model)
    for x, t in batches(4, comm):
        model.uses_rare = True
        multi.update(model, x, t)
        assert all([p.grad is None for p in model.params()])
    # The first update only makes parameters equal.
    assert len(model.seen) == 3
    if comm.size > 1:
        assert model.seen[1:] == [[], []]
        assert ('/c/W' in model.seen[0]) == is_reversed


def test_backward_frees_gradients(comm, monkeypatch):
    """Nothing keeps the memory of gradients that have been sent."""
    monkeypatch.setattr(step, 'BYTES', 0)
    monkeypatch.setattr(step, 'JOINED', 0)
    alive, grads = [], []
    model = make()
    multi = chainermn.create_multi_node_optimizer(
        optimizers.SGD(), comm, sharded='gradients', bucket_bytes=1
    ).setup(model)
    send = multi._send

    def watch(params):
        grads.extend([weakref.ref(param.grad) for param in params])
        send(params)

    vars(multi)['_send'] = watch
    model.see = lambda: alive.append(sum([grad().nbytes for grad in grads if grad() is not None]))
    for x, t in batches(3, comm):
        multi.update(model, x, t)
    assert alive == [0, 0] and len(grads) == 2 * len([*model.params()])


def test_hooks_see_shards(comm):
    seen = {}

    def hook(optimizer):
        assert optimizer.target.c.W.shape == (10, 127)  # the link itself
        for name, param in optimizer.target.namedparams():
            assert param.grad.shape == param.shape
            seen[name] = param.size
        assert len(seen) == len([*optimizer.target.params()])

    _, model = train(comm, optimizers.SGD, 'gradients', hooks=[hook_object(hook)])
    sizes = [param.size for param in model.params()]
    low, high = [sum(sizes) * r // comm.size for r in (comm.rank, comm.rank + 1)]
    assert sum(seen.values()) == high - low
    everywhere = comm.allgather_obj(seen)
    for name, param in model.namedparams():
        assert sum([of_rank.get(name, 0) for of_rank in everywhere]) == param.size


def hook_object(function):
    class Hook:
        name = 'Hook'

        def __call__(self, optimizer):
            function(optimizer)

    return Hook()


def test_state_is_divided(comm):
    _, model = train(comm, optimizers.Adam, 'gradients')
    states = [p.update_rule.state or {} for p in model.params()]
    size = sum([value.size for state in states for value in state.values()])
    whole = 2 * sum([param.size for param in model.params()])
    assert abs(size - whole / comm.size) <= 2


def test_all_ranks_skip_an_update(comm):
    """All ranks skip the update if one part of a gradient is not finite."""
    model = make()
    multi = chainermn.create_multi_node_optimizer(optimizers.SGD(0.1), comm, sharded='gradients')
    multi.setup(model).loss_scaling()
    multi.update()
    before = [p.array.copy() for p in model.params()]
    # The last rank updates this parameter.
    model.c.b.grad = numpy.full(10, numpy.inf, 'float32')
    if comm.rank == comm.size - 1:
        with pytest.warns(UserWarning, match='Non finite number found in param.grad of /c/b'):
            multi.update()
    else:
        multi.update()
    assert multi.t == 0 and multi.actual_optimizer._loss_scale == 1
    for param, array in zip(model.params(), before):
        numpy.testing.assert_array_equal(param.array, array)


def test_gradients_that_are_there_are_used(comm):
    model = make(seed=comm.rank)
    multi = chainermn.create_multi_node_optimizer(optimizers.SGD(1), comm, sharded='gradients')
    multi.setup(model).update()
    before = {name: p.array.copy() for name, p in model.namedparams()}
    for param in model.params():
        param.grad = numpy.full_like(param.array, 2**comm.rank)
    multi.update()
    mean = (2**comm.size - 1) / comm.size
    for name, param in model.namedparams():
        numpy.testing.assert_allclose(param.array, before[name] - mean, 1e-5, 1e-5)


def test_a_failed_hook_leaves_the_model(comm):
    model = make()
    multi = chainermn.create_multi_node_optimizer(optimizers.SGD(1), comm, sharded='gradients')
    multi.setup(model).update()

    def fail(optimizer):
        raise ArithmeticError('hook')

    multi.add_hook(hook_object(fail))
    with pytest.raises(ArithmeticError, match='hook'):
        multi.update()
    assert multi.target is model and multi.actual_optimizer._sum_over_parts is None


def test_bad_arguments(comm):
    def create(optimizer, **options):
        return chainermn.create_multi_node_optimizer(optimizer, comm, **options)

    with pytest.raises(ValueError, match="'gradients' or 'parameters', not 'states'"):
        create(optimizers.SGD(), sharded='states')
    with pytest.raises(ValueError, match='exclude each other'):
        create(optimizers.SGD(), sharded='gradients', double_buffering=True)
    with pytest.raises(TypeError, match='needs a chainer.GradientMethod'):
        create(chainer.Optimizer(), sharded='gradients')
    with pytest.raises(RuntimeError, match='call `setup` method'):
        create(optimizers.SGD(), sharded='gradients').update()
    multi = create(optimizers.SGD(), sharded='gradients').setup(make())
    multi.add_hook(optimizer_hooks.GradientLARS())
    with pytest.raises(ValueError, match='GradientLARS needs norms of whole parameters'):
        multi.update()

    class Rule(chainer.UpdateRule):
        def update_core(self, param):
            pass

    class Method(chainer.GradientMethod):
        def create_update_rule(self):
            return Rule(self.hyperparam)

    multi = create(Method(), sharded='gradients').setup(L.Linear(1, 1))
    multi.update()
    with pytest.raises(ValueError, match='Rule does not say so'):
        multi.update()
