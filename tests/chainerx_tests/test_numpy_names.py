"""NumPy's everyday functions, where the table of operations does not reach: odd values, several results, files, text."""

import io
import math
import zipfile

import numpy as np
import pytest

import chainerx

NAN, INF = np.nan, np.inf
WITH_NAN = np.array([[1.0, NAN, 3.0, -2.0], [NAN, NAN, NAN, NAN], [4.0, INF, -INF, NAN]])
FEW_NAN = np.array([[1.0, NAN, 3.0, -2.0], [5.0, 0.5, NAN, NAN]])


def _numpy(y):
    if isinstance(y, (tuple, list)):
        return [_numpy(item) for item in y]
    return chainerx.to_numpy(y.as_grad_stopped()) if isinstance(y, chainerx.ndarray) else y


def _same(actual, expected):
    actual, expected = _numpy(actual), _numpy(expected)
    assert type(actual) is type(expected) or not isinstance(expected, (bool, tuple, list))
    for a, e in zip(
        actual if isinstance(actual, list) else [actual],
        expected if isinstance(expected, list) else [expected],
        strict=True,
    ):
        np.testing.assert_allclose(a, e, rtol=1e-12, atol=1e-12)
        assert np.shape(a) == np.shape(e)


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
@pytest.mark.parametrize('kwargs', [{}, {'axis': 1}, {'axis': 0, 'keepdims': True}], ids=str)
@pytest.mark.parametrize(
    'name',
    [
        'median',
        'nansum',
        'nanprod',
        'nanmean',
        'nanvar',
        'nanstd',
        'nanmax',
        'nanmin',
        'nanmedian',
    ],
)
def test_reductions_of_nan(name, kwargs):
    for a in (WITH_NAN, FEW_NAN, WITH_NAN[1:2], np.abs(FEW_NAN) / 0.0):
        expected = getattr(np, name)(a, **kwargs)
        _same(getattr(chainerx, name)(chainerx.array(a), **kwargs), expected)


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
@pytest.mark.parametrize('method', ['linear', 'lower', 'higher', 'midpoint', 'nearest'])
@pytest.mark.parametrize('name', ['percentile', 'nanpercentile', 'quantile', 'nanquantile'])
def test_quantiles_of_nan(name, method):
    whole = 100 if 'percentile' in name else 1
    for a in FEW_NAN, np.sort(FEW_NAN), np.full((2, 3), NAN), np.array([[1.0, 1, 1, 2, 2]]):
        for q in 0, whole, 0.3 * whole, [0.1 * whole, 0.5 * whole], np.linspace(0, whole, 7):
            for kwargs in {}, {'axis': 1}, {'axis': 0, 'keepdims': True}:
                expected = getattr(np, name)(a, q, method=method, **kwargs)
                x = chainerx.array(a)
                _same(getattr(chainerx, name)(x, q, method=method, **kwargs), expected)
                if isinstance(q, np.ndarray):
                    array = chainerx.array(q)
                    _same(getattr(chainerx, name)(x, array, method=method, **kwargs), expected)


@pytest.mark.parametrize('name', ['median', 'nanmedian', 'quantile', 'nanquantile'])
@pytest.mark.parametrize(
    ('shape', 'axis', 'expected'),
    [((0,), None, ()), ((2, 0, 3), 1, (2, 3)), ((2, 0, 3), (0, 2), (0,)), ((0, 2), 1, (0,))],
    ids=str,
)
def test_quantiles_of_nothing(name, shape, axis, expected):
    args = ([0, 0.3, 1],) if 'quantile' in name else ()
    x = chainerx.ones(shape, 'float64').require_grad()
    y = getattr(chainerx, name)(x, *args, axis=axis)
    assert y.shape == ((3,) if args else ()) + expected
    assert np.isnan(_numpy(y)).all()
    (gx,) = chainerx.grad([y.sum()], [x])
    assert gx.shape == shape


def test_quantiles_of_infinity():
    for a, q, expected in [
        ([1, INF], 0, 1),
        ([INF, INF, 1], 0.75, INF),
        ([-INF, 1], 0.5, -INF),
        ([-INF, 1], 1, 1),
    ]:
        assert chainerx.quantile(chainerx.array(a, 'float32'), q).item() == expected


