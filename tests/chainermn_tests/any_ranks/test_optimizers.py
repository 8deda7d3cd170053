"""Training on several ranks equals training on one with the whole batch."""

import os

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
import chainermn
from chainermn import means
from chainermn.means import kernels

DEVICES = ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]
OPTIMIZERS = {
    'SGD': lambda: chainer.optimizers.SGD(0.1),
    'MomentumSGD': lambda: chainer.optimizers.MomentumSGD(0.1),
    'Adam': lambda: chainer.optimizers.Adam(0.01),
}
OPTIONS = {
    'all at the end': {'bucket_bytes': None},
    'while backward runs': {},
    'each gradient at once': {'bucket_bytes': 1},
    'sharded': {'sharded': True},
    'sharded gradients': {'sharded': 'gradients'},
    'sharded gradients at the end': {'sharded': 'gradients', 'bucket_bytes': None},
}


class Net(chainer.Chain):
    """Network with a parameter that is used twice, one that may not be used, and a scalar."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(64, 30)
            self.second = L.Linear(30, 30)
            self.third = L.Linear(30, 10)
            self.rare = L.Linear(30, 10)
            self.scale = chainer.Parameter(numpy.array(1, 'float32'))
        self.uses_rare = False

    def forward(self, x, t):
        h = F.relu(self.first(x))
        h = F.relu(self.second(F.relu(self.second(h))))
        y = self.third(h)
        y *= F.broadcast_to(F.cast(self.scale, y.dtype), y.shape)
        if self.uses_rare:
            y += 0.1 * self.rare(h)
        return F.softmax_cross_entropy(y, t)


def make(device='@numpy', seed=0):
    numpy.random.seed(seed)
    model = Net()
    model.to_device(device)
    return model


def batches(n, size=32):
    x, t = chainer.dataset.concat_examples(chainer.datasets.get_digits()[0][: n * size])
    return [(x[i : i + size], t[i : i + size]) for i in range(0, n * size, size)]


def params_of(model):
    model.to_device('@numpy')
    return {path: param.array.copy() for path, param in sorted(model.namedparams())}


def train(optimizer, model, data, comm=None, hooks=True, rare=None):
    optimizer.setup(model)
    if hooks:
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-3))
        optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(0.5))
    if comm is not None:
        data = [data[0], *data]  # the first update only makes the parameters equal
    for i, (x, t) in enumerate(data):
        if comm is not None:
            x, t = x[comm.rank :: comm.size], t[comm.rank :: comm.size]
        model.uses_rare = rare is not None and rare(i)
        optimizer.update(model, model.device.send(x), model.device.send(t))
    return params_of(model)


def assert_close(actual, expected, tolerance=1e-6):
    assert actual.keys() == expected.keys()
    for path in actual:
        numpy.testing.assert_allclose(actual[path], expected[path], 0, tolerance, err_msg=path)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('options', OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_equals_one_rank(comm, optimizer, options, device):
    make_optimizer = OPTIMIZERS[optimizer]
    expected = train(make_optimizer(), make(device), batches(5))
    multi = chainermn.create_multi_node_optimizer(make_optimizer(), comm, **options)
    actual = train(multi, make(device, seed=comm.rank), batches(5), comm)
    if comm.size > 1:
        assert_close(actual, expected)
    for other in comm.allgather_obj(actual):
        assert_close(other, actual, 0)


@pytest.mark.parametrize('options', OPTIONS.values(), ids=OPTIONS)
def test_ranks_may_compute_other_functions(comm, options):
    multi = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm, **options)
    actual = train(multi, make(), batches(4), comm, rare=lambda i: (i + comm.rank) % 2)
    for other in comm.allgather_obj(actual):
        assert_close(other, actual, 0)
    assert not numpy.array_equal(actual['/rare/W'], make().rare.W.array)


class Recomputing(Net):
    """Network with a layer in two calls of :func:`~chainer.functions.forget`."""

    def forward(self, x, t):
        h = F.relu(self.first(x))
        for _ in range(2):
            h = F.forget(lambda h: F.relu(self.second(h)), h)
        return F.softmax_cross_entropy(self.third(h), t)


class Tied(Net):
    """Network with a layer inside of :func:`~chainer.functions.forget` and behind it."""

    def forward(self, x, t):
        h = F.relu(self.first(x))
        h = F.forget(lambda h: F.relu(self.second(h)), h)
        return F.softmax_cross_entropy(self.third(F.relu(self.second(h))), t)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('options', OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize('kind', [Recomputing, Tied])
def test_recomputed_layers(comm, kind, options, device):
    """A gradient is not sent before all calls of a layer have added to it."""
    numpy.random.seed(0)
    models = [kind() for _ in range(2)]
    for model in models:
        model.to_device(device)
    models[1].copyparams(models[0])
    sgd = chainer.optimizers.SGD(0.1)
    expected = train(sgd, models[0], batches(5))
    multi = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm, **options)
    actual = train(multi, models[1], batches(5), comm)
    if comm.size > 1:
        assert_close(actual, expected)


@pytest.mark.parametrize('device', DEVICES)
def test_gradients_that_were_sent_too_early_are_an_error(comm, device):
    """The first backward had no recomputed layer, so nothing was known of it."""

    class Later(Tied):
        recomputes = False

        def forward(self, x, t):
            return super().forward(x, t) if self.recomputes else Net.forward(self, x, t)

    multi = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm, bucket_bytes=1)
    model = Later()
    model.to_device(device)
    train(multi, model, batches(3), comm)
    model.recomputes = True
    (x, t), *_ = batches(1)
    if comm.size == 1:
        multi.update(model, model.device.send(x), model.device.send(t))
        return
    with pytest.raises(RuntimeError, match='/second/(W|b) had been sent .*bucket_bytes=None'):
        multi.update(model, model.device.send(x), model.device.send(t))


@pytest.mark.parametrize('device', DEVICES)
def test_gradients_are_sent_while_backward_runs(comm, device, monkeypatch):
    """All but those of the first layer, with which backward ends."""
    started, all_grads = [], []
    start = comm.reducer.start
    model = make(device)

    def note(buckets):
        started.append([p.name for bucket in buckets for p in bucket.params])
        all_grads.append(all(p.grad is not None for p in model.first.params()))
        return start(buckets)

    monkeypatch.setattr(comm.reducer, 'start', note)
    multi = chainermn.create_multi_node_optimizer(
        chainer.optimizers.SGD(0.1), comm, bucket_bytes=1
    ).setup(model)
    for i, (x, t) in enumerate(batches(4)):
        del started[:], all_grads[:]
        multi.update(model, model.device.send(x), model.device.send(t))
        if i >= 2 and comm.size > 1:
            n_late = sum(all_grads)
            assert 0 < n_late < len(started) / 2


class Wide(chainer.Chain):
    """Network with large parameters, two of one size, whose gradients are made in shared memory."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(64, 1100)
            self.second = L.Linear(64, 1100)
            self.third = L.Linear(1100, 10)

    def forward(self, x, t):
        h = F.relu(self.first(x)) + F.relu(self.second(x))
        return F.softmax_cross_entropy(self.third(h), t)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('dtype', ['float32', 'float64', 'float16'])
