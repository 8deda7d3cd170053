"""Parameters that are updated together, on NumPy and ChainerX, against updates one by one."""

import copy
import pickle

import numpy
import pytest
from helpers.update_rules import all_rows

import chainer
import chainerx
from chainer import optimizers
from chainer._core.optimizers import step
from chainer.serializers import npz
from tests.helpers.devices import CHX, IS_CUDA

native = pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
DEVICES = [
    '@numpy',
    pytest.param(CHX[0], marks=native),
    # Beside ChainerX's CUDA devices, whose kernels update them.
    pytest.param('@cupy:0', marks=pytest.mark.gpu, id='cupy-cuda'),
]

# Small ones that are joined on NumPy, and one that is not.
SHAPES = [(3, 4), (), (5,), (0, 3), (1, 2, 3), (50, 60), (7,), (2, 2)]


def make_link(dtype='f', device='@numpy', shapes=SHAPES, seed=0):
    rng = numpy.random.RandomState(seed)
    link = chainer.Link()
    for i, shape in enumerate(shapes):
        value = numpy.asarray(rng.uniform(-1, 1, shape)).astype(dtype)
        link.add_param(f'p{i}', initializer=value)
    link.to_device(device)
    return link


def set_grads(link, t):
    rng = numpy.random.RandomState(100 + t)
    for param in link.params():
        g = numpy.asarray(rng.uniform(-1, 1, param.shape)).astype(param.dtype)
        param.grad = param.device.send(g)


def to_numpy(array):
    return chainer.get_device('@numpy').send(array)


def assert_equal(link, expected):
    for p, q in zip(link.params(), expected.params()):
        numpy.testing.assert_array_equal(to_numpy(p.array), to_numpy(q.array))
        assert p.update_rule.t == q.update_rule.t
        assert list(p.update_rule.state) == list(q.update_rule.state)
        for name, value in p.update_rule.state.items():
            assert value.dtype == p.dtype
            numpy.testing.assert_array_equal(
                to_numpy(value), to_numpy(q.update_rule.state[name]), name
            )


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@all_rows
def test_same_bits_as_array_operations_one_by_one(row, dtype, device):
    link, reference = make_link(dtype, device), make_link(dtype)
    opt = row.make().setup(link)
    row.make().setup(reference)
    arrays = [param.array for param in link.params()]
    for t in range(3):
        set_grads(link, t)
        set_grads(reference, t)
        grads = [to_numpy(param.grad).copy() for param in link.params()]
        opt.update()
        with chainer.using_config('use_native_kernels', 'never'):
            for param in reference.params():
                param.update()
        for param, array, grad in zip(link.params(), arrays, grads):
            assert param.array is array
            numpy.testing.assert_array_equal(to_numpy(param.grad), grad)
    assert_equal(link, reference)


@pytest.mark.parametrize('dtype', ['e', 'f'])
@all_rows
def test_blocks_of_large_arrays(row, dtype, monkeypatch):
    shapes = [(7, 30), (7, 31), (200,)]
    link, reference = make_link(dtype, shapes=shapes), make_link(dtype, shapes=shapes)
    for target in link, reference:
        target.p1.array = target.p1.array.T  # not contiguous
    for target, block in (link, 10), (reference, 10**6):
        monkeypatch.setattr(step, '_BLOCK', block)
        row.make().setup(target)
        for t in range(2):
            set_grads(target, t)
            for param in target.params():
                param.update()
    assert_equal(link, reference)


@native
@pytest.mark.parametrize('loss_scale', [None, 8])
@all_rows
def test_one_by_one_on_chainerx(row, loss_scale):
    link, reference = make_link('f', CHX[0]), make_link('f')
    for target in (link, reference):
        row.make().setup(target)
        for t in range(2):
            set_grads(target, t)
            for param in target.params():
                param._loss_scale = loss_scale
                param.update()
    assert_equal(link, reference)