@pytest.mark.parametrize('name', ['nancumsum', 'nancumprod'])
def test_cumulative_nan(name):
    for kwargs in {}, {'axis': 0}, {'axis': 1}:
        _same(
            getattr(chainerx, name)(chainerx.array(FEW_NAN), **kwargs),
            getattr(np, name)(FEW_NAN, **kwargs),
        )


GRADIENTS = {
    'nansum': lambda x: chainerx.nansum(x, 1),
    'nanprod': lambda x: chainerx.nanprod(x, 1),
    'nanmean': lambda x: chainerx.nanmean(x, 1),
    'nanvar': lambda x: chainerx.nanvar(x, 1),
    'nanstd': lambda x: chainerx.nanstd(x, 1),
    'nanmax': lambda x: chainerx.nanmax(x, 1),
    'nanmin': lambda x: chainerx.nanmin(x, 1),
    'nanmedian': lambda x: chainerx.nanmedian(x, 1),
    'nanquantile': lambda x: chainerx.nanquantile(x, [0.2, 0.7], 1),
    'nancumsum': lambda x: chainerx.nancumsum(x, 1),
    'nan_to_num': lambda x: chainerx.nan_to_num(x),
}


@pytest.mark.parametrize('name', sorted(GRADIENTS))
def test_gradients_at_nan_are_zero(name):
    """And elsewhere those of the array without the elements that are not-a-number."""
    x = chainerx.array(FEW_NAN).require_grad()
    (gx,) = chainerx.grad([GRADIENTS[name](x).sum()], [x], enable_double_backprop=True)
    (ggx,) = chainerx.grad([(gx * gx + gx).sum()], [x]) if gx.is_backprop_required() else (None,)
    assert (_numpy(gx)[np.isnan(FEW_NAN)] == 0).all()
    step = 1e-6
    for i, j in np.argwhere(~np.isnan(FEW_NAN)):
        ends = []
        for sign in 1, -1:
            a = FEW_NAN.copy()
            a[i, j] += sign * step
            ends.append(float(GRADIENTS[name](chainerx.array(a)).sum()))
        assert float(gx[int(i), int(j)]) == pytest.approx((ends[0] - ends[1]) / 2 / step, abs=1e-5)
    if ggx is not None:
        assert np.isfinite(_numpy(ggx)).all()


def test_nan_to_num():
    for a in WITH_NAN, WITH_NAN.astype('float32'), WITH_NAN.astype('float16'), np.arange(3):
        x = chainerx.array(a)
        for kwargs in {}, {'nan': 2}, {'posinf': 3, 'neginf': -3.5}:
            y = chainerx.nan_to_num(x, **kwargs)
            assert y.dtype == a.dtype and y is not x
            _same(y, np.nan_to_num(a, **kwargs))
        assert chainerx.nan_to_num(x, copy=False) is x
        _same(x, np.nan_to_num(a))
    with pytest.raises(chainerx.ChainerxError, match='graph'):
        chainerx.nan_to_num(chainerx.array([NAN]).require_grad(), copy=False)


@pytest.mark.parametrize('dtype', ['bool', 'uint8', 'int8', 'int32', 'int64', 'float16', 'float64'])
@pytest.mark.parametrize('size', [0, 1, 2, 3, 7, 8, 100])
def test_searchsorted(size, dtype):
    rng = np.random.default_rng(size)
    a = np.sort(rng.integers(0, 20, size).astype(dtype))
    wanted = [rng.integers(0, 22, (3, 5)).astype(dtype), rng.uniform(-1, 22, 9), np.array(4)]
    for v in wanted:
        for side in 'left', 'right':
            expected = np.searchsorted(a, v, side)
            x = chainerx.array(a).searchsorted(chainerx.array(v), side)
            assert x.dtype == 'int64' and x.shape == v.shape
            np.testing.assert_array_equal(_numpy(x), expected)
    order = rng.permutation(size)
    actual = chainerx.searchsorted(
        chainerx.array(a[order]), 7, 'right', sorter=chainerx.array(np.argsort(a[order]))
    )
    assert int(actual) == np.searchsorted(a, 7, 'right')


