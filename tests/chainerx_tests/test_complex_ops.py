"""Ops of complex numbers: values against NumPy, first and second gradients against differences."""

import numpy as np
import pytest
from chainerx_tests.complex_gradients import (
    COMPLEX,
    check_gradients,
    check_second_gradients,
    make,
    to_numpy,
)

import chainerx

TOLERANCE = {'complex64': 2e-5, 'complex128': 1e-12}

A, B, M, V = make(2, 3), make(2, 3, seed=1), make(3, 3, seed=2), make(3, seed=3)
ROW = make(1, 3, seed=4)
CASES = {
    'add': (lambda np, x, y: x + y, A, ROW),
    'subtract': (lambda np, x, y: x - y, A, B),
    'multiply': (lambda np, x, y: x * y, A, ROW),
    'divide': (lambda np, x, y: x / y, A, B),
    'power': (lambda np, x, y: x**y, A, B),
    'power_2': (lambda np, x: x**2, A),
    'power_3': (lambda np, x: x**3, A),
    'power_-2': (lambda np, x: x**-2, A),
    'power_half': (lambda np, x: x**0.5, A),
    'power_number': (lambda np, x: (1 + 2j) ** x, A),
    'negative': (lambda np, x: -x, A),
    'number': (lambda np, x: (2 - 1j) * x + 3j, A),
    'where': (lambda np, x, y: np.where(np.real(x) > 0, x, y), A, B),
    'conj': (lambda np, x: np.conj(x) * x, A),
    'real': (lambda np, x: np.real(x) * x, A),
    'imag': (lambda np, x: np.imag(x) * x, A),
    'angle': (lambda np, x: np.angle(x), A),
    'absolute': (lambda np, x: np.absolute(x), A),
    'sum': (lambda np, x: np.sum(x, axis=0), A),
    'mean': (lambda np, x: np.mean(x, axis=1), A),
    'var': (lambda np, x: np.var(x, axis=1), A),
    'std': (lambda np, x: np.std(x), A),
    'prod': (lambda np, x: np.prod(x, axis=1), A),
    'cumsum': (lambda np, x: np.cumsum(x, axis=1), A),
    'cumprod': (lambda np, x: np.cumprod(x, axis=1), A),
    'diff': (lambda np, x: np.diff(x), A),
    'dot': (lambda np, x, y: np.dot(x, y), A, M),
    'dot_vectors': (lambda np, x, y: np.dot(x, y), V, V[::-1]),
    'matmul': (lambda np, x, y: x @ y, make(2, 1, 3, 2), make(2, 2, 2, seed=1)),
    'matmul_stack': (lambda np, x, y: x @ y, make(4, 2, 3), make(4, 3, 1, seed=1)),
    'tensordot': (lambda np, x, y: np.tensordot(x, y, axes=1), A, M),
    'einsum': (lambda np, x, y: np.einsum('ij,jk->ki', x, y), A, M),
    'inner': (lambda np, x, y: np.inner(x, y), A, B),
    'vdot': (lambda np, x, y: np.vdot(x, y), A, B),
    'outer': (lambda np, x, y: np.outer(x, y), V, V),
    'kron': (lambda np, x, y: np.kron(x, y), A, ROW),
    'cross': (lambda np, x, y: np.cross(x, y), A, B),
    'trace': (lambda np, x: np.trace(x), M),
    'norm': (lambda np, x: np.linalg.norm(x, axis=1), A),
    'norm_1': (lambda np, x: np.linalg.norm(x, 1, axis=1), A),
    'reshape': (lambda np, x: np.reshape(x, (3, 2)).T, A),
    'getitem': (lambda np, x: x[0, ::2], A),
    'concatenate': (lambda np, x, y: np.concatenate([x, y], axis=0), A, B),
    'broadcast_to': (lambda np, x: np.broadcast_to(x, (4, 3)), ROW),
    'astype': (lambda np, x: x.astype('complex128') * 2, A),
}
for name in (
    'exp exp2 expm1 log log1p log2 log10 sqrt square reciprocal sin cos tan arcsin arccos arctan '
    'sinh cosh tanh arcsinh arccosh arctanh'
).split():
    CASES[name] = (lambda np, x, name=name: getattr(np, name)(x)), A


