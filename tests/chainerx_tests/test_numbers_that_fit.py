"""Numbers that become integers: those that do not fit are refused, and nothing is half changed."""

import math

import numpy as np
import pytest

import chainerx

INTEGERS = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']


def _zeros(dtype):
    return chainerx.zeros(3, dtype)


def _changed(dtype, change):
    x = _zeros(dtype)
    try:
        change(x)
    except chainerx.DtypeError:
        np.testing.assert_array_equal(chainerx.to_numpy(x), np.zeros(3))
        raise
    return x


def _by_index(key, wrap=lambda v: v):
    return lambda v, dtype: _changed(dtype, lambda x: x.__setitem__(key, wrap(v)))


#: Ways from a number to an array of the dtype, all elements of which are the number or zero.
WAYS = {
    'fill': lambda v, dtype: _changed(dtype, lambda x: x.fill(v)),
    'fill array': lambda v, dtype: _changed(dtype, lambda x: x.fill(chainerx.array(v))),
    'setitem': _by_index(1),
    'setitem slice': _by_index(slice(0, 2)),
    'setitem mask': _by_index(np.array([True, False, True])),
    'setitem list': _by_index(slice(None), lambda v: [0.0, 1.0 * v, v]),
    'copyto': lambda v, dtype: _changed(dtype, lambda x: chainerx.copyto(x, v, 'unsafe')),
    'full': lambda v, dtype: chainerx.full(3, v, dtype),
    'full_like': lambda v, dtype: chainerx.full_like(_zeros(dtype), v),
    'full_like dtype': lambda v, dtype: chainerx.full_like(_zeros('f'), v, dtype=dtype),
    'asarray': lambda v, dtype: chainerx.asarray(v, dtype),
    'array': lambda v, dtype: chainerx.array(v, dtype),
    'array of list': lambda v, dtype: chainerx.array([0.0, float(v)], dtype),
    'array of tuple': lambda v, dtype: chainerx.array((float(v),), dtype),
    'arange': lambda v, dtype: chainerx.arange(v, v + 0.5, dtype=dtype),
    'linspace': lambda v, dtype: chainerx.linspace(v, v, 3, dtype=dtype),
    'linspace from 0': lambda v, dtype: chainerx.linspace(0, v, 2, dtype=dtype),
    'linspace without end': lambda v, dtype: chainerx.linspace(v, 0, 1, False, dtype=dtype),
    'pad': lambda v, dtype: chainerx.pad(_zeros(dtype), 1, constant_values=v),
    'array_api.full': lambda v, dtype: chainerx.array_api.full(3, v, dtype=dtype),
    'array_api.full_like': lambda v, dtype: chainerx.array_api.full_like(_zeros(dtype), v),
    'array_api.asarray': lambda v, dtype: chainerx.array_api.asarray(v, dtype=dtype),
    'array_api.linspace': lambda v, dtype: chainerx.array_api.linspace(v, v, 2, dtype=dtype),
}


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('dtype', INTEGERS)
def test_numbers_that_do_not_fit(way, dtype):
    info = np.iinfo(dtype)
    numbers = [math.inf, -math.inf, math.nan, 1e20, -1e20, 2.0 * (info.max + 1), info.min - 3000.5]
    for number in [*numbers, *map(np.float64, numbers), np.float32('nan'), np.float16('inf')]:
        if way == 'arange' and not abs(float(number)) < 2**50:
            continue  # has no elements, or no size
        if 'list' in way and isinstance(number, (np.float16, np.float32)):
            continue  # such lists are NumPy's affair
        with pytest.raises((chainerx.DtypeError, OverflowError, ValueError)) as e:
            WAYS[way](number, dtype)
        if 'list' not in way and 'tuple' not in way:
            assert e.type is chainerx.DtypeError
            assert 'out of bounds for dtype ' + dtype in str(e.value)


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('dtype', INTEGERS)
def test_numbers_that_fit(way, dtype):
    """Fractions are cut off."""
    info = np.iinfo(dtype)
    highest = float(np.nextafter(float(info.max) + 1, 0))  # all floats below are integers or fit
    for number in [0.0, -0.5, 2.5, 100.9, highest, float(info.min), np.float32(7.9)]:
        if way == 'arange' and number + 0.5 == number:
            continue  # has no elements
        values = set(chainerx.to_numpy(WAYS[way](number, dtype)).ravel().tolist())
        assert int(number) in values <= {0, int(number)}


@pytest.mark.parametrize('number', [math.inf, math.nan, -1e4, 0.5])
def test_booleans_and_floating_point_take_all(number):
    for dtype in 'bool', 'float16', 'float32', 'float64':
        for way, make in WAYS.items():
            if way == 'arange' or 'linspace' in way:
                continue
            actual = chainerx.to_numpy(make(number, dtype))
            with np.errstate(over='ignore'):
                expected = np.array(number).astype(dtype)
            assert (actual == expected).any() or np.isnan(expected)


def test_ranges_that_do_not_fit():
    for args in (0.0, 301.0, 100.0), (100.0, -200.0, -100.0), (250.0, 260.0):
        with pytest.raises(chainerx.DtypeError, match='out of bounds for dtype'):
            chainerx.arange(*args, dtype='uint8')
    assert chainerx.arange(0.0, 300.0, 100.0, dtype='int16').tolist() == [0, 100, 200]
    assert chainerx.arange(0.0, 256.5, 128.0, dtype='uint16').tolist() == [0, 128, 256]
    with pytest.raises(chainerx.DtypeError, match='out of bounds for dtype'):
        chainerx.linspace(0, 256, 2, dtype='uint8')
    assert chainerx.linspace(0, 256, 2, endpoint=False, dtype='uint8').tolist() == [0, 128]
    # Nothing is made of nothing.
    assert chainerx.linspace(math.nan, 0, 0, dtype='int8').size == 0


def test_where_makes_floating_point():
    x = chainerx.array([1, 2])
    for number in math.inf, math.nan, 2.5:
        y = chainerx.where(chainerx.array([True, False]), x, number)
        np.testing.assert_array_equal(chainerx.to_numpy(y), np.array([1, number], 'f'))


def test_no_fraction_is_among_integers():
    for dtype in INTEGERS:
        x = chainerx.array([0, 1, 2], dtype)
        for number in 0.5, math.inf, math.nan, -1.0, 1e30:
            assert not bool(chainerx.isin(number, x))
        assert bool(chainerx.isin(2.0, x))
    assert bool(chainerx.isin(0.5, chainerx.array([0.5, 1])))
