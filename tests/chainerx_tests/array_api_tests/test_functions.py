"""Creation, manipulation, searching, sorting, sets and statistics beside array_api_strict."""

import array_api_strict as strict
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
    SHAPES,
    arrays,
    assert_same,
    compare,
)
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import chainerx
from chainerx import array_api as xp

AXES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)


def _dtype(namespace, name):
    return None if name is None else getattr(namespace, name)


def _without_losses(dtypes, to):
    """The dtypes that have no imaginary parts if the target has none."""
    return dtypes if to is None or to in COMPLEX else [d for d in dtypes if d not in COMPLEX]


def _axis(data, x):
    return data.draw(st.integers(-x.ndim, x.ndim - 1))


# ---------------------------------------------------------------- creation


@pytest.mark.parametrize('name', ['empty', 'ones', 'zeros'])
@pytest.mark.parametrize('dtype', [None, *ALL])
@pytest.mark.parametrize('shape', [(), 3, (2, 0), (1, 2, 3)])
def test_constant(name, dtype, shape):
    def call(namespace):
        x = getattr(namespace, name)(shape, dtype=_dtype(namespace, dtype))
        return namespace.zeros_like(x) if name == 'empty' else x

    compare(call)


@pytest.mark.parametrize('value', [True, 3, 2.5, 1 - 2j])
def test_full(value):
    compare(lambda xp: xp.full((2, 3), value))
    compare(lambda xp: xp.ones_like(xp.full(3, value)))
    for dtype in ('int64', 'float32', 'complex64'):
        if np.can_cast(np.min_scalar_type(value), dtype, 'same_kind'):
            compare(lambda xp, d=dtype: xp.full(2, value, dtype=_dtype(xp, d)))
            compare(lambda xp, d=dtype: xp.full_like(xp.ones(2), value, dtype=_dtype(xp, d)))
            compare(lambda xp, d=dtype: xp.full_like(xp.ones(2, dtype=_dtype(xp, d)), value))


@pytest.mark.parametrize(
    'args', [(3,), (0,), (2, 7), (2, 9, 3), (5, 0, -2), (3, 1), (2.5,), (0, 1, 0.25), (1, 3.5)]
)
def test_arange(args):
    compare(lambda xp: xp.arange(*args))
    compare(lambda xp: xp.arange(*args, dtype=xp.float32))


@pytest.mark.parametrize('endpoint', [True, False])
@pytest.mark.parametrize('num', [0, 1, 2, 7])
def test_linspace(num, endpoint):
    compare(lambda xp: xp.linspace(-1, 3.5, num, endpoint=endpoint))
    compare(lambda xp: xp.linspace(0, 6, num, dtype=xp.float32, endpoint=endpoint))


@pytest.mark.parametrize('args', [(3,), (2, 3), (3, 2), (0,), (0, 2)])
@pytest.mark.parametrize('k', [-4, -1, 0, 2])
def test_eye(args, k):
    compare(lambda xp: xp.eye(*args, k=k))
    compare(lambda xp: xp.eye(*args, k=k, dtype=xp.int16))


@pytest.mark.parametrize('value', [True, 2, 2.5, [1, 2], [[1.0], [2.0]], [], [True, False]])
def test_asarray(value):
    compare(lambda xp: xp.asarray(value))
    compare(lambda xp: xp.asarray(value, dtype=xp.float32))


def test_asarray_copies_or_not():
    a = np.ones(3)
    shared = xp.asarray(a, copy=False)
    assert xp.asarray(shared, copy=False) is shared
    assert xp.asarray(shared) is shared
    a[0] = 5
    assert shared.tolist() == [5, 1, 1]
    copied = xp.asarray(shared, copy=True)
    shared[1] = 7
    assert copied.tolist() == [5, 1, 1]
    for value in ([1, 2], 3.0, a[::2].astype('>f8'), xp.ones(2, dtype=xp.float32)):
        with pytest.raises(ValueError, match='copy is False'):
            xp.asarray(value, copy=False, dtype=xp.float64)


@pytest.mark.parametrize('indexing', ['xy', 'ij'])
@given(
    arrays(NUMBERS, hnp.array_shapes(min_dims=1, max_dims=1)),
    arrays(NUMBERS, hnp.array_shapes(max_dims=1)),
)
def test_meshgrid(indexing, x, y):
    y = np.ones(y.shape, x.dtype)
    compare(lambda xp, *args: list(xp.meshgrid(*args, indexing=indexing)), x, y)


