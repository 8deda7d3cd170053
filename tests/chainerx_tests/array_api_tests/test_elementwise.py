"""Elementwise functions and operators beside array_api_strict."""

import operator

import numpy as np
import pytest
from chainerx_tests.array_api_tests.common import (
    ALL,
    COMPLEX,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REALS,
    arrays,
    compare,
    pairs,
)
from hypothesis import given, strategies as st

import chainerx
from chainerx import array_api as xp

UNARY = {
    **dict.fromkeys(
        'acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh'.split(),
        INEXACT,
    ),
    **dict.fromkeys('reciprocal signbit'.split(), FLOATS),
    **dict.fromkeys('ceil floor sign trunc'.split(), REALS),
    **dict.fromkeys(
        'abs conj isfinite isinf isnan negative positive real round square'.split(), NUMBERS
    ),
    'imag': COMPLEX,
    'bitwise_invert': ('bool', *INTEGERS),
    'logical_not': ('bool',),
}
BINARY = {
    **dict.fromkeys('atan2 copysign hypot logaddexp nextafter'.split(), FLOATS),
    **dict.fromkeys('add multiply subtract'.split(), NUMBERS),
    **dict.fromkeys('greater greater_equal less less_equal maximum minimum'.split(), REALS),
    'divide': INEXACT,
    **dict.fromkeys('equal not_equal'.split(), ALL),
    **dict.fromkeys('bitwise_and bitwise_or bitwise_xor'.split(), ('bool', *INTEGERS)),
    **dict.fromkeys('logical_and logical_or logical_xor'.split(), ('bool',)),
}
INVERSE = 'acos acosh asin asinh atan atanh'.split()
NUMPY_1 = np.__version__.startswith('1.')
OPERATORS = {
    **dict.fromkeys('add mul sub'.split(), NUMBERS),
    'truediv': INEXACT,
    **dict.fromkeys('ge gt le lt'.split(), REALS),
    **dict.fromkeys('eq ne'.split(), ALL),
    **dict.fromkeys('and_ or_ xor'.split(), ('bool', *INTEGERS)),
}


@pytest.mark.parametrize('name', UNARY)
@given(st.data())
def test_unary(name, data):
    dtypes = FLOATS if NUMPY_1 and name in INVERSE else UNARY[name]
    x = data.draw(arrays(dtypes))
    compare(lambda xp, x: getattr(xp, name)(x), x, tolerance=4)


@pytest.mark.parametrize('name', BINARY)
@given(st.data())
def test_binary(name, data):
    x1, x2 = data.draw(pairs(BINARY[name]))
    compare(lambda xp, x1, x2: getattr(xp, name)(x1, x2), x1, x2, tolerance=4)


@pytest.mark.parametrize('name', ['floor_divide', 'remainder'])
@given(pairs(INTEGERS))
def test_division_of_integers(name, values):
    x1, x2 = values
    x2[x2 == 0] = 1
    compare(lambda xp, x1, x2: getattr(xp, name)(x1, x2), x1, x2)


@pytest.mark.parametrize('name', ['floor_divide', 'remainder'])
@given(pairs(FLOATS, low=-8, high=8))
def test_division_of_fractions(name, values):
    x1, x2 = values
    x2[x2 == 0] = 0.5
    compare(lambda xp, x1, x2: getattr(xp, name)(x1, x2), x1, x2)


INF = float('inf')


# The special cases that the standard lists, of which NumPy has others for infinity.
@pytest.mark.parametrize(
    ('x1', 'x2', 'expected'),
    [
        (INF, 2, INF),
        (INF, -2, -INF),
        (-INF, 2, -INF),
        (-INF, -2, INF),
        (3, INF, 0.0),
        (3, -INF, -0.0),
        (-3, INF, -0.0),
        (-3, -INF, 0.0),
        (INF, INF, np.nan),
        (-INF, INF, np.nan),
        (np.nan, INF, np.nan),
        (0.0, -INF, -0.0),
        (3, 0.0, INF),
        (3, -0.0, -INF),
        (0.0, 0.0, np.nan),
        (-3, 2, -2),
        (-1e-30, 1e30, -1),
    ],
)
@pytest.mark.parametrize('dtype', FLOATS)
def test_floor_divide_of_special_values(x1, x2, expected, dtype):
    def check(y):
        assert y.dtype == dtype
        y, by_bits = chainerx.to_numpy(y), np.array(expected, dtype)
        np.testing.assert_array_equal(y, np.broadcast_to(by_bits, y.shape))
        np.testing.assert_array_equal(
            np.signbit(y[y == y]), np.signbit(by_bits[by_bits == by_bits])
        )

    a, b = (xp.asarray([x], dtype=dtype) for x in (x1, x2))
    check(xp.floor_divide(a, b))
    check(xp.floor_divide(x1, b))
    check(xp.floor_divide(a, x2))


def test_floor_divide_has_no_gradient():
    x = chainerx.array([INF, 5], 'float32').require_grad()
    assert not xp.floor_divide(x, 2).is_grad_required()
    assert xp.floor_divide(xp.asarray([7]), 2).dtype == xp.int64