def test_searchsorted_of_odd_numbers():
    a = np.array([-INF, 0.0, 2.0**53, INF, NAN, NAN])
    v = np.array([NAN, INF, -INF, -0.0, 2.0**53 + 2])
    x = chainerx.array(a)
    for side in 'left', 'right':
        np.testing.assert_array_equal(
            _numpy(x.searchsorted(chainerx.array(v), side)), np.searchsorted(a, v, side)
        )
    big = chainerx.array([2**53, 2**53 + 1, 2**62])
    assert int(big.searchsorted(2**53 + 1)) == 1
    assert int(chainerx.array([0, 1, 2], 'int8').searchsorted(300)) == 3
    assert int(chainerx.array([0, 1, 2], 'int8').searchsorted(1.5)) == 2


@pytest.mark.parametrize('dtype', ['bool', 'int8', 'int64', 'float16', 'float32'])
@pytest.mark.parametrize('shape', [(), (0,), (1,), (50,), (4, 5), (0, 3)], ids=str)
def test_unique(shape, dtype):
    a = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)
    values, index, inverse, counts = chainerx.unique(chainerx.array(a), True, True, True)
    expected, first, back, times = np.unique(a, True, True, True)
    assert values.dtype == a.dtype
    assert inverse.shape == a.shape
    for actual, e in zip(
        [values, index, inverse, counts], [expected, first, back.reshape(shape), times]
    ):
        np.testing.assert_array_equal(_numpy(actual), e)
    if a.size:
        np.testing.assert_array_equal(_numpy(values.take(inverse)), a)
    pair = chainerx.unique(chainerx.array(a), return_counts=True)
    assert isinstance(pair, tuple) and len(pair) == 2
    np.testing.assert_array_equal(_numpy(pair[1]), times)


@pytest.mark.parametrize('equal_nan', [True, False])
def test_unique_nan(equal_nan):
    a = np.array([NAN, 1.0, NAN, 1.0, -INF])
    actual = chainerx.unique(chainerx.array(a), True, False, True, equal_nan)
    expected = np.unique(a, True, False, True, equal_nan=equal_nan)
    for x, e in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(_numpy(x), e)


def test_unique_gradient():
    x = chainerx.array([2.0, 1.0, 2.0]).require_grad()
    (gx,) = chainerx.grad([(chainerx.unique(x) * chainerx.array([3.0, 5.0])).sum()], [x])
    assert gx.tolist() == [5, 3, 0]


def test_where_with_a_condition_alone():
    a = np.array([[0, 1, 2], [3, 0, 0]])
    actual = chainerx.where(chainerx.array(a))
    assert isinstance(actual, tuple)
    _same(list(actual), list(np.where(a)))
    _same(list(chainerx.array(a).nonzero()), list(a.nonzero()))
    (i,) = chainerx.where(condition=chainerx.array(a)[0] > 0, x=None, y=None)
    assert i.tolist() == [1, 2]


@pytest.mark.parametrize('a', [np.array(0), np.array(2.5), np.zeros((0, 3)), np.eye(3)], ids=repr)
def test_argwhere(a):
    np.testing.assert_array_equal(_numpy(chainerx.argwhere(chainerx.array(a))), np.argwhere(a))


def test_bincount_counts():
    for a in np.array([3, 0, 3], 'int8'), np.array([], 'int64'), np.array([True, False, True]):
        for kwargs in {}, {'minlength': 5}:
            y = chainerx.bincount(chainerx.array(a), **kwargs)
            assert y.dtype == 'int64'
            np.testing.assert_array_equal(_numpy(y), np.bincount(a, **kwargs))
    y = chainerx.bincount(chainerx.array([1, 1]), chainerx.array([2, 3], 'int16'))
    assert y.dtype == 'float32' and y.tolist() == [0, 5]