@pytest.mark.parametrize('loss_scale', [None, 8])
@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('make', [optimizers.SGD, optimizers.Adam, optimizers.AMSBound])
def test_master_copies(make, device, loss_scale):
    link, reference = make_link('e', device), make_link('f')
    opt = make()
    opt.use_fp32_update()
    opt.setup(link)
    make().setup(reference)
    for t in range(3):
        set_grads(link, t)
        for p, q in zip(link.params(), reference.params()):
            q.grad = to_numpy(p.grad).astype('f')
            q.grad /= loss_scale or 1
            if t == 0:  # both start from the same value
                q.array[...] = to_numpy(p.array)
            p._loss_scale = loss_scale
        opt.update()
        for q in reference.params():
            q.update()
    for p, q in zip(link.params(), reference.params()):
        master = p.update_rule._fp32_param
        assert p.dtype == numpy.float16 and p._loss_scale is None
        assert master.dtype == numpy.float32 and master.grad is None
        assert master.device == p.device
        numpy.testing.assert_array_equal(to_numpy(master.array), q.array)
        numpy.testing.assert_array_equal(to_numpy(p.array), q.array.astype('e'))


@pytest.mark.parametrize('device', DEVICES)
def test_parameters_that_differ(device):
    # Hyperparameters, rules, hooks and counts of steps of their own; disabled; without a gradient.
    def prepare(link):
        opt = optimizers.Adam().setup(link)
        rules = [param.update_rule for param in link.params()]
        rules[0].hyperparam.alpha = 0.1
        rules[1].hyperparam.amsgrad = True
        rules[2].enabled = False
        rules[3].t = 5

        def double(rule, param):
            param.grad = param.grad * 2

        rules[4].add_hook(double)
        link.p6.update_rule = optimizers.sgd.SGDRule(lr=0.5)
        link.p7.update_rule = None
        return opt

    shapes = [(3, 4)] * 8
    link, reference = make_link('f', device, shapes), make_link('f', shapes=shapes)
    before = link.p2.array.copy(), link.p7.array.copy()
    opt = prepare(link)
    prepare(reference)
    for t in range(3):
        set_grads(link, t)
        set_grads(reference, t)
        opt.update()
        for param in reference.params():
            param.update()
    for p, q in zip(link.params(), reference.params()):
        numpy.testing.assert_array_equal(to_numpy(p.array), q.array)
        if p.update_rule is not None:
            assert p.update_rule.t == q.update_rule.t
    for param, value in zip((link.p2, link.p7), before):
        numpy.testing.assert_array_equal(to_numpy(param.array), to_numpy(value))


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('make', [optimizers.SGD, optimizers.Adam, optimizers.AdaBound])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
def test_hyperparameters_of_other_types(make, dtype, device):
    # NumPy's scalars do not make results wider, and arrays have values for the elements.
    results = []
    for value in 0.5, numpy.float32(0.5), numpy.float64(0.5), numpy.array(0.5), numpy.full(3, 0.5):
        link = make_link(dtype, device, [(3,)] * 5)
        opt = make(value).setup(link)
        for t in range(2):
            set_grads(link, t)
            opt.update()
        results.append([to_numpy(param.array) for param in link.params()])
    for result in results:
        assert result[0].dtype == dtype
        numpy.testing.assert_allclose(result, results[0], rtol=2e-3 if dtype == 'e' else 1e-6)


@pytest.mark.parametrize('together', [True, False])
@pytest.mark.parametrize('device', DEVICES)
def test_states_of_another_dtype(device, together):
    # As they come from a file of a model in double precision.
    link, reference = make_link('f', device, [(3,)] * 5), make_link('d', shapes=[(3,)] * 5)
    for target in link, reference:
        opt = optimizers.Adam().setup(target)
        for param in target.params():
            param.update_rule._state = {name: numpy.full(3, 0.25) for name in ('m', 'v')}
            param.grad = param.device.send(numpy.full(3, 0.5, param.dtype))
            if target is not link or not together:
                param.update()
        if target is link and together:
            opt.update()
    for p, q in zip(link.params(), reference.params()):
        assert p.dtype == numpy.float32
        numpy.testing.assert_allclose(to_numpy(p.array), q.array, rtol=1e-4)
        for name, value in p.update_rule.state.items():
            numpy.testing.assert_allclose(to_numpy(value), q.update_rule.state[name], rtol=1e-6)


