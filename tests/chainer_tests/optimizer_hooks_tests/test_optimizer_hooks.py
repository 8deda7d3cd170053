import numpy
import pytest

import chainer
from chainer import optimizer_hooks as hooks
from chainer import testing


@pytest.fixture(params=['e', 'f', 'd'])
def link(request):
    link = chainer.Link()
    with link.init_scope():
        link.a = chainer.Parameter(numpy.array([[1, -2], [0, 4]], request.param))
        link.b = chainer.Parameter(numpy.array([3], request.param))
        link.uninitialized = chainer.Parameter()
    link.a.grad = numpy.array([[3, 0], [-1, 1]], request.param)
    link.b.grad = numpy.array([5], request.param)
    return link


def call(link, hook, loss_scale=None):
    """Returns the gradients that the hook leaves, in place, divided by the scale."""
    opt = chainer.optimizers.SGD().setup(link)
    opt.add_hook(hook)
    grads = link.a.grad, link.b.grad
    if loss_scale is not None:
        for param in link.params(False):
            param.grad *= loss_scale
            param._loss_scale = loss_scale
    before = link.a.array.copy()
    opt.call_hooks()
    assert link.a.grad is grads[0] and link.b.grad is grads[1]
    testing.assert_allclose(link.a.array, before)
    return [g.astype('d') / (loss_scale or 1) for g in grads]


def lars(p, g, threshold=0.01, decay=0.0, eps=1e-9):
    p, g = numpy.array(p, 'd'), numpy.array(g, 'd')
    p_norm, g_norm = numpy.linalg.norm(p), numpy.linalg.norm(g)
    return (g + decay * p) * threshold * p_norm / (eps + g_norm + decay * p_norm)


A, GA = [[1, -2], [0, 4]], [[3, 0], [-1, 1]]


@pytest.mark.parametrize('loss_scale', [None, 4])
@pytest.mark.parametrize('hook,a,b', [
    (hooks.WeightDecay(0.5), [[3.5, -1], [-1, 3]], [6.5]),
    (hooks.Lasso(0.5), [[3.5, -.5], [-1, 1.5]], [5.5]),
    (hooks.GradientHardClipping(-0.5, 2), [[2, 0], [-.5, 1]], [2]),
    (hooks.GradientClipping(3), [[1.5, 0], [-.5, .5]], [2.5]),
    (hooks.GradientClipping(7), [[3, 0], [-1, 1]], [5]),
    (hooks.GradientLARS(), lars(A, GA), lars([3], [5])),
    (hooks.GradientLARS(0.1, 0.2), lars(A, GA, 0.1, 0.2), lars([3], [5], 0.1, 0.2)),
    (hooks.GradientNoise(1, lambda xp, shape, dtype, hook, opt: xp.full(shape, 2, dtype)),
     [[5, 2], [1, 3]], [7]),
])
def test_values(link, hook, a, b, loss_scale):
    got_a, got_b = call(link, hook, loss_scale)
    tol = 5e-3 if link.a.dtype == numpy.float16 else 1e-6
    testing.assert_allclose(got_a, a, atol=tol, rtol=tol)
    testing.assert_allclose(got_b, b, atol=tol, rtol=tol)


def test_clipping_of_zero_gradients(link):
    for param in link.params(False):
        param.grad[...] = 0
    a, b = call(link, hooks.GradientClipping(1))
    assert (a == 0).all() and (b == 0).all()


def test_lars_of_zero_parameter(link):
    link.b.array[...] = 0
    testing.assert_allclose(call(link, hooks.GradientLARS())[1], [5])


def test_noise_decays():
    rule = chainer.UpdateRule()
    hook = hooks.GradientNoise(0.3)
    for t in (0, 10):
        rule.t = t
        noise = hook.noise_func(numpy, (2000,), numpy.dtype('f'), hook, rule)
        assert noise.dtype == numpy.float32
        testing.assert_allclose(noise.std(), (0.3 / (1 + t) ** .55) ** .5, rtol=0.1)


@pytest.mark.parametrize('name', [
    'GradientClipping', 'GradientHardClipping', 'GradientNoise', 'Lasso', 'WeightDecay'])
def test_deprecated_names(name):
    args = (1, 2) if name == 'GradientHardClipping' else (1,)
    with pytest.warns(DeprecationWarning, match=f'optimizer_hooks.{name}'):
        hook = getattr(chainer.optimizer, name)(*args)
    assert isinstance(hook, getattr(hooks, name))
    assert hook.name == type(hook).__name__ == name
    assert hook.timing == 'pre'
