"""How far float32 results are from the correctly rounded ones, and what sums lose."""

import numpy as np
import pytest
from op_table import ROWS

import chainerx
from tests.helpers.devices import IS_CUDA

EXACT = [row for row in ROWS if row.ulp]
UNARY = [row for row in EXACT if len(row.cases[0][0]) == 1]
BINARY = [row for row in EXACT if len(row.cases[0][0]) == 2]


def _ordered(x):
    """Integers in the order of the float32 numbers; neighbours differ by one, and +-0 are equal."""
    bits = x.view('i4').astype('i8')
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def _bits(first, step):
    return np.arange(first, 2**32, step, dtype='u4').view('f')


_EDGES = np.array(
    """
    0 1 0.5 2 3 1e-45 1.1754942e-38 1.1754944e-38 1e-20 1e-10 1e-7 5.96e-8 0.25 0.4142 0.7071
    0.99999994 1.0000001 1.4142135 1.5707964 3.1415927 6.2831855 10.5 16 17.3 18 20 24 88.72283
    88.72284 89 103.97208 104 127 128 149 150 71476 71477 1e5 8388608 16777216 1e9 1e10 1e20
    1.8446744e19 3.4028235e38 inf nan
    """.split(),
    'f',
)
EDGES = np.concatenate([_EDGES, -_EDGES])


def _samples(low, high):
    # Every magnitude there is, the range where the function bends, and the edges
    dense = np.linspace(low, high, 60001, dtype='f')
    return np.concatenate([_bits(7, 3 << 13), dense, dense[1:30000] * np.float32(1e-3), EDGES])


def _exact(reference, *args):
    with np.errstate(all='ignore'):
        return reference(*[x.astype('d') for x in args])


def _check(actual, expected, bound, *args):
    actual = chainerx.to_numpy(actual)
    assert actual.dtype == np.float32
    with np.errstate(all='ignore'):
        expected = expected.astype('f')
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    numbers = ~np.isnan(expected)
    errors = np.where(numbers, abs(_ordered(actual) - _ordered(expected)), 0)
    worst = errors.argmax()
    assert errors[worst] <= bound, (
        f'{errors[worst]} ulp at {[x[worst] for x in args]}: {actual[worst]!r} instead of {expected[worst]!r}'
    )
    zero = numbers & (expected == 0) & (actual == 0)
    np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize('row', UNARY, ids=repr)
def test_unary(row):
    bound, low, high = row.ulp
    if IS_CUDA and row.gpu_ulp is not None:
        bound = row.gpu_ulp
    x = _samples(low, high)
    _check(getattr(chainerx, row.name)(chainerx.array(x)), _exact(row.reference, x), bound, x)


def _pairs(low, high):
    random = np.random.RandomState(0)
    edges = np.meshgrid(EDGES, EDGES)
    anything = random.permutation(_bits(11, 5 << 14))
    # Powers that neither overflow nor vanish
    base = np.exp(random.uniform(-10, 10, 100000)).astype('f')
    exponent = random.uniform(low, high, 100000).astype('f')
    return (
        np.concatenate([edges[0].ravel(), anything, base]),
        np.concatenate([edges[1].ravel(), random.permutation(anything), exponent]),
    )


@pytest.mark.parametrize('row', BINARY, ids=repr)
def test_binary(row):
    bound, low, high = row.ulp
    x, y = _pairs(low, high)
    actual = getattr(chainerx, row.name)(chainerx.array(x), chainerx.array(y))
    _check(actual, _exact(row.reference, x, y), bound, x, y)


@pytest.mark.parametrize('exponent', [-3, -1, -0.5, 0, 0.5, 1, 2, 2.5, 3, 4, 100])
def test_power_of_a_number(exponent):
    x = _samples(-3, 3)
    # NumPy's operator takes 0.5 for the square root.
    expected = _exact(np.sqrt if exponent == 0.5 else lambda x: x**exponent, x)
    _check(chainerx.array(x) ** exponent, expected, 4, x)


@pytest.mark.parametrize('name', ['sin', 'cos', 'tan', 'log', 'exp'])
def test_slow_arguments_do_not_disturb_others(name):
    # Blocks with and without arguments that need another way
    (row,) = [row for row in UNARY if row.name == name]
    x = np.linspace(0.1, 3, 3000, dtype='f')
    x[1700] = 1e30 if name in ('sin', 'cos', 'tan') else -1
    expected = _exact(row.reference, x)
    f = getattr(chainerx, name)
    _check(f(chainerx.array(x)), expected, row.ulp[0], x)
    _check(f(chainerx.array(x)[::-2]), expected[::-2], row.ulp[0], x[::-2])


def _relative_error(actual, exact):
    return (abs(np.asarray(actual, 'd') - exact) / abs(exact)).max()


_LONG = np.random.RandomState(0).uniform(0, 1, 1000000).astype('f')


@pytest.mark.parametrize(
    'make,axis',
    [
        (lambda x: x, None),
        (lambda x: x[::3], None),
        (lambda x: x[::-1], None),
        (lambda x: x.reshape(1000, 1000), None),
        (lambda x: x.reshape(1000, 1000), 0),
        (lambda x: x.reshape(1000, 1000), 1),
        (lambda x: x.reshape(1000, 1000).T, 0),
        (lambda x: x.reshape(1000, 1000).T, None),
        (lambda x: x.reshape(2, 500000), 1),
        (lambda x: x.reshape(500000, 2), 0),
        (lambda x: x.reshape(500000, 2).T, 1),
        (lambda x: x.reshape(100, 10, 1000), (0, 2)),
        (lambda x: x.reshape(100000, 5, 2), (0, 2)),
    ],
)
@pytest.mark.parametrize('name', ['sum', 'mean'])
def test_sum_of_a_million(make, axis, name):
    x = make(_LONG)
    exact = getattr(x.astype('d'), name)(axis)
    # What pairwise summation may lose on its way; NumPy loses more along columns.
    allowed = max(_relative_error(getattr(x, name)(axis), exact), 3e-7)
    result = getattr(make(chainerx.array(_LONG)), name)(axis)
    assert _relative_error(chainerx.to_numpy(result), exact) <= allowed


@pytest.mark.parametrize(
    'shape,axis', [((70000,), None), ((1000, 70), 0), ((70, 1000), 1), ((100, 7, 100), (0, 2))]
)
def test_half_precision_does_not_overflow(shape, axis):
    x = np.random.RandomState(0).uniform(30000, 60000, shape).astype('e')
    mean = chainerx.array(x).mean(axis)
    assert mean.dtype == np.float16
    np.testing.assert_allclose(chainerx.to_numpy(mean), x.astype('d').mean(axis), 1e-3)
    x = np.where(x > 45000, 200, -200).astype('e')
    var = chainerx.array(x).var(axis)
    assert var.dtype == np.float16
    np.testing.assert_allclose(chainerx.to_numpy(var), x.astype('d').var(axis), 2e-3)


def test_variance_far_from_zero():
    x = (np.random.RandomState(0).uniform(-1, 1, 100000) + 1000).astype('f')
    np.testing.assert_allclose(
        chainerx.to_numpy(chainerx.array(x).var()), x.astype('d').var(), 1e-5
    )