@pytest.mark.parametrize('name', ['tril', 'triu'])
@given(arrays(ALL, hnp.array_shapes(min_dims=2, max_dims=3, min_side=0)), st.integers(-3, 3))
def test_triangles(name, x, k):
    compare(lambda xp, x: getattr(xp, name)(x, k=k), x)


def test_devices():
    with chainerx.using_device('native:1'):
        x = xp.ones(2)
    assert x.device.name == 'native:1'
    assert xp.zeros_like(x).device is x.device
    y = xp.zeros(2, device=x.device)
    assert y.device is x.device
    assert xp.astype(y, xp.int8, device='native:0').device.name == 'native:0'
    assert x.to_device('native:0', stream=None).device.name == 'native:0'
    with pytest.raises(ValueError, match='stream'):
        x.to_device('native:0', stream=1)


# ---------------------------------------------------------------- dtypes


@pytest.mark.parametrize('to', ALL)
@given(st.data())
def test_astype(to, data):
    x = data.draw(arrays(_without_losses(ALL, to), low=0, high=9))
    compare(lambda xp, x: xp.astype(x, _dtype(xp, to)), x)
    assert (xp.astype(xp.asarray(x), _dtype(xp, x.dtype.name), copy=False)).dtype == x.dtype


def test_astype_without_a_copy():
    x = xp.ones(2)
    assert xp.astype(x, xp.float64, copy=False) is x
    assert xp.astype(x, xp.float64) is not x


@pytest.mark.parametrize('a', ALL)
def test_promotion(a):
    for b in ALL:
        ours = _dtype(xp, a), _dtype(xp, b)
        theirs = _dtype(strict, a), _dtype(strict, b)
        # The standard speaks of dtypes of a kind only.
        assert xp.can_cast(*ours) == np.can_cast(a, b)
        assert xp.can_cast(xp.ones(1, dtype=ours[0]), b) == np.can_cast(a, b)
        if np.dtype(a).kind == np.dtype(b).kind:
            assert xp.can_cast(*ours) == strict.can_cast(*theirs)
        try:
            expected = strict.result_type(*theirs)
        except TypeError:  # kinds are mixed: chainerx has a rule of its own
            expected = (xp.ones(1, dtype=ours[0]) + xp.ones(1, dtype=ours[1])).dtype
        assert xp.result_type(*ours).name == getattr(
            expected, 'name', str(expected).rpartition('.')[2]
        )
        assert xp.result_type(xp.ones(1, dtype=ours[0]), ours[1]) == xp.result_type(*ours)


@pytest.mark.parametrize('dtype', [*chainerx.all_dtypes, *COMPLEX])
@pytest.mark.parametrize('number', [True, 1, 1.5, 1j])
def test_promotion_with_numbers(dtype, number):
    x = xp.ones(2, dtype=dtype)
    assert xp.result_type(x, number) == (x + number).dtype
    assert xp.result_type(number, dtype, number) == (x + number).dtype


def test_promotion_of_numbers_alone():
    assert xp.result_type(1, True) == xp.int64
    assert xp.result_type(1, 2.0) == xp.float32


@pytest.mark.parametrize('dtype', ALL)
@pytest.mark.parametrize(
    'kind',
    [
        'bool',
        'signed integer',
        'unsigned integer',
        'integral',
        'real floating',
        'complex floating',
        'numeric',
    ],
)
def test_isdtype(dtype, kind):
    expected = strict.isdtype(_dtype(strict, dtype), kind)
    assert xp.isdtype(_dtype(xp, dtype), kind) == expected
    assert xp.isdtype(_dtype(xp, dtype), (kind, xp.float16)) == expected


@pytest.mark.parametrize('dtype', INEXACT)
def test_finfo(dtype):
    ours, theirs = xp.finfo(_dtype(xp, dtype)), strict.finfo(_dtype(strict, dtype))
    for name in 'bits eps max min smallest_normal'.split():
        assert getattr(ours, name) == getattr(theirs, name)
    assert xp.finfo(xp.ones(1, dtype=dtype)) == ours
    assert ours.dtype.name == str(theirs.dtype).rpartition('.')[2]


@pytest.mark.parametrize('dtype', INTEGERS)
def test_iinfo(dtype):
    ours, theirs = xp.iinfo(_dtype(xp, dtype)), strict.iinfo(_dtype(strict, dtype))
    assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)
    assert ours.dtype == dtype


