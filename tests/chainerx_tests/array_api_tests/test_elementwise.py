"""Elementwise functions and operators beside array_api_strict."""

import operator

import numpy as np
import pytest
from chainerx_tests.array_api_tests.common import (
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    arrays,
    compare,
    pairs,
)
from hypothesis import given, strategies as st

from chainerx import array_api as xp

UNARY = {
    **dict.fromkeys(
        'acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal signbit sin sinh sqrt '
        'tan tanh'.split(),
        FLOATS,
    ),
    **dict.fromkeys(
        'abs ceil conj floor isfinite isinf isnan negative positive real round sign square trunc'.split(),
        NUMBERS,
    ),
    'bitwise_invert': ('bool', *INTEGERS),
    'logical_not': ('bool',),
}
BINARY = {
    **dict.fromkeys('atan2 copysign divide hypot logaddexp nextafter'.split(), FLOATS),
    **dict.fromkeys('add maximum minimum multiply subtract'.split(), NUMBERS),
    **dict.fromkeys('greater greater_equal less less_equal'.split(), NUMBERS),
    **dict.fromkeys('equal not_equal'.split(), ALL),
    **dict.fromkeys('bitwise_and bitwise_or bitwise_xor'.split(), ('bool', *INTEGERS)),
    **dict.fromkeys('logical_and logical_or logical_xor'.split(), ('bool',)),
}
OPERATORS = {
    **dict.fromkeys('add mul sub'.split(), NUMBERS),
    'truediv': FLOATS,
    **dict.fromkeys('ge gt le lt'.split(), NUMBERS),
    **dict.fromkeys('eq ne'.split(), ALL),
    **dict.fromkeys('and_ or_ xor'.split(), ('bool', *INTEGERS)),
}


@pytest.mark.parametrize('name', UNARY)
@given(st.data())
def test_unary(name, data):
    x = data.draw(arrays(UNARY[name]))
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


@given(pairs(INTEGERS, low=0, high=5))
def test_pow_of_integers(values):
    compare(lambda xp, x1, x2: xp.pow(x1, x2), *values)


@given(arrays(NUMBERS), st.integers(-3, 3), st.integers(4, 9))
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


@pytest.mark.parametrize('dtype', FLOATS)
def test_special_values(dtype):
    values = np.array(
        [0.0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan, 1e-40, np.finfo(dtype).max], dtype
    )
    x1, x2 = (a.copy() for a in np.meshgrid(values, values))
    for name in BINARY:
        if dtype in BINARY[name]:
            compare(lambda xp, a, b, name=name: getattr(xp, name)(a, b), x1, x2, tolerance=4)
    for name in UNARY:
        if dtype in UNARY[name]:
            compare(lambda xp, a, name=name: getattr(xp, name)(a), values, tolerance=4)