@pytest.mark.parametrize('device', DEVICES)
def test_bounds_follow_the_rule_that_was_made_first(device):
    # AdaBound's bounds are relative to alpha when the rule was made.
    link, reference = make_link('f', device, [(3,)] * 5), make_link('f', shapes=[(3,)] * 5)
    for target in link, reference:
        opt = optimizers.AdaBound(alpha=0.1, gamma=10).setup(target)
        opt.alpha = 0.01
        target.p3.update_rule = opt.create_update_rule()
        set_grads(target, 0)
        if target is link:
            opt.update()
        else:
            for param in target.params():
                param.update()
    assert_equal(link, reference)


@pytest.mark.parametrize('device', DEVICES)
def test_shared_parameters_and_arrays(device):
    # A link that is registered twice is updated twice, as are parameters that share an array.
    shapes = [(3,)] * 6
    child = make_link('f', device, shapes)
    model = chainer.Chain(a=child, b=child)
    before = to_numpy(child.p0.array).copy()
    opt = optimizers.SGD(lr=1).setup(model)
    for param in child.params():
        param.grad = param.device.xp.ones_like(param.array)
    opt.update()
    numpy.testing.assert_array_equal(to_numpy(child.p0.array), before - 1 - 1)

    link = make_link('f', device, shapes)
    link.p1.array = link.p0.array
    before = to_numpy(link.p0.array).copy()
    opt = optimizers.SGD(lr=1).setup(link)
    for param in link.params():
        param.grad = param.device.xp.ones_like(param.array)
    opt.update()
    numpy.testing.assert_array_equal(to_numpy(link.p0.array), before - 1 - 1)
    numpy.testing.assert_array_equal(to_numpy(link.p1.array), before - 1 - 1)


def test_sets_of_parameters_that_alternate():
    # What is joined changes from update to update, and states are replaced from outside.
    shapes = [(3,), (2, 2), (), (4,), (1, 5), (6,), (2,), (7,)]
    link, reference = make_link(shapes=shapes), make_link(shapes=shapes)
    opt = optimizers.Adam().setup(link)
    optimizers.Adam().setup(reference)
    for t in range(6):
        for target in (link, reference):
            set_grads(target, t)
            for i, param in enumerate(target.params()):
                param.update_rule.enabled = bool(t % 3 != 1 or i % 2)
            if t == 4:
                state = target.p1.update_rule.state
                state['m'] = state['m'] * 2
        opt.update()
        for param in reference.params():
            param.update()
    assert_equal(link, reference)


def test_arrays_that_are_replaced():
    link, reference = make_link(), make_link()
    opt = optimizers.Adam().setup(link)
    optimizers.Adam().setup(reference)
    for t in range(4):
        for target in (link, reference):
            target.p0.array = target.p0.array * 2
            if t == 2:
                target.p4.array = target.p4.array.reshape(6)
                state = target.p4.update_rule.state
                state.update({name: value.reshape(6) for name, value in state.items()})
            set_grads(target, t)
        opt.update()
        for param in reference.params():
            param.update()
    assert_equal(link, reference)


@pytest.mark.parametrize('convert', [copy.deepcopy, lambda opt: pickle.loads(pickle.dumps(opt))])
@pytest.mark.parametrize('device', DEVICES)
@all_rows
def test_copies_go_on_alike(row, device, convert):
    link = make_link('f', device)
    opt = row.make().setup(link)
    set_grads(link, 0)
    opt.update()
    other = convert(opt)
    assert other.target is not link
    for o in (opt, other):
        set_grads(o.target, 1)
        o.update()
    assert_equal(other.target, link)


@native
@pytest.mark.parametrize('fp32', [False, True])
@pytest.mark.parametrize('saved,loaded', [(CHX[0], CHX[0]), (CHX[0], '@numpy'), ('@numpy', CHX[0])])
@all_rows
def test_resume_on_another_device(row, saved, loaded, fp32):
    def begin(device, seed):
        link = make_link('e' if fp32 else 'f', device, seed=seed)
        opt = row.make()
        opt.use_fp32_update(fp32)
        return link, opt.setup(link)

    def train(link, opt, steps):
        for t in steps:
            set_grads(link, t)
            opt.update()

    link, opt = begin(saved, 0)
    train(link, opt, range(2))
    with chainer.using_config('exact_resume', 'always'):
        stored = [{k: v.copy() for k, v in npz.serialize(obj).items()} for obj in (link, opt)]
    train(link, opt, range(2, 4))
    link2, opt2 = begin(loaded, 1)
    for values, obj in zip(stored, (link2, opt2)):
        npz.NpzDeserializer(values).load(obj)
    train(link2, opt2, range(2, 4))
    assert opt2.t == 4
    for p, q in zip(link.params(), link2.params()):
        numpy.testing.assert_array_equal(to_numpy(p.array), to_numpy(q.array))