@pytest.mark.parametrize('dtype', ['bool', 'uint8', 'int64', 'float32', 'float64'])
@pytest.mark.parametrize('n', [0, 1, 1000])
def test_histogram(n, dtype):
    a = np.random.default_rng(n).uniform(-3, 9, n).round(2).astype(dtype)
    x = chainerx.array(a)
    a = a.astype('uint8') if dtype == 'bool' else a
    bins = [1, 7, [0.0, 1, 1, 2, 4], np.linspace(-1, 8, 5), [2.0]]
    for b in bins:
        counts, edges = chainerx.histogram(x, b)
        expected, ends = np.histogram(a, b)
        assert counts.dtype == 'int64'
        np.testing.assert_array_equal(_numpy(counts), expected)
        np.testing.assert_allclose(_numpy(edges), ends, 1e-6)
    np.testing.assert_array_equal(
        _numpy(chainerx.histogram(x, 5, (1, 1))[0]),
        np.histogram(a, 5, (1, 1))[0],
    )
    x = chainerx.array(np.append(a.astype('float64'), [NAN, INF]))
    np.testing.assert_array_equal(
        _numpy(chainerx.histogram(x, 4, (0, 2))[0]), np.histogram(a, 4, (0, 2))[0]
    )


def test_histogram_weights():
    x = chainerx.array([0.5, 1.5, 1.6, 9.0])
    w = chainerx.array([1.0, 2.0, 3.0, 4.0])
    eps = chainerx.full_like(w, 1e-3)

    def weighted(ws):
        y = chainerx.histogram(x, 3, (0, 3), weights=ws[0])[0]
        return [y * y]

    def density(ws):
        return [chainerx.histogram(x, 3, (0, 3), density=True, weights=ws[0])[0]]

    assert weighted([w])[0].tolist() == [1, 25, 0]
    for f in weighted, density:
        gy = chainerx.array([1.0, -2.0, 0.5])
        chainerx.check_backward(f, [w.copy().require_grad()], [gy], [eps])


def test_closeness_of_numbers():
    x = chainerx.array([1.0, 2.0])
    assert chainerx.isclose(x, 1).tolist() == [True, False]
    assert chainerx.isclose(1, x).tolist() == [True, False]
    assert chainerx.allclose(x, x * (1 + 1e-7))
    assert not chainerx.allclose(x, 1)
    assert chainerx.allclose(chainerx.zeros(0), 1)
    assert chainerx.allclose(x.require_grad(), x)


def test_array_equal():
    x = chainerx.array([1.0, NAN])
    assert not chainerx.array_equal(x, x)
    assert chainerx.array_equal(x, x.copy(), equal_nan=True)
    assert not chainerx.array_equal(x, x[:1])
    assert chainerx.array_equal(chainerx.zeros((0, 2)), chainerx.ones((0, 2)))


def test_round():
    assert chainerx.around is chainerx.round
    x = chainerx.array([15, 25, -149], 'int16')
    for decimals in 2, 0, -1, -2, -9:
        y = x.round(decimals)
        assert y.dtype == 'int16'
        np.testing.assert_array_equal(_numpy(y), np.round(_numpy(x), decimals))
    assert chainerx.array([1000.04], 'float16').round(2).item() == 1000
    assert not chainerx.array([1.5]).require_grad().round().is_backprop_required()


def test_sort_in_place():
    a = np.random.default_rng(0).integers(0, 9, (4, 5))
    for axis in -1, 0:
        x, e = chainerx.array(a), a.copy()
        assert x.sort(axis) is None
        e.sort(axis)
        np.testing.assert_array_equal(_numpy(x), e)
    x = chainerx.array(a)
    part = x.T[1:3]
    part.sort()
    np.testing.assert_array_equal(_numpy(part), np.sort(a.T[1:3]))
    np.testing.assert_array_equal(_numpy(chainerx.array(a).argsort()), np.argsort(a, kind='stable'))
    with pytest.raises(chainerx.ChainerxError, match='graph'):
        chainerx.array([2.0, 1.0]).require_grad().sort()
    with pytest.raises(chainerx.DimensionError):
        chainerx.array(1).sort()
    saved = chainerx.array([2.0, 1.0]).require_grad()
    y = chainerx.exp(saved)
    with chainerx.no_backprop_mode():
        y.sort()
    with pytest.raises(chainerx.GradientError, match='was changed in place after it was used'):
        chainerx.grad([y.sum()], [saved])


# ---------------------------------------------------------------- text


