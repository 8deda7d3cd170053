import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F
from chainer.functions.util import forget

_rng = np.random.RandomState(0)


def _draw(*shapes):
    return [_rng.uniform(-1, 1, s) for s in shapes]


@pytest.mark.parametrize(
    'f, n',
    [
        (lambda x: F.tanh(x) * x, 1),
        (lambda x, y: F.exp(x) * y, 2),
        (lambda x, y: (x * y, F.sin(x)), 2),
        (F.identity, 1),
        (lambda x: (x * x, F.floor(x)), 1),
    ],
)
def test_forget(f, n):
    check_function(
        lambda *xs: F.forget(f, *xs),
        _draw(*[(2, 3)] * n),
        lambda *xs: [y.array for y in _as_tuple(f(*map(chainer.Variable, xs)))],
        double=False,
    )


def _as_tuple(ys):
    return ys if isinstance(ys, tuple) else (ys,)


def test_intermediate_results_are_forgotten():
    x = chainer.Variable(_draw((2, 3))[0])
    y = F.forget(lambda x: F.exp(F.sin(x)), x)
    assert y.creator.inputs[0] is x.node


_on_devices = pytest.mark.parametrize(
    'device', ['@numpy', pytest.param('native:0', marks=pytest.mark.chainerx)]
)


@_on_devices
@pytest.mark.parametrize('with_input', [False, True])
def test_parameters_get_gradients(with_input, device):
    w, x = chainer.Parameter(_draw((2, 3))[0]), _draw((2, 3))[0]
    w.to_device(device)
    w.cleargrad()
    v = w.device.send(x)
    calls = []

    def func(*xs):
        calls.append(None)
        return w * (xs[0] if xs else v)

    y = F.forget(func, v) if with_input else F.forget(func)
    assert len(calls) == 1
    F.sum(y).backward()
    np.testing.assert_allclose(chainer.backend.CpuDevice().send(w.grad), x)


def _tied(w, v, x, order, forget=F.forget):
    """Uses ``w`` inside and outside of ``forget``, whichever gradient comes first."""
    inner = lambda h: F.tanh(w * h)  # noqa: E731
    h = v * x
    if order == 'inside first':
        return F.sum((w * forget(inner, h)) ** 2)
    if order == 'outside first':
        return F.sum(forget(inner, w * h) ** 2)
    if order == 'twice inside':
        return F.sum((w * forget(inner, forget(inner, h))) ** 2)
    return F.sum(w * forget(lambda h: forget(inner, h) * w, h))


@_on_devices
@pytest.mark.parametrize('start', [False, True])
@pytest.mark.parametrize('loss_scale', [None, 8.0])
@pytest.mark.parametrize('order', ['inside first', 'outside first', 'twice inside', 'nested'])
def test_parameters_that_are_also_used_outside(order, loss_scale, start, device):
    grads = []
    arrays = [a.astype(np.float32) for a in _draw((2, 3), (2, 3), (2, 3))]
    for recompute in F.forget, lambda f, *xs: f(*xs):
        w, v = [chainer.Parameter(a.copy()) for a in arrays[:2]]
        x = chainer.Variable(arrays[2])
        for var in w, v, x:
            var.to_device(device)
            var.grad = var.xp.ones_like(var.array) if start and var is not x else None
        _tied(w, v, x, order, recompute).backward(loss_scale=loss_scale)
        grads.append([chainer.backend.CpuDevice().send(var.grad) for var in (w, v, x)])
        grads[-1] += [var._loss_scale for var in (w, v)]
    for actual, expected in zip(*grads):
        if isinstance(actual, np.ndarray):
            np.testing.assert_allclose(actual, expected, rtol=1e-5)
        else:
            assert actual == expected


