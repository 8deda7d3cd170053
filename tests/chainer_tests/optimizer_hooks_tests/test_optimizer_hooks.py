import numpy
import pytest
from helpers.functions import GPUS

import chainer
import chainerx
from chainer import optimizer_hooks as hooks, testing
from tests.helpers.devices import CHX

native = pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
DEVICES = ['@numpy', pytest.param(CHX[0], marks=native), *GPUS]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(params=['e', 'f', 'd'])
def link(request, device):
    link = chainer.Link()
    with link.init_scope():
        link.a = chainer.Parameter(numpy.array([[1, -2], [0, 4]], request.param))
        link.b = chainer.Parameter(numpy.array([3], request.param))
        link.c = chainer.Parameter(numpy.array(0, request.param))
        link.empty = chainer.Parameter(numpy.zeros((0, 2), request.param))
        link.uninitialized = chainer.Parameter()
    link.to_device(device)
    for param, grad in (
        (link.a, [[3, 0], [-1, 1]]),
        (link.b, [5]),
        (link.c, 0),
        (link.empty, numpy.zeros((0, 2))),
    ):
        param.grad = param.device.send(numpy.array(grad, request.param))
    return link


def to_numpy(array):
    return chainer.get_device('@numpy').send(array)


def call(link, hook, loss_scale=None):
    """Returns the gradients that the hook leaves, in place, divided by the scale."""
    opt = chainer.optimizers.SGD().setup(link)
    opt.add_hook(hook)
    if loss_scale is not None:
        for param in link.params(False):
            with chainer.using_device(param.device):
                grad = param.grad.copy()
                grad *= loss_scale
            param.grad = grad
            param._loss_scale = loss_scale
    grads = link.a.grad, link.b.grad
    before = to_numpy(link.a.array).copy()
    opt.call_hooks()
    for param, grad in zip((link.a, link.b), grads):
        numpy.testing.assert_array_equal(to_numpy(param.grad), to_numpy(grad))
        assert param.grad.dtype == param.dtype
    testing.assert_allclose(link.a.array, before)
    return [to_numpy(g).astype('d') / (loss_scale or 1) for g in grads]


def lars(p, g, decay=0.0, eps=1e-9):
    p, g = numpy.array(p, 'd'), numpy.array(g, 'd')
    p_norm, g_norm = numpy.linalg.norm(p), numpy.linalg.norm(g)
    return (g + decay * p) * p_norm / (eps + g_norm + decay * p_norm)


A, GA = [[1, -2], [0, 4]], [[3, 0], [-1, 1]]


@pytest.mark.parametrize('loss_scale', [None, 4])
@pytest.mark.parametrize(
    'hook,a,b',
    [
        (hooks.WeightDecay(0.5), [[3.5, -1], [-1, 3]], [6.5]),
        (hooks.Lasso(0.5), [[3.5, -0.5], [-1, 1.5]], [5.5]),
        (hooks.GradientHardClipping(-0.5, 2), [[2, 0], [-0.5, 1]], [2]),
        (hooks.GradientClipping(3), [[1.5, 0], [-0.5, 0.5]], [2.5]),
        (hooks.GradientClipping(7), [[3, 0], [-1, 1]], [5]),
        (hooks.GradientLARS(), lars(A, GA), lars([3], [5])),
        (hooks.GradientLARS(0.1, 0.2), lars(A, GA, 0.2), lars([3], [5], 0.2)),
        (hooks.GradientLARS(4), lars(A, GA), [5]),  # the norms are sqrt(21) and 3
        (hooks.GradientLARS(4, 0.5, 2), lars(A, GA, 0.5, 2), [6.5]),
        (hooks.GradientLARS(3), lars(A, GA), [5]),
        (
            hooks.GradientNoise(1, lambda xp, shape, dtype, hook, opt: xp.full(shape, 2, dtype)),
            [[5, 2], [1, 3]],
            [7],
        ),
    ],
)
def test_values(link, hook, a, b, loss_scale):
    got_a, got_b = call(link, hook, loss_scale)
    tol = 5e-3 if link.a.dtype == numpy.float16 else 1e-6
    testing.assert_allclose(got_a, a, atol=tol, rtol=tol)
    testing.assert_allclose(got_b, b, atol=tol, rtol=tol)


def test_clipping_of_zero_gradients(link):
    for param in link.params(False):
        with chainer.using_device(param.device):
            param.grad.fill(0)
    a, b = call(link, hooks.GradientClipping(1))
    assert (a == 0).all() and (b == 0).all()


def test_lars_of_zero_parameter(link):
    with chainer.using_device(link.b.device):
        link.b.array.fill(0)
    testing.assert_allclose(call(link, hooks.GradientLARS())[1], [5])


def test_noise_decays():
    rule = chainer.UpdateRule()
    hook = hooks.GradientNoise(0.3)
    for t in (0, 10):
        rule.t = t
        noise = hook.noise_func(numpy, (2000,), numpy.dtype('f'), hook, rule)
        assert noise.dtype == numpy.float32
        testing.assert_allclose(noise.std(), (0.3 / (1 + t) ** 0.55) ** 0.5, rtol=0.1)


@pytest.mark.parametrize(
    'name', ['GradientClipping', 'GradientHardClipping', 'GradientNoise', 'Lasso', 'WeightDecay']
)
def test_deprecated_names(name):
    args = (1, 2) if name == 'GradientHardClipping' else (1,)
    with pytest.warns(DeprecationWarning, match=f'optimizer_hooks.{name}'):
        hook = getattr(chainer.optimizer, name)(*args)
    assert isinstance(hook, getattr(hooks, name))
    assert hook.name == type(hook).__name__ == name
    assert hook.timing == 'pre'