@pytest.mark.parametrize(
    ('value', 'dtype', 'text'),
    [
        (0.1, 'float32', '0.1'),
        (1, 'int8', '1'),
        (True, 'bool', 'True'),
        (NAN, 'float16', 'nan'),
        (1e-10, 'float64', '1e-10'),
    ],
)
def test_text_of_numbers(value, dtype, text):
    x = chainerx.array(value, dtype)
    assert str(x) == f'{x}' == text
    assert repr(x).startswith('array(') and dtype in repr(x)
    if dtype.startswith('float'):
        x.require_grad()
        assert str(x) == text


def test_text_of_arrays():
    x = chainerx.array([1.0, 2.0])
    assert str(x) == repr(x) == f'{x}'
    with pytest.raises(TypeError, match='one element'):
        format(x, '.2f')


@pytest.mark.parametrize('spec', ['.2f', '8.3e', '+', 'g'])
def test_format(spec):
    for x in chainerx.array(-2.5, 'float32'), chainerx.array(7), chainerx.array(0.5).require_grad():
        assert format(x, spec) == format(x.item(), spec)
    assert f'{chainerx.array([1.0, 2.0]).sum():.2f}' == '3.00'
    assert f'{chainerx.array(9):04d}' == '0009'
    with pytest.raises(ValueError, match='format code'):
        format(chainerx.array(1.5), 'd')


def test_numbers():
    x = chainerx.array(2.5).require_grad()
    assert (float(x), int(x), math.floor(float(x))) == (2.5, 2, 2)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize('dtype', [np.dtype(t).name for t in chainerx.all_dtypes])
@pytest.mark.parametrize('shape', [(), (0, 2), (2, 3)], ids=str)
def test_save(shape, dtype, tmp_path):
    a = np.ones(shape, dtype)
    path = tmp_path / 'a.npy'
    chainerx.save(path, chainerx.array(a))
    np.testing.assert_array_equal(np.load(path), a)
    assert np.load(path).dtype == dtype
    x = chainerx.load(path, device='native:1')
    assert x.device.name == 'native:1' and x.dtype == dtype
    np.testing.assert_array_equal(_numpy(x), a)


@pytest.mark.parametrize('save', [chainerx.savez, chainerx.savez_compressed])
def test_savez(save, tmp_path):
    x = chainerx.array([[1.0, 2.0]]).require_grad()
    save(tmp_path / 'a', x.T, y=x[:, 0] * 2)
    found = chainerx.load(tmp_path / 'a.npz')
    assert type(found) is dict and sorted(found) == ['arr_0', 'y']
    assert found['arr_0'].tolist() == [[1], [2]] and found['y'].tolist() == [2]
    assert not found['y'].is_backprop_required()
    with np.load(tmp_path / 'a.npz') as archive:
        assert archive['y'].tolist() == [2]


def test_load_refuses_pickles(tmp_path):
    np.save(tmp_path / 'a.npy', np.array([{}], object), allow_pickle=True)
    np.savez(tmp_path / 'a.npz', np.array([{}], object))
    for name in 'a.npy', 'a.npz':
        with pytest.raises(ValueError, match='pickled objects, which are refused'):
            chainerx.load(tmp_path / name)
    (tmp_path / 'b.npy').write_bytes(b'\x80\x04]\x94.')
    with pytest.raises(ValueError, match="not in NumPy's formats"):
        chainerx.load(tmp_path / 'b.npy')
    np.save(tmp_path / 'c.npy', np.zeros(2, 'clongdouble'))
    with pytest.raises(chainerx.DtypeError, match='clongdouble|complex256'):
        chainerx.load(tmp_path / 'c.npy')


def test_wrong_files():
    for save in chainerx.save, chainerx.savez, chainerx.savez_compressed:
        file = io.BytesIO()
        with pytest.raises(TypeError, match=f'{save.__name__}: .*chainerx.ndarray, not list'):
            save(file, [1, 2])
        assert not file.getvalue()
    with pytest.raises(ValueError, match='arr_0'):
        chainerx.savez(io.BytesIO(), chainerx.ones(1), arr_0=chainerx.ones(1))
    for data in b'', b'no array', b'PK\x03\x04':
        with pytest.raises((ValueError, EOFError, zipfile.BadZipFile)):
            chainerx.load(io.BytesIO(data))
    with pytest.raises(FileNotFoundError):
        chainerx.load('there/is/no/such.npy')
