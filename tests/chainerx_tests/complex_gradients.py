"""Checks of gradients of complex numbers against differences, for functions ``f(np, *arrays)`` of NumPy and ChainerX."""

import numpy as np

import chainerx

COMPLEX = 'complex64', 'complex128'


def make(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.3, 1.5, shape) * np.exp(1j * rng.uniform(-2.5, 2.5, shape))


def to_numpy(x):
    return chainerx.to_numpy(x.as_grad_stopped())


def loss(gy, y):
    """The real number whose gradient with respect to y is gy."""
    return np.sum(gy.real * y.real + gy.imag * y.imag)


def differences(f, arrays, eps=1e-6):
    """The gradient dL/dx + i dL/dy of a real function of complex arrays."""
    grads = []
    for i, a in enumerate(arrays):
        grad = np.zeros_like(a)
        for j in np.ndindex(a.shape):
            for unit in 1, 1j:
                values = []
                for step in eps, -eps:
                    moved = [b.copy() for b in arrays]
                    moved[i][j] += step * unit
                    values.append(f(*moved))
                grad[j] += unit * (values[0] - values[1]) / (2 * eps)
        grads.append(grad)
    return grads


def gradients(f, arrays, gy, keep=False):
    xs = [chainerx.array(a).require_grad() for a in arrays]
    y = f(chainerx, *xs)
    y.set_grad(chainerx.array(gy.astype(y.dtype)))
    chainerx.backward(y, enable_double_backprop=keep)
    return xs, [x.grad for x in xs]


def _output_gradient(f, arrays):
    y = np.asarray(f(np, *arrays))
    gy = make(*y.shape, seed=9)
    return gy if np.iscomplexobj(y) else gy.real


def check_gradients(f, arrays):
    gy = _output_gradient(f, arrays)
    _, grads = gradients(f, arrays, gy)
    expected = differences(lambda *a: loss(gy, np.asarray(f(np, *a))), arrays)
    for grad, wanted in zip(grads, expected, strict=True):
        assert grad.dtype == 'complex128'
        np.testing.assert_allclose(to_numpy(grad), wanted, rtol=1e-6, atol=1e-7)
    for dtype in COMPLEX:
        _, narrow = gradients(f, [a.astype(dtype) for a in arrays], gy)
        for grad, wanted in zip(narrow, grads, strict=True):
            assert grad.dtype == dtype
            np.testing.assert_allclose(to_numpy(grad), to_numpy(wanted), rtol=1e-3, atol=1e-4)


def check_second_gradients(f, arrays):
    gy = _output_gradient(f, arrays)
    ggx = [make(*a.shape, seed=10 + i) for i, a in enumerate(arrays)]

    def second_loss(*moved):
        _, grads = gradients(f, moved, gy)
        return sum(loss(g, to_numpy(grad)) for g, grad in zip(ggx, grads, strict=True))

    xs, grads = gradients(f, arrays, gy, keep=True)
    for x in xs:
        x.cleargrad()
    wanted = [g for g in grads if g.is_backprop_required()]
    if wanted:
        for g, gg in zip(grads, ggx, strict=True):
            if g.is_backprop_required():
                g.set_grad(chainerx.array(gg))
        chainerx.backward(wanted)
    for x, expected in zip(xs, differences(second_loss, arrays), strict=True):
        actual = np.zeros_like(expected) if x.grad is None else to_numpy(x.grad)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