@pytest.mark.parametrize('name', ['bitwise_left_shift', 'bitwise_right_shift'])
@given(arrays(INTEGERS), st.integers(0, 7))
def test_shifts(name, x, bits):
    compare(lambda xp, x: getattr(xp, name)(x, xp.full(x.shape, bits, dtype=x.dtype)), x)


@pytest.mark.parametrize('name', ['bitwise_left_shift', 'bitwise_right_shift'])
@given(arrays(INTEGERS, low=0, high=7))
def test_shifts_and_numbers(name, bits):
    """A number has the dtype of the array, on either side."""
    compare(lambda xp, bits: getattr(xp, name)(bits, 2), bits)
    compare(lambda xp, bits: getattr(xp, name)(11, bits), bits)
    with pytest.raises(TypeError):
        getattr(xp, name)(1, 2)
    with pytest.raises(TypeError):
        getattr(xp, name)(1.5, xp.asarray(bits))


@given(pairs(FLOATS))
def test_pow(values):
    compare(lambda xp, x1, x2: xp.pow(x1, x2), *values, tolerance=4)


@given(pairs(COMPLEX, low=-2, high=2))
def test_pow_of_complex_numbers(values):
    x1, x2 = values
    x1[x1 == 0] = 1
    compare(lambda xp, x1, x2: xp.pow(x1, x2), x1, x2, tolerance=8)


@given(arrays(COMPLEX, low=-8, high=8))
def test_quotients_of_complex_numbers(x):
    """With infinite parts, the signs follow from the rules of division, which array_api_strict does not."""
    compare(lambda xp, x: xp.sign(x), x)
    x[x == 0] = 1
    compare(lambda xp, x: xp.reciprocal(x), x)


@given(pairs(INTEGERS, low=0, high=5))
def test_pow_of_integers(values):
    compare(lambda xp, x1, x2: xp.pow(x1, x2), *values)


@given(arrays(REALS), st.integers(-3, 3), st.integers(4, 9))
def test_clip(x, low, high):
    if x.dtype.kind == 'f':
        low, high = low + 0.5, high + 0.5
    if x.dtype.kind == 'u':
        low = abs(low)
    compare(lambda xp, x: xp.clip(x, low, high), x)
    compare(lambda xp, x: xp.clip(x, max=high), x)
    compare(lambda xp, x: xp.clip(x, min=xp.full(x.shape, low, dtype=x.dtype)), x)
    compare(lambda xp, x: xp.clip(x), x)


@pytest.mark.parametrize('name', OPERATORS)
@given(st.data())
def test_operators(name, data):
    x1, x2 = data.draw(pairs(OPERATORS[name]))
    compare(lambda xp, x1, x2: getattr(operator, name)(x1, x2), x1, x2, tolerance=4)


@pytest.mark.parametrize('name', ['add', 'subtract', 'multiply', 'maximum', 'less', 'hypot'])
@given(arrays(FLOATS), st.floats(-9, 9, width=32))
def test_numbers_of_python(name, x, number):
    compare(lambda xp, x: getattr(xp, name)(x, number), x, tolerance=4)
    compare(lambda xp, x: getattr(xp, name)(number, x), x, tolerance=4)


@given(arrays(NUMBERS), st.data())
def test_where(x, data):
    condition = data.draw(arrays(('bool',), x.shape))
    compare(lambda xp, c, x: xp.where(c, x, xp.zeros_like(x)), condition, x)
    compare(lambda xp, c, x: xp.where(c, x, 1), condition, x)


def test_imaginary_part():
    assert xp.imag(xp.asarray([1.0, 2.0])).tolist() == [0, 0]


def test_rounding_keeps_integers():
    x = xp.asarray([1, -2], dtype=xp.int16)
    for function in (xp.ceil, xp.floor, xp.trunc, xp.round):
        y = function(x)
        assert y.dtype == x.dtype and y.tolist() == [1, -2] and y.data_ptr != x.data_ptr


def test_nextafter_of_half_precision():
    with pytest.raises(TypeError, match='float16'):
        xp.nextafter(xp.ones(2, dtype=xp.float16), 2)


def _special(dtype):
    values = [0.0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan]
    if dtype in COMPLEX:
        return np.array([complex(a, b) for a in values for b in values], dtype)
    return np.array([*values, 1e-40, np.finfo(dtype).max], dtype)


@pytest.mark.parametrize('dtype', INEXACT)
def test_special_values(dtype):
    values = _special(dtype)
    x1, x2 = (a.copy() for a in np.meshgrid(values, values))
    for name in BINARY:
        if dtype in BINARY[name]:
            compare(lambda xp, a, b, name=name: getattr(xp, name)(a, b), x1, x2, tolerance=4)
    for name in UNARY:
        # The inverse functions of NumPy 1 have other infinite values than the standard and NumPy 2.
        if dtype in UNARY[name] and not (NUMPY_1 and dtype in COMPLEX and name in INVERSE):
            compare(lambda xp, a, name=name: getattr(xp, name)(a), values, tolerance=4)