@pytest.mark.parametrize('dtype', COMPLEX)
@pytest.mark.parametrize('name', CASES)
def test_values(name, dtype):
    f, *arrays = CASES[name]
    arrays = [a.astype(dtype) for a in arrays]
    expected = f(np, *arrays)
    y = f(chainerx, *map(chainerx.array, arrays))
    assert y.dtype == expected.dtype and y.shape == np.shape(expected)
    np.testing.assert_allclose(to_numpy(y), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    # Not contiguous, and empty.
    strided = [chainerx.array(np.repeat(a, 2, -1))[..., ::2] for a in arrays]
    np.testing.assert_allclose(
        to_numpy(f(chainerx, *strided)), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
    )


@pytest.mark.parametrize(
    'name', ['sign', 'logical_not', 'isnan', 'any', 'all', 'count_nonzero', 'round']
)
def test_values_without_gradients(name):
    a = np.array([[0, 1 + 2j, np.nan], [-3.5j, 0.25 - 1.75j, 1]])
    with np.errstate(invalid='ignore'):
        expected = np.asarray(getattr(np, name)(a))
        if name == 'sign':  # NumPy 1.26 has another one
            expected = np.where(a == 0, 0, a / np.where(a == 0, 1, np.abs(a)))
    y = getattr(chainerx, name)(chainerx.array(a))
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(to_numpy(y), expected)


@pytest.mark.parametrize(
    'name', 'exp log sqrt sin cos sinh cosh tanh arcsin arccosh arctan'.split()
)
def test_special_values(name):
    parts = 0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan
    a = np.array([complex(x, y) for x in parts for y in parts])
    with np.errstate(all='ignore'):
        expected = getattr(np, name)(a)
    y = to_numpy(getattr(chainerx, name)(chainerx.array(a)))
    # The sign of a part is not specified where the other one is infinite or not-a-number.
    known = np.isfinite(a)
    for part in 'real', 'imag':
        np.testing.assert_allclose(
            getattr(y, part)[known], getattr(expected, part)[known], rtol=1e-14, atol=1e-300
        )
    np.testing.assert_array_equal(np.isfinite(y), np.isfinite(expected))


def test_division_by_zero_and_powers_of_zero():
    a = np.array([1, 1j, 0, np.inf])
    with np.errstate(all='ignore'):
        np.testing.assert_array_equal(
            to_numpy(chainerx.array(a) / chainerx.zeros(4, 'complex128')), a / np.zeros(4, complex)
        )
    zero = chainerx.zeros(4, 'complex128')
    powers = to_numpy(zero ** chainerx.array([0, 2, 0.5, 1j]))
    np.testing.assert_array_equal(powers, [1, 0, 0, complex(np.nan, np.nan)])
    big = chainerx.array([1e200 + 1e200j])
    np.testing.assert_allclose(to_numpy(big / big), [1])
    np.testing.assert_allclose(to_numpy(chainerx.absolute(big)), [np.hypot(1e200, 1e200)])


@pytest.mark.parametrize('dtype', COMPLEX)
def test_long_sums(dtype):
    a = np.ones((3, 100003), dtype) * (1 + 2j)
    for axis in None, 0, 1:
        np.testing.assert_allclose(to_numpy(chainerx.array(a).sum(axis)), a.sum(axis), rtol=1e-6)
    assert to_numpy(chainerx.zeros((0, 2), dtype).sum(0)).tolist() == [0, 0]
    assert to_numpy(chainerx.zeros((0, 2), dtype).prod(0)).tolist() == [1, 1]


def test_large_products():
    a, b = make(70, 90), make(90, 50, seed=1)
    np.testing.assert_allclose(to_numpy(chainerx.array(a) @ chainerx.array(b)), a @ b, rtol=1e-12)
    np.testing.assert_allclose(
        to_numpy(chainerx.array(a.T).T @ chainerx.array(b.T).T), a @ b, rtol=1e-12
    )
    bias = make(50, seed=2)
    y = chainerx.linear(chainerx.array(a), chainerx.array(b.T), chainerx.array(bias))
    np.testing.assert_allclose(to_numpy(y), a @ b + bias, rtol=1e-12)
    assert (
        to_numpy(chainerx.zeros((2, 0), 'complex64') @ chainerx.zeros((0, 2), 'complex64')).tolist()
        == [[0, 0]] * 2
    )


@pytest.mark.parametrize('name', CASES)
def test_gradients(name):
    f, *arrays = CASES[name]
    check_gradients(f, arrays)


@pytest.mark.parametrize('name', CASES)
def test_second_gradients(name):
    f, *arrays = CASES[name]
    check_second_gradients(f, arrays)


def test_the_convention():
    """The gradient of a real loss is dL/dx + i dL/dy, twice the derivative by the conjugate."""
    z = chainerx.array([1 + 2j, -3j]).require_grad()
    (chainerx.real(z) ** 2 + 3 * chainerx.imag(z)).sum().backward()
    assert z.grad.tolist() == [2 + 3j, 3j]
    z.cleargrad()
    (chainerx.absolute(z) ** 2).sum().backward()
    np.testing.assert_allclose(to_numpy(z.grad), [2 + 4j, -6j])
    z.cleargrad()
    # A holomorphic function multiplies by the conjugate of its derivative.
    chainerx.real(z * z).sum().backward()
    np.testing.assert_allclose(to_numpy(z.grad), 2 * np.conj([1 + 2j, -3j]))


def test_gradients_of_mixed_operands():
    x = chainerx.array([2.0, 3.0], 'float32').require_grad()
    z = chainerx.array([1 + 2j, 1j]).require_grad()
    y = x * z
    y.set_grad(chainerx.array([1, 1j]))
    chainerx.backward(y)
    assert x.grad.dtype == 'float32' and z.grad.dtype == 'complex128'
    assert x.grad.tolist() == [1, 1] and z.grad.tolist() == [2, 3j]


def test_gradient_of_absolute_at_zero():
    z = chainerx.array([0j, 3 + 4j]).require_grad()
    chainerx.absolute(z).sum().backward()
    np.testing.assert_allclose(to_numpy(z.grad), [0, 0.6 + 0.8j])


def test_complex_losses_have_no_gradient():
    z = chainerx.array(1j).require_grad()
    with pytest.raises(chainerx.GradientError, match='complex'):
        (z * z).backward()
    with pytest.raises(chainerx.GradientError, match='dtype float64'):
        z.set_grad(chainerx.array(1.0))


@pytest.mark.parametrize('dtype', COMPLEX)
def test_absolute_without_overflow(dtype):
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max / 4
    a = np.array(
        [tiny + 1j * tiny, huge - 1j * huge, 3j * huge, complex(np.inf, np.nan), 0, 3 + 4j]
    )
    a = np.tile(a.astype(dtype), 20001)
    y = chainerx.absolute(chainerx.array(a))
    np.testing.assert_allclose(to_numpy(y), np.abs(a), rtol=TOLERANCE[dtype])
    strided = chainerx.absolute(chainerx.array(a.reshape(3, -1)).T)
    np.testing.assert_allclose(to_numpy(strided), np.abs(a).reshape(3, -1).T, rtol=TOLERANCE[dtype])
