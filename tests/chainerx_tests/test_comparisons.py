"""Comparisons of numbers of different kinds are those of NumPy: no narrow dtype hides a difference."""

import operator

import numpy as np
import pytest

import chainerx

DTYPES = [np.dtype(t).name for t in chainerx.all_dtypes]
OPERATORS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
ROUTINES = ['equal', 'not_equal', 'less', 'less_equal', 'greater', 'greater_equal']


def _extremes(dtype):
    """Numbers near those where dtypes differ."""
    dtype = np.dtype(dtype)
    if dtype.kind == 'b':
        return np.array([False, True])
    if dtype.kind == 'f':
        values = [
            np.inf,
            -np.inf,
            np.nan,
            0,
            -0.0,
            0.5,
            1,
            -1,
            127.5,
            255,
            2.0**24,
            2.0**31,
            2.0**53,
        ]
        with np.errstate(over='ignore'):
            return np.array([*values, 2.0**63, 2.0**64, 65504, 65535, 65536], dtype)
    info = np.iinfo(dtype)
    values = [0, 1, -1, 127, 2**11 + 1, 2**24 + 1, 2**31 - 1, 2**53 + 1, 65535, info.max, info.min]
    values += [info.max - 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2]
    return np.array([v for v in values if info.min <= v <= info.max], dtype)


@pytest.mark.parametrize('compare, name', list(zip(OPERATORS, ROUTINES, strict=True)), ids=ROUTINES)
@pytest.mark.parametrize('a', DTYPES)
def test_arrays(compare, name, a):
    x = _extremes(a)[:, None]
    for b in DTYPES:
        y = _extremes(b)
        expected = compare(x, y)
        cx, cy = chainerx.array(x), chainerx.array(y)
        for actual in compare(cx, cy), getattr(chainerx, name)(cx, cy):
            assert actual.dtype == 'bool'
            np.testing.assert_array_equal(chainerx.to_numpy(actual), expected, f'{a} and {b}')
        out = chainerx.zeros(expected.shape, 'bool')
        getattr(chainerx, name)(cx, cy, out=out)
        np.testing.assert_array_equal(chainerx.to_numpy(out), expected, f'{a} and {b}')


@pytest.mark.parametrize('compare', OPERATORS, ids=ROUTINES)
@pytest.mark.parametrize('dtype', [d for d in DTYPES if 'float' not in d])
def test_numbers_of_floating_point(compare, dtype):
    """Integers are not rounded to float32."""
    x = _extremes(dtype)
    cx = chainerx.array(x)
    for number in 0.5, 1.00000001, 127.5, 2.0**24, 2.0**31, 2.0**63, np.inf, -np.inf, np.nan:
        expected = compare(x, np.float64(number))
        np.testing.assert_array_equal(chainerx.to_numpy(compare(cx, number)), expected, str(number))
        expected = compare(np.float64(number), x)
        np.testing.assert_array_equal(chainerx.to_numpy(compare(number, cx)), expected, str(number))


def test_shapes_and_devices():
    x, y = chainerx.array([1, -1]), chainerx.zeros((0, 2), 'uint64')
    assert (x < y).shape == (0, 2)
    assert (chainerx.array(-1) < chainerx.array(0, 'uint64')).shape == ()
    with pytest.raises(chainerx.DimensionError):
        x < chainerx.zeros(3, 'uint64')  # noqa: B015
    with pytest.raises(chainerx.DeviceError):
        x < chainerx.zeros(2, 'uint64', device='native:1')  # noqa: B015


def test_searches():
    a = chainerx.array([1, 2049, 65535], 'uint16')
    for number in 2048.0, 2050.0, np.inf:
        v = chainerx.array([number], 'float16')
        expected = np.searchsorted(chainerx.to_numpy(a), chainerx.to_numpy(v))
        np.testing.assert_array_equal(chainerx.to_numpy(chainerx.searchsorted(a, v)), expected)


# ---------------------------------------------------------------- powers of integers

INTEGERS = [d for d in DTYPES if 'int' in d]


@pytest.mark.parametrize('dtype', INTEGERS)
def test_negative_powers_of_integers(dtype):
    """NumPy refuses them, too: the result would be zero nearly always."""
    x = chainerx.array([0, 1, 2], dtype)
    out = chainerx.ones(3, dtype)
    calls = [
        lambda: x**-1,
        lambda: chainerx.power(x, -2),
        lambda: chainerx.power(x, -2, out=out),
        lambda: chainerx.array_api.pow(x, -1),
        lambda: operator.ipow(x, -1),
    ]
    if not dtype.startswith('uint'):
        negative = chainerx.array([1, 2, -1], dtype)
        calls += [lambda: x**negative, lambda: 2**negative, lambda: operator.ipow(x, negative)]
    for call in calls:
        with pytest.raises(ValueError, match='integers to negative integer powers .* is -[12]$'):
            call()
    assert x.tolist() == [0, 1, 2]
    assert out.tolist() == [1, 1, 1]


@pytest.mark.parametrize('dtype', INTEGERS)
def test_other_powers(dtype):
    x = np.array([0, 1, 2], dtype)
    cx = chainerx.array(x)
    for exponent in 0, 3, x:
        expected = x**exponent
        other = chainerx.array(exponent) if exponent is x else exponent
        np.testing.assert_array_equal(chainerx.to_numpy(cx**other), expected)
    np.testing.assert_allclose(chainerx.to_numpy(cx[1:] ** -1.0), [1, 0.5])
    floats = chainerx.array([1.0, 2.0])
    assert (floats**-1).tolist() == [1, 0.5]
    assert (floats ** chainerx.array([-1, -2])).tolist() == [1, 0.25]
    assert (chainerx.zeros(0, dtype) ** chainerx.zeros(0, 'int8')).shape == (0,)


def test_booleans_to_negative_powers():
    with pytest.raises(ValueError, match='negative integer powers'):
        chainerx.array([True]) ** -1  # noqa: B018