@pytest.mark.parametrize(
    ('error', 'match', 'call'),
    [
        (TypeError, 'floating point, not int8', lambda: xp.finfo('int8')),
        (TypeError, 'integers, not float32', lambda: xp.iinfo(xp.ones(1, dtype='float32'))),
        (TypeError, 'no dtype', lambda: xp.result_type('clongdouble')),
        (TypeError, 'no dtype', lambda: xp.can_cast('uint8', 'clongdouble')),
        (ValueError, 'at least one', lambda: xp.result_type()),
        (TypeError, 'understood', lambda: xp.isdtype('int8', 'whole')),
    ],
)
def test_wrong_dtypes(error, match, call):
    with pytest.raises(error, match=match):
        call()


# ---------------------------------------------------------------- manipulation


@given(
    st.lists(arrays(INEXACT, st.just((2, 3)), low=-2, high=2), min_size=1, max_size=3),
    st.integers(-2, 1),
)
def test_concat(xs, axis):
    compare(lambda xp, *xs: xp.concat(xs, axis=axis), *xs)
    compare(lambda xp, *xs: xp.concat(list(xs), axis=None), *xs)
    compare(lambda xp, *xs: xp.stack(xs, axis=axis), *(x.real.astype('float32') for x in xs))


@given(arrays(ALL, AXES), st.data())
def test_one_axis(x, data):
    axis = _axis(data, x)
    compare(lambda xp, x: xp.expand_dims(x, axis=axis), x)
    compare(lambda xp, x: xp.flip(x, axis=axis), x)
    compare(lambda xp, x: xp.flip(x), x)
    compare(lambda xp, x: xp.moveaxis(x, axis, 0), x)
    compare(lambda xp, x: xp.unstack(x, axis=axis), x)
    compare(lambda xp, x: xp.squeeze(xp.expand_dims(x, axis=axis), axis=axis), x)
    compare(lambda xp, x: xp.repeat(x, 2, axis=axis), x)
    compare(lambda xp, x: xp.repeat(x, xp.arange(x.shape[axis]), axis=axis), x)
    compare(lambda xp, x: xp.roll(x, 2, axis=axis), x)
    compare(lambda xp, x: xp.roll(x, -1), x)
    compare(lambda xp, x: xp.tile(x, (2,)), x)
    compare(lambda xp, x: xp.tile(x, (2, 1, 3)), x)


@given(arrays(ALL, SHAPES), st.randoms(use_true_random=False))
def test_shapes(x, random):
    axes = list(range(x.ndim))
    random.shuffle(axes)
    compare(lambda xp, x: xp.permute_dims(x, tuple(axes)), x)
    compare(lambda xp, x: xp.reshape(x, (-1,) if x.size else (0,)), x)
    compare(lambda xp, x: xp.broadcast_to(x, (2, *x.shape)), x)
    compare(lambda xp, x: list(xp.broadcast_arrays(x, xp.ones((2, *x.shape)))), x)
    compare(lambda xp, x: xp.positive(x) if x.dtype != xp.bool else x, x)


def test_reshape_copies_or_not():
    x = xp.arange(6)
    view = xp.reshape(x, (2, 3), copy=False)
    copied = xp.reshape(x, (2, 3), copy=True)
    x[0] = 9
    assert view[0, 0] == 9
    assert copied[0, 0] == 0
    with pytest.raises(ValueError, match='reshape'):
        xp.reshape(view.T, (6,), copy=False)
    assert xp.reshape(view.T, (6,), copy=True).tolist() == [9, 3, 1, 4, 2, 5]


def test_matrix_transpose():
    compare(lambda xp: xp.matrix_transpose(xp.reshape(xp.arange(24), (2, 3, 4))))
    compare(lambda xp: xp.reshape(xp.arange(24), (2, 3, 4)).mT)
    compare(lambda xp: xp.reshape(xp.arange(6), (2, 3)).T)
    with pytest.raises(chainerx.DimensionError, match=r'matrix_transpose.*\(2,\)'):
        xp.ones(2).mT


# ---------------------------------------------------------------- searching and indexing


@pytest.mark.parametrize('name', ['argmax', 'argmin'])
@given(arrays(REALS, AXES), st.data())
def test_extremes(name, x, data):
    axis = _axis(data, x)
    for keepdims in False, True:
        compare(lambda xp, x, k=keepdims: getattr(xp, name)(x, axis=axis, keepdims=k), x)
        compare(lambda xp, x, k=keepdims: getattr(xp, name)(x, keepdims=k), x)


