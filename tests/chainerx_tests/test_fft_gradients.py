"""First and second gradients of Fourier transforms, against differences and the matrices of the transforms."""

import numpy as np
import pytest
from chainerx_tests.fourier import ONE_AXIS, REAL_INPUT, REAL_OUTPUT, SEVERAL, TRANSFORMS, numbers

import chainerx


def to_numpy(x):
    return chainerx.to_numpy(x.as_grad_stopped())


def real_view(a):
    """The numbers as a vector of real ones, such that scalar products are those of gradients."""
    a = np.asarray(a).ravel()
    return np.concatenate([a.real, a.imag]) if a.dtype.kind == 'c' else a


def jacobian(f, a):
    """The real matrix of a function that is linear in the parts of its argument."""
    columns = []
    for unit in [1.0, 1j] if a.dtype.kind == 'c' else [1.0]:
        for i in range(a.size):
            e = np.zeros(a.size, a.dtype)
            e[i] = unit
            columns.append(real_view(f(e.reshape(a.shape))))
    return np.stack(columns, 1)


CASES = [
    *(
        (name, (n,), {'norm': norm})
        for name in ONE_AXIS
        for n in (2, 5, 6)
        for norm in ('backward', 'ortho')
    ),
    *(
        (name, (3, 4), {'axis': 0, 'n': n, 'norm': 'forward'})
        for name in ONE_AXIS
        for n in (1, 2, 4, 5)
    ),
    *((name, (2, 3, 4), {}) for name in SEVERAL),
    *(
        (name, (2, 3, 4), {'axes': (2, 0), 's': s})
        for name in SEVERAL
        for s in ((3, 3), (5, 4), (2, 1))
    ),
]


@pytest.mark.parametrize('case', CASES, ids=str)
def test_gradients(case):
    """The gradient is the transposed matrix, that of the gradient the matrix."""
    name, shape, kwargs = case
    a = numbers(name, *shape)
    matrix = jacobian(lambda v: getattr(np.fft, name)(v, **kwargs), a)
    x = chainerx.array(a).require_grad()
    y = getattr(chainerx.fft, name)(x, **kwargs)
    rng = np.random.default_rng(1)
    gy = rng.normal(size=y.shape) + (0 if name in REAL_OUTPUT else 1j * rng.normal(size=y.shape))
    seed = chainerx.array(gy.astype(y.dtype)).require_grad()
    (gx,) = chainerx.grad([y], [x], grad_outputs=[seed], enable_double_backprop=True)
    assert gx.dtype == x.dtype and gx.shape == x.shape
    np.testing.assert_allclose(real_view(to_numpy(gx)), matrix.T @ real_view(gy), atol=1e-12)
    ggx = numbers(name, *shape, seed=2)
    (ggy,) = chainerx.grad([gx], [seed], grad_outputs=[chainerx.array(ggx)])
    np.testing.assert_allclose(real_view(to_numpy(ggy)), matrix @ real_view(ggx), atol=1e-12)


def loss(name, x, **kwargs):
    """A real number that depends on the transform in a way that is not linear."""
    y = getattr(chainerx.fft, name)(x, **kwargs)
    return (chainerx.real(y) ** 3 + chainerx.imag(y) ** 2 * chainerx.real(y)).sum()


def differences(f, a, eps=1e-5):
    grad = np.zeros_like(a)
    for i in np.ndindex(a.shape):
        for unit in [1, 1j] if a.dtype.kind == 'c' else [1]:
            values = []
            for step in (eps, -eps):
                moved = a.copy()
                moved[i] += step * unit
                values.append(f(moved))
            grad[i] += unit * (values[0] - values[1]) / (2 * eps)
    return grad


@pytest.mark.parametrize('name', TRANSFORMS)
def test_second_gradients_of_a_loss(name):
    a = numbers(name, 3, 4)
    weights = numbers(name, 3, 4, seed=3)

    def first(v, keep=False):
        x = chainerx.array(v).require_grad()
        (gx,) = chainerx.grad([loss(name, x)], [x], enable_double_backprop=keep)
        return x, gx

    def weighted(gx):
        w = chainerx.array(weights)
        return (chainerx.real(gx) * chainerx.real(w) + chainerx.imag(gx) * chainerx.imag(w)).sum()

    x, gx = first(a, keep=True)
    expected = differences(lambda v: float(loss(name, chainerx.array(v))), a)
    np.testing.assert_allclose(to_numpy(gx), expected, rtol=1e-6, atol=1e-6)
    (ggx,) = chainerx.grad([weighted(gx)], [x])
    expected = differences(lambda v: float(weighted(first(v)[1])), a)
    np.testing.assert_allclose(to_numpy(ggx), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'bfloat16'])
@pytest.mark.parametrize('name', REAL_INPUT)
def test_gradients_keep_the_dtype(name, dtype):
    x = chainerx.array(numbers(name, 4)).astype(dtype).require_grad()
    y = getattr(chainerx.fft, name)(x)
    chainerx.real(y).sum().backward()
    assert x.grad.dtype == x.dtype and x.grad.shape == x.shape


def test_power_is_kept():
    """Parseval: the sum of squares has the gradient 2x for every transform that keeps it."""
    for name in 'fft', 'ifft', 'fftn', 'ifftn':
        z = chainerx.array(numbers(name, 6, 5)).require_grad()
        y = getattr(chainerx.fft, name)(z, norm='ortho')
        (chainerx.absolute(y) ** 2).sum().backward()
        np.testing.assert_allclose(to_numpy(z.grad), 2 * to_numpy(z), atol=1e-12)


@pytest.mark.parametrize('n', [7, 8])
def test_doubled_half(n):
    """The frequencies of rfft, with their conjugates, have the power of the samples."""
    x = chainerx.array(numbers('rfft', n)).require_grad()
    power = chainerx.absolute(chainerx.fft.rfft(x, norm='ortho')) ** 2
    weights = np.full(n // 2 + 1, 2.0)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    (power * chainerx.array(weights)).sum().backward()
    np.testing.assert_allclose(to_numpy(x.grad), 2 * to_numpy(x), atol=1e-12)


@pytest.mark.parametrize('name', ['fftshift', 'ifftshift'])
def test_gradients_of_shifts(name):
    x = chainerx.array(numbers('fft', 3, 4)).require_grad()
    y = getattr(chainerx.fft, name)(x)
    gy = numbers('fft', 3, 4, seed=1)
    y.set_grad(chainerx.array(gy))
    chainerx.backward(y)
    other = {'fftshift': np.fft.ifftshift, 'ifftshift': np.fft.fftshift}[name]
    np.testing.assert_array_equal(to_numpy(x.grad), other(gy))