class ForEach:
    name = 'each'
    call_for_each_param = True
    timing = 'pre'

    def __init__(self, record):
        self.record = record

    def __call__(self, rule, param):
        self.record.append((self.name, param.name))


def test_order_and_timing(link):
    record = []
    opt = chainer.optimizers.SGD(lr=1).setup(link)
    link.uninitialized.initialize((1,))
    each, late = ForEach(record), ForEach(record)
    late.name, late.timing = 'late', 'post'
    opt.add_hook(each)
    opt.add_hook(lambda opt: record.append(('opt', opt.t)), name='whole')
    opt.add_hook(lambda opt: record.append(('after', opt.t)), name='after', timing='post')
    opt.add_hook(late)
    before = to_numpy(link.b.array).copy()
    opt.update()
    names = 'a', 'b', 'c', 'empty', 'uninitialized'
    assert record == [
        *[('each', name) for name in names],
        ('opt', 0),
        ('after', 1),
        *[('late', name) for name in names],
    ]
    testing.assert_allclose(link.b.array, before - 5)


@pytest.mark.parametrize(
    'make',
    [
        lambda: hooks.WeightDecay(0.5),
        lambda: hooks.Lasso(0.5),
        lambda: hooks.GradientLARS(),
        lambda: hooks.GradientHardClipping(-0.5, 0.5),
    ],
)
def test_hook_of_an_update_rule(link, make):
    # The same as a hook of the optimizer, but of one parameter.
    for param in link.params(False):
        param.name = None
    a, b = link.a.grad, link.b.grad
    expected = to_numpy(a).copy(), to_numpy(b).copy()
    opt = chainer.optimizers.SGD(lr=0).setup(link)
    link.a.update_rule.add_hook(make())
    link.a.update()
    link.b.update()
    numpy.testing.assert_array_equal(to_numpy(b), expected[1])
    changed = to_numpy(link.a.grad).copy()
    assert (changed != expected[0]).any()
    link.a.grad = link.a.device.send(expected[0])
    opt.add_hook(make())
    opt.call_hooks()
    numpy.testing.assert_array_equal(to_numpy(link.a.grad), changed)


@pytest.mark.parametrize('loss_scale', [None, 4])
@pytest.mark.parametrize('rate', [0.3, numpy.float32(0.3)])
@pytest.mark.parametrize('make', [hooks.WeightDecay, hooks.Lasso])
def test_all_parameters_at_once(link, make, rate, loss_scale):
    # The same bits as for one parameter after another; shared parameters change twice.
    model = chainer.Chain(one=link, two=link)
    hook = make(rate)
    start = [to_numpy(param.grad).copy() for param in link.params(False)]
    link.b._loss_scale = loss_scale
    opt = chainer.optimizers.SGD().setup(model)
    for param in model.params():
        hook(param.update_rule, param)
    expected = [to_numpy(param.grad).copy() for param in link.params(False)]
    for param, grad in zip(link.params(False), start):
        param.grad = param.device.send(grad)
    opt.add_hook(hook)
    opt.call_hooks()
    for param, grad in zip(link.params(False), expected):
        tol = 2e-3 if param.dtype == numpy.float16 else 0
        numpy.testing.assert_allclose(to_numpy(param.grad), grad, rtol=tol)


def test_subclass_of_a_hook(link):
    seen = []

    class Selective(hooks.WeightDecay):
        def __call__(self, rule, param):
            seen.append(param.name)
            if param.name == 'b':
                super().__call__(rule, param)

    a, b = call(link, Selective(0.5))
    assert set(seen) >= {'a', 'b', 'c'}
    testing.assert_allclose(a, GA)
    testing.assert_allclose(b, [6.5])


def test_hook_that_clears_gradients(link):
    def clear(opt):
        opt.target.cleargrads()

    def see(opt):
        assert opt.target.a.grad is not None

    opt = chainer.optimizers.SGD().setup(link)
    link.uninitialized.initialize((1,))
    opt.add_hook(clear)
    opt.add_hook(see)
    before = to_numpy(link.a.array).copy()
    opt.update()
    numpy.testing.assert_array_equal(to_numpy(link.a.array), before)


@native
@pytest.mark.parametrize(
    'hook',
    [
        hooks.WeightDecay(1e-3),
        hooks.Lasso(1e-3),
        hooks.GradientClipping(1e-3),
        hooks.GradientHardClipping(-1e-3, 1e-3),
        hooks.GradientLARS(),
        hooks.GradientLARS(weight_decay=1e-3),
    ],
)
def test_native_trains_as_numpy(hook):
    results = []
    for device in '@numpy', CHX[0]:
        rng = numpy.random.RandomState(0)
        link = chainer.links.Linear(None, 3, initialW=rng.randn(3, 4).astype('f'))
        link.to_device(device)
        opt = chainer.optimizers.MomentumSGD().setup(link)
        opt.add_hook(hook)
        for _ in range(4):
            x = link.device.send(rng.randn(5, 4).astype('f'))
            opt.update(lambda: chainer.functions.sum(link(x) ** 2))  # noqa: B023
        results.append(to_numpy(link.W.array))
    testing.assert_allclose(*results, rtol=1e-5)