@given(arrays(ALL, AXES), st.data())
def test_counts(x, data):
    axis = _axis(data, x)
    compare(lambda xp, x: xp.count_nonzero(x), x)
    compare(lambda xp, x: xp.count_nonzero(x, axis=axis, keepdims=True), x)
    compare(lambda xp, x: xp.nonzero(x), x)


@pytest.mark.parametrize('side', ['left', 'right'])
@given(
    arrays(REALS, hnp.array_shapes(max_dims=1, max_side=6), low=0, high=5),
    arrays(REALS, SHAPES, low=0, high=5),
)
def test_searchsorted(side, x, v):
    v = v.astype(x.dtype)
    order = np.argsort(x)
    compare(lambda xp, x, v: xp.searchsorted(x, v, side=side), x[order], v)
    compare(lambda xp, x, v, order: xp.searchsorted(x, v, side=side, sorter=order), x, v, order)


@given(arrays(ALL, AXES), st.data())
def test_take(x, data):
    axis = _axis(data, x)
    indices = data.draw(hnp.arrays('int64', 3, elements=st.integers(0, x.shape[axis] - 1)))
    compare(lambda xp, x, i: xp.take(x, i, axis=axis), x, indices)
    shape = list(x.shape)
    shape[axis] = data.draw(st.integers(0, 4))
    along = data.draw(
        hnp.arrays('int64', shape, elements=st.integers(-x.shape[axis], x.shape[axis] - 1))
    )
    compare(lambda xp, x, i: xp.take_along_axis(x, i, axis=axis), x, along)


@given(arrays(ALL, AXES), st.data())
def test_indexing(x, data):
    mask = data.draw(hnp.arrays('bool', x.shape))
    compare(lambda xp, x, mask: x[mask], x, mask)
    compare(lambda xp, x: x[..., None, 0], x)
    compare(lambda xp, x: x[::-1, ...], x)
    compare(lambda xp, x: x[(xp.asarray([0, -1]),) * x.ndim], x)

    def assign(xp, x, mask):
        x[mask] = xp.asarray(1, dtype=x.dtype)
        return x

    compare(assign, x, mask)


@given(
    arrays(INTEGERS, AXES, low=0, high=4), arrays(INTEGERS, SHAPES, low=0, high=4), st.booleans()
)
def test_isin(x1, x2, invert):
    x2 = x2.astype(x1.dtype)
    expected = np.isin(x1, x2, invert=invert)
    assert_same(xp.isin(xp.asarray(x1), xp.asarray(x2), invert=invert), expected)
    assert_same(xp.isin(xp.asarray(x1), 3, invert=invert), np.isin(x1, 3, invert=invert))
    assert_same(xp.isin(3, xp.asarray(x2)), np.isin(3, x2))


def test_isin_of_special_values():
    x = xp.asarray([np.nan, np.inf, -0.0])
    assert xp.isin(x, xp.asarray([np.nan, np.inf, 0.0])).tolist() == [False, True, True]
    with pytest.raises(TypeError, match='isin'):
        xp.isin(1, 2)


# ---------------------------------------------------------------- sets and sorting


@pytest.mark.parametrize('name', ['unique_all', 'unique_counts', 'unique_inverse', 'unique_values'])
@given(arrays(ALL, SHAPES, low=0, high=3))
def test_sets(name, x):
    compare(lambda xp, x: getattr(xp, name)(x), x)


def test_distinct_complex_numbers_are_in_order():
    x = np.array([1j, 1, complex(0, np.nan), -1j, 1 + 1j, 1, complex(np.nan, 0), 2, -0.0])
    for equal_nan in (True, False):
        expected = np.unique(x, True, True, True, equal_nan=equal_nan)
        got = chainerx.unique(chainerx.array(x), True, True, True, equal_nan)
        for g, e in zip(got, expected, strict=True):
            np.testing.assert_array_equal(chainerx.to_numpy(g), e)


def test_each_nan_is_an_element():
    compare(lambda xp: xp.unique_all(xp.asarray([np.nan, 1.0, np.nan, 0.0]))[:1])
    assert xp.unique_counts(xp.asarray([np.nan, np.nan])).counts.tolist() == [1, 1]