@native
@all_rows
def test_state_follows_the_device(row):
    link, reference = make_link(), make_link()
    opt = row.make().setup(link)
    row.make().setup(reference)
    for t, device in enumerate([CHX[0], '@numpy', CHX[0], CHX[1], '@numpy']):
        link.to_device(device)
        set_grads(link, t)
        set_grads(reference, t)
        opt.update()
        for param in reference.params():
            param.update()
        for param in link.params():
            for value in param.update_rule.state.values():
                assert chainer.backend.get_device_from_array(value) == param.device
    assert_equal(link, reference)


@pytest.mark.parametrize('device', DEVICES)
def test_gradients_that_are_missing(device):
    # Of initialized parameters they count as zeros; updates of others are only counted.
    link, reference = make_link('f', device), make_link()
    for target in link, reference:
        opt = optimizers.AdamW(weight_decay_rate=0.1).setup(target)
        target.add_param('late')
        target.late.update_rule = opt.create_update_rule()
        for param in target.params(False):
            param.grad = param.device.send(numpy.ones(param.shape, 'f'))
        for param in target.p1, target.p5, target.late:
            param.cleargrad()
        if target is link:
            opt.update()
        else:
            opt.reallocate_cleared_grads()
            for param in target.params():
                param.update()
    assert link.late.array is None and link.late.update_rule.t == 1
    assert all(param.grad is not None for param in link.params(False))
    for p, q in zip(link.params(False), reference.params(False)):
        numpy.testing.assert_array_equal(to_numpy(p.array), q.array)


@pytest.mark.parametrize('base', [optimizers.sgd.SGDRule, optimizers.adam.AdamRule])
@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('method', ['update', 'update_core', 'update_core_{}'])
def test_overridden_methods_are_called(base, method, device):
    is_on_gpu = device.startswith('@cupy') or (IS_CUDA and device == CHX[0])
    method = method.format('gpu' if is_on_gpu else 'cpu')
    check_that_an_override_is_called(base, method, device)


@native
def test_overridden_update_on_chainerx_is_called():
    check_that_an_override_is_called(optimizers.adam.AdamRule, 'update_core_chainerx', CHX[0])


def check_that_an_override_is_called(base, method, device):
    called = []

    def override(rule, param):
        called.append(param.name)
        param.array[...] -= param.grad

    rule_class = type('Rule', (base,), {method: override})
    link = make_link('f', device)
    opt = optimizers.Adam().setup(link)
    for param in link.params():
        param.update_rule = rule_class(opt.hyperparam, 1)
    set_grads(link, 0)
    expected = [to_numpy(p.array) - to_numpy(p.grad) for p in link.params()]
    opt.update()
    assert sorted(called) == sorted(param.name for param in link.params())
    for param, e in zip(link.params(), expected):
        numpy.testing.assert_array_equal(to_numpy(param.array), e)


@pytest.mark.parametrize('device', DEVICES)
def test_overridden_initial_state(device):
    class Rule(optimizers.momentum_sgd.MomentumSGDRule):
        def init_state(self, param):
            super().init_state(param)
            self.state['v'] += 1

    link = make_link('f', device)
    opt = optimizers.MomentumSGD(lr=1, momentum=0.5).setup(link)
    for param in link.params():
        param.update_rule = Rule(opt.hyperparam)
    set_grads(link, 0)
    expected = [to_numpy(p.array) + (0.5 - to_numpy(p.grad)) for p in link.params()]
    opt.update()
    for param, e in zip(link.params(), expected):
        numpy.testing.assert_allclose(to_numpy(param.array), e, rtol=1e-5)


@all_rows
def test_without_chainerx(row, monkeypatch):
    link, reference = make_link(), make_link()
    opts = [row.make().setup(target) for target in (link, reference)]
    for target, opt in zip((link, reference), opts):
        set_grads(target, 0)
        opt.update()
        monkeypatch.setattr(chainerx, 'is_available', lambda: False)
        monkeypatch.setattr(step, 'run_kernel', None)  # which would be an error
    assert_equal(link, reference)