@pytest.mark.parametrize('options', OPTIONS.values(), ids=OPTIONS)
def test_large_gradients(comm, options, dtype, device, monkeypatch):
    """Gradients that the program keeps, on some ranks, or all, stay as they are."""
    copies = []
    place = means.SharedRows._place

    def count_copies(self, *args):
        places, copied = place(self, *args)
        copies.append(sum([shared.nbytes >= 1 << 16 for _, shared in copied]))
        return places, copied

    monkeypatch.setattr(means.SharedRows, '_place', count_copies)
    kept = []
    models, optimizers = [], []
    for seed in 0, 1:
        numpy.random.seed(seed)
        with chainer.using_config('dtype', dtype):
            model = Wide()
        model.to_device(device)
        multi = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm, **options)
        models.append(model)
        optimizers.append(multi.setup(model))
    data = batches(7)
    for i, (x, t) in enumerate([data[0], *data]):
        x, t = x[comm.rank :: comm.size].astype(dtype), t[comm.rank :: comm.size]
        del copies[:]
        for model, optimizer in zip(models, optimizers):
            optimizer.update(model, model.device.send(x), model.device.send(t))
        if 4 <= i < 6 and comm.rank < i - 3:  # rank 0, then both
            grads = [p.grad for m in models for p in m.params() if p.grad is not None]
            kept += [(grad, grad.copy()) for grad in grads]
        elif (
            i in (2, 3)
            and comm.size > 1
            and dtype != 'float16'
            and kernels.HAS_CORE
            and options.get('sharded') != 'gradients'
        ):
            assert (sum(copies) == 0) == (options.get('bucket_bytes', 0) is not None)
    for grad, copy in kept:
        numpy.testing.assert_array_equal(chainer.get_device('@numpy').send(grad), copy)
    for seed, model in enumerate(models):
        actual = params_of(model)
        for other in comm.allgather_obj(actual):
            assert_close(other, actual, 0)
        numpy.random.seed(seed)
        with chainer.using_config('dtype', dtype):
            expected = Wide()
        train_data = [(x.astype(dtype), t) for x, t in data]
        whole = train(chainer.optimizers.SGD(0.1), expected, train_data, hooks=False)
        assert_close(actual, whole, 1e-2 if dtype == 'float16' else 1e-6)


def test_gradients_that_are_there_are_used(comm):
    model = make(seed=comm.rank)
    multi = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(0.1), comm).setup(model)
    (x, t), *_ = batches(1)
    multi.update(model, x, t)
    before = params_of(model)
    model.cleargrads()
    model(x, t).backward()
    grads = {path: param.grad for path, param in model.namedparams() if param.grad is not None}
    multi.update()
    assert_close(params_of(model), {k: v - 0.1 * grads.get(k, 0) for k, v in before.items()})


def test_sharded_state_is_divided(comm):
    multi = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(), comm, sharded=True)
    model = make()
    train(multi, model, batches(2), comm)
    states = [p.update_rule.state or {} for p in model.params()]
    size = sum([value.size for state in states for value in state.values()])
    whole = 2 * sum([param.size for param in model.params()])
    assert abs(size - whole / comm.size) <= 4