@pytest.mark.parametrize('stable', [True, False])
@pytest.mark.parametrize('descending', [True, False])
@given(arrays(REALS, AXES, low=-2, high=2), st.data())
def test_sorts(stable, descending, x, data):
    axis = _axis(data, x)
    compare(lambda xp, x: xp.sort(x, axis=axis, descending=descending, stable=stable), x)
    compare(lambda xp, x: xp.argsort(x, axis=axis, descending=descending), x)


@pytest.mark.parametrize('descending', [True, False])
def test_sorts_of_nothing(descending):
    for shape in ((0,), (0, 2), (2, 0)):
        compare(lambda xp, s=shape: xp.sort(xp.ones(s), descending=descending))
        compare(lambda xp, s=shape: xp.argsort(xp.ones(s), descending=descending))


# ---------------------------------------------------------------- statistics and utilities


@pytest.mark.parametrize('dtype', [None, 'int64', 'float32'])
@pytest.mark.parametrize('name', ['sum', 'prod'])
@given(st.data())
def test_sums(name, dtype, data):
    x = data.draw(arrays(_without_losses(NUMBERS, dtype), low=-2, high=2))
    compare(lambda xp, x: getattr(xp, name)(x, dtype=_dtype(xp, dtype)), x, tolerance=20)
    if x.ndim:
        axis = _axis(data, x)
        compare(
            lambda xp, x: getattr(xp, name)(x, axis=axis, dtype=_dtype(xp, dtype), keepdims=True),
            x,
            tolerance=20,
        )


@pytest.mark.parametrize('include_initial', [False, True])
@pytest.mark.parametrize('dtype', [None, 'float64'])
@pytest.mark.parametrize('name', ['cumulative_sum', 'cumulative_prod'])
@given(st.data())
def test_cumulative(name, dtype, include_initial, data):
    shapes = hnp.array_shapes(max_dims=3, min_side=0)
    x = data.draw(arrays(_without_losses(NUMBERS, dtype), shapes, low=-2, high=2))
    axis = None if x.ndim == 1 and data.draw(st.booleans()) else _axis(data, x)
    options = {'axis': axis, 'include_initial': include_initial}
    compare(lambda xp, x: getattr(xp, name)(x, dtype=_dtype(xp, dtype), **options), x, tolerance=20)


def test_cumulative_sum_of_several_dimensions_needs_an_axis():
    with pytest.raises(
        chainerx.DimensionError, match=r'cumulative_sum: an array of shape \(2, 2\)'
    ):
        xp.cumulative_sum(xp.ones((2, 2)))


@pytest.mark.parametrize('name', ['max', 'min', 'mean', 'std', 'var'])
@given(arrays(FLOATS, AXES, low=-3, high=3), st.data())
def test_statistics(name, x, data):
    axis = _axis(data, x)
    compare(lambda xp, x: getattr(xp, name)(x), x, tolerance=20)
    compare(lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=True), x, tolerance=20)


@pytest.mark.parametrize('correction', [0, 1, 0.5])
@given(arrays(FLOATS, hnp.array_shapes(max_dims=3, min_side=2), low=-3, high=3), st.data())
def test_corrections(correction, x, data):
    axis = _axis(data, x)
    compare(lambda xp, x: xp.var(x, axis=axis, correction=correction), x, tolerance=20)
    compare(lambda xp, x: xp.std(x, correction=correction, keepdims=True), x, tolerance=20)


@pytest.mark.filterwarnings('ignore:Degrees of freedom')
def test_no_degrees_of_freedom():
    compare(lambda xp: xp.var(xp.asarray([[1.0, 3.0]]), axis=1, correction=2))
    compare(lambda xp: xp.var(xp.asarray([[1.0]]), axis=1, correction=1))


@pytest.mark.parametrize('name', ['all', 'any'])
@given(arrays(ALL), st.data())
def test_truth(name, x, data):
    compare(lambda xp, x: getattr(xp, name)(x), x)
    if x.ndim:
        axis = _axis(data, x)
        compare(lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=True), x)


@given(arrays(NUMBERS, AXES, low=-3, high=3), st.integers(0, 3), st.data())
def test_diff(x, n, data):
    axis = _axis(data, x)
    compare(lambda xp, x: xp.diff(x, axis=axis, n=n), x)
    compare(lambda xp, x: xp.diff(x, axis=axis, prepend=x), x)
    compare(lambda xp, x: xp.diff(x, axis=axis, n=max(n, 1), prepend=x, append=xp.zeros_like(x)), x)