@_on_devices
@pytest.mark.parametrize('with_input', [False, True])
@pytest.mark.parametrize('compiles', [False, True])
def test_loss_scale_of_an_optimizer(compiles, with_input, device):
    w = chainer.Parameter(np.full(2, 3, np.float16))
    model = chainer.Chain()
    with model.init_scope():
        model.w = w
    model.to_device(device)
    x = model.device.send(np.array([1e-4, 2], np.float16))  # its gradient is nothing without scale
    optimizer = chainer.optimizers.SGD(1.0).setup(model)
    optimizer.loss_scaling(scale=2.0**10)

    def loss():
        y = F.forget(lambda v: w * v, x) if with_input else F.forget(lambda: w * x)
        return F.sum(y * model.xp.array([1e-4, 0.25], np.float16))

    step = (lambda: optimizer.update(loss)) if not compiles else chainer.compile(optimizer.update)
    for _ in range(3):
        step() if not compiles else step(loss)
    np.testing.assert_allclose(chainer.backend.CpuDevice().send(w.array), [3, 1.5], rtol=1e-3)


def test_passes_that_users_run_inside():
    """A gradient of a function may run a whole pass that adds to gradients of parameters."""

    class Recompute(chainer.FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((0,))
            return (w.array * inputs[0],)

        def backward(self, indexes, grad_outputs):
            x = chainer.Variable(self.get_retained_inputs()[0].array)
            with chainer.force_backprop_mode():
                y = w * x
            y.grad = grad_outputs[0].array
            y.backward()
            return (x.grad_var,)

    w, x = chainer.Parameter(_draw((2, 3))[0]), chainer.Variable(_draw((2, 3))[0])
    w.cleargrad()
    h = Recompute().apply((x,))[0]
    F.sum(w * h).backward()
    np.testing.assert_allclose(w.grad, 2 * w.array * x.array)
    np.testing.assert_allclose(x.grad, w.array**2)


def test_unused_output():
    x = chainer.Variable(_draw((2, 3))[0])
    y, _ = F.forget(lambda x: (x * 2, x * 3), x)
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, 2)


def test_statistics_are_updated_once():
    x, gamma, beta = chainer.Variable(_draw((4, 3))[0]), np.ones(3), np.zeros(3)
    mean, var = np.zeros(3), np.ones(3)
    y = F.forget(
        lambda x: F.batch_normalization(
            x, gamma, beta, running_mean=mean, running_var=var, decay=0.5
        ),
        x,
    )
    F.sum(y * y).backward()
    np.testing.assert_allclose(mean, 0.5 * x.array.mean(0))


def test_remembered_values_come_back_in_order():
    def func(x):
        first = forget.remember(lambda: float(next(counter)))
        second = F.forget(lambda x: x * forget.remember(lambda: float(next(counter))), x)
        return x * first + second

    counter = iter(range(1, 9))
    x = chainer.Variable(np.ones(1))
    y = F.forget(func, x) + 10 * F.forget(func, x)
    np.testing.assert_array_equal(y.array, 1 + 2 + 10 * (3 + 4))
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, 1 + 2 + 10 * (3 + 4))
    assert next(counter) == 5 and forget.remember(lambda: 'outside') == 'outside'


def test_config_tells_of_recomputing():
    seen = []

    def func(x):
        config = chainer.config
        seen.append((getattr(config, '_will_recompute', False), config.in_recomputing))
        return x * 2

    F.sum(F.forget(func, chainer.Variable(np.ones(1)))).backward()
    assert seen == [(True, False), (False, True)]


def test_double_backprop_is_refused():
    x = chainer.Variable(_draw((2, 3))[0])
    y = F.sum(F.forget(F.sin, x))
    with pytest.raises(RuntimeError, match='double'):
        y.backward(enable_double_backprop=True)


@pytest.mark.parametrize(
    'f, error',
    [
        (1, TypeError),
        (lambda x: x.array, RuntimeError),
        (lambda x: (x, x.array), RuntimeError),
        (lambda x: [x], RuntimeError),
        (lambda x: None, RuntimeError),
    ],
)
def test_bad_function(f, error):
    with pytest.raises(error):
        F.forget(f, np.ones(3, 'f'))