@pytest.mark.parametrize('sharded', [True, 'gradients', 'parameters'])
@pytest.mark.parametrize('device', DEVICES)
def test_divided_states_in_files(comm, sharded, device, folder):
    def run(state_folder):
        multi = chainermn.create_multi_node_optimizer(
            chainer.optimizers.Adam(), comm, sharded=sharded
        )
        chainer.optimizer.use_state_files(multi, state_folder)
        numpy.random.seed(0)
        model = L.Classifier(chainer.Sequential(L.Linear(64, 2048), F.relu, L.Linear(2048, 10)))
        model.to_device(device)
        multi.setup(model)
        for x, t in batches(3):
            multi.update(model, model.device.send(x), model.device.send(t))
        rules = {path: param.update_rule for path, param in model.namedparams()}
        return {
            f'{path}/{name}': chainer.get_device('@numpy').send(array)
            for path, rule in rules.items()
            for name, array in (rule.state or {}).items()
        }

    in_memory, in_files = run(None), run(folder)
    assert in_memory
    assert_close(in_files, in_memory, 0)
    comm.allgather_obj(None)  # all have made theirs
    assert os.listdir(folder) == []


def test_sharded_float16(comm):
    with chainer.using_config('dtype', chainer.mixed16):
        expected = train(chainer.optimizers.Adam(0.01), make(), batches(3))
        multi = chainermn.create_multi_node_optimizer(
            chainer.optimizers.Adam(0.01), comm, sharded=True
        )
        actual = train(multi, make(), batches(3), comm)
    assert actual['/first/W'].dtype == 'float16'
    assert_close(actual, expected, 2e-2)


def test_double_buffering(comm):
    """Each update uses the gradients of the one before, at the parameters of then."""
    multi = chainermn.create_multi_node_optimizer(
        chainer.optimizers.SGD(0.1), comm, double_buffering=True
    )
    actual = train(multi, make(seed=comm.rank), batches(4), comm, hooks=False)
    model = make()
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    before = None
    for x, t in batches(4):
        model.cleargrads()
        model(x, t).backward()
        optimizer.reallocate_cleared_grads()
        grads = {path: param.grad for path, param in model.namedparams()}
        if before is not None:
            for path, param in model.namedparams():
                param.grad = before[path]
            optimizer.update()
        before = grads
    assert_close(actual, params_of(model))


def test_parameters_that_come_later(comm):
    model = L.Linear(None, 2, nobias=True)
    multi = chainermn.create_multi_node_optimizer(chainer.optimizers.SGD(1), comm).setup(model)
    multi.update()
    model(numpy.ones((1, 3), 'float32'))
    model.W.array[...] = comm.rank
    model.cleargrads()
    multi.update()
    assert (model.W.array == 0).all()


def test_loaded_optimizers_go_on(comm, folder):
    model = make()
    multi = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(0.01), comm)
    train(multi, model, batches(3), comm)
    for name, obj in ('model', model), ('optimizer', multi):
        chainer.serializers.save_npz(f'{folder}/{name}{comm.rank}', obj)
    x, t = batches(4)[3]
    multi.update(model, x, t)
    other = make(seed=3)
    loaded = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(0.01), comm)
    loaded.setup(other)
    for name in 'WeightDecay', 'GradientClipping':
        loaded.add_hook(multi._pre_update_hooks[name])
    for name, obj in ('model', other), ('optimizer', loaded):
        chainer.serializers.load_npz(f'{folder}/{name}{comm.rank}', obj)
    loaded.update(other, x, t)
    assert_close(params_of(other), params_of(model), 0)


def test_attributes(comm):
    actual = chainer.optimizers.Adam()
    multi = chainermn.create_multi_node_optimizer(actual, comm)
    model = L.Linear(1, 1)
    assert multi.setup(model) is multi and multi.target is model
    multi.alpha = 0.5
    multi.use_auto_new_epoch = True
    assert actual.alpha == 0.5 and actual.use_auto_new_epoch
    multi.new_epoch(auto=True)
    assert multi.epoch == actual.epoch == 1
    with pytest.raises(AttributeError):
        multi.no_such_name


def test_bad_arguments(comm):
    class Rule(chainer.UpdateRule):
        def update_core(self, param):
            pass

    class Method(chainer.GradientMethod):
        def create_update_rule(self):
            return Rule(self.hyperparam)

    def create(*args, **kwargs):
        return chainermn.create_multi_node_optimizer(*args, comm, **kwargs)

    with pytest.raises(ValueError, match='exclude each other'):
        create(chainer.optimizers.SGD(), sharded=True, double_buffering=True)
    with pytest.raises(TypeError, match='needs a chainer.GradientMethod'):
        create(chainer.Optimizer(), sharded=True)
    with pytest.raises(RuntimeError, match='call `setup` method'):
        create(chainer.optimizers.SGD()).update()
    multi = create(Method(), sharded=True).setup(L.Linear(1, 1))
    multi.update()
    with pytest.raises(ValueError, match='Rule does not say so'):
        multi.update()
