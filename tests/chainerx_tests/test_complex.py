"""complex64 and complex128 as dtypes: making, converting, promotion, text, exchange, and what refuses them."""

import copy
import operator
import pickle

import numpy as np
import pytest
from chainerx_tests.dtypes import ALL

import chainerx

COMPLEX = 'complex64', 'complex128'
INF, NAN = np.inf, np.nan
SPECIAL = np.array(
    [complex(a, b) for a in (0.0, -0.0, 1.5, INF, NAN) for b in (0.0, -0.0, -2, -INF, NAN)]
)


def make(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def check(actual, expected):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(chainerx.to_numpy(actual.as_grad_stopped()), expected)


@pytest.mark.parametrize('dtype', COMPLEX)
def test_creation(dtype):
    check(chainerx.zeros((2, 3), dtype), np.zeros((2, 3), dtype))
    check(chainerx.ones(3, dtype), np.ones(3, dtype))
    check(chainerx.full(2, 1 - 2j, dtype), np.full(2, 1 - 2j, dtype))
    check(chainerx.eye(3, dtype=dtype), np.eye(3, dtype=dtype))
    check(chainerx.array([1, 2.5, 3j], dtype), np.array([1, 2.5, 3j], dtype))
    check(chainerx.array([[1j]], dtype), np.array([[1j]], dtype))
    a = make((3, 4), dtype)
    check(chainerx.array(a), a)
    check(chainerx.array(a[::2, ::-1]), a[::2, ::-1])
    assert chainerx.asarray(a).data_ptr == a.ctypes.data
    check(chainerx.empty((0, 2), dtype), np.empty((0, 2), dtype))
    check(chainerx.frombuffer(a.tobytes(), dtype), a.ravel())
    x = chainerx.zeros(2, dtype)
    x.fill(2j)
    check(x, np.full(2, 2j, dtype))


def test_numbers():
    assert chainerx.array(1j).dtype == 'complex128'
    assert chainerx.array([1j, 2]).dtype == 'complex128'
    assert chainerx.array(np.complex64(1j)).dtype == 'complex64'
    assert chainerx.full(2, 1j).dtype == 'complex64'
    for dtype in 'complex64', 'F', 'complex128', 'D', complex, np.complex64, np.dtype('complex128'):
        assert chainerx.zeros(1, dtype).dtype == np.dtype(dtype)
    x = chainerx.array([1 + 2j])
    assert x.item() == complex(x) == x.tolist()[0] == 1 + 2j
    assert complex(chainerx.array(2.5)) == 2.5
    assert bool(chainerx.array(1j)) and not bool(chainerx.array(0j))
    for convert in float, int, operator.index:
        with pytest.raises(TypeError):
            convert(chainerx.array(1j))


@pytest.mark.parametrize('a', [*ALL, *COMPLEX])
@pytest.mark.parametrize('b', COMPLEX)
def test_promotion(a, b):
    wide = 'complex128' if 'complex128' in (a, b) or a == 'float64' else 'complex64'
    x, y = chainerx.ones(2, a), chainerx.full(2, 1j, b)
    for result in x + y, y * x, y - x, x / y, chainerx.where(chainerx.array([True, False]), x, y):
        assert result.dtype == wide
    assert chainerx.result_type(a, b) == chainerx.result_type(x, y) == wide
    assert (x.reshape(1, 2) @ y).dtype == wide
    check(x + y, np.full(2, 1 + 1j, wide))


@pytest.mark.parametrize('dtype', [*ALL, *COMPLEX])
def test_promotion_of_numbers(dtype):
    x = chainerx.ones(2, dtype)
    wide = 'complex128' if dtype in ('float64', 'complex128') else 'complex64'
    for result in x + 1j, 1j * x, x - np.complex64(1), np.complex128(2) * x:
        assert result.dtype == wide
    assert chainerx.result_type(dtype, 1j) == chainerx.result_type(x, 1j) == wide
    if dtype in COMPLEX:
        assert (x + 1).dtype == (2.5 * x).dtype == (x * True).dtype == dtype


@pytest.mark.parametrize('source', COMPLEX)
@pytest.mark.parametrize('target', [*ALL, *COMPLEX])
def test_conversion(source, target):
    a = np.array([[1.5 + 2j, 0, 3j], [-2.25, 7 + 1j, 100]], source)
    for view in a, a.T, a[:, ::-2], a[:0], a[0, 0]:
        x = chainerx.array(view)
        if target in COMPLEX:
            check(x.astype(target), view.astype(target))
        elif target == 'bool':
            check(x.astype('bool'), view.astype('bool'))
        else:
            with pytest.warns(np.exceptions.ComplexWarning, match='discards the imaginary part'):
                y = x.astype(target)
            real = np.abs(view.real) if target.startswith('u') else view.real
            if not target.startswith('u'):
                check(y, real.astype(target))
    b = np.arange(-2, 3).astype(target)
    check(chainerx.array(b).astype(source), b.astype(source))


def test_special_values():
    x = chainerx.array(SPECIAL)
    for name in 'isnan isinf isfinite real imag conj'.split():
        check(getattr(chainerx, name)(x), getattr(np, name)(SPECIAL))
    check(x == x, SPECIAL == SPECIAL)
    check(x != x, SPECIAL != SPECIAL)
    check(x.astype('bool'), SPECIAL.astype('bool'))


@pytest.mark.parametrize('dtype', COMPLEX)
def test_parts(dtype):
    a = make((3, 4), dtype)
    x = chainerx.array(a)
    for view, y in (a, x), (a.T, x.T), (a[:, 1::2], x[:, 1::2]):
        check(chainerx.real(y), view.real)
        check(chainerx.imag(y), view.imag)
        check(chainerx.conj(y), view.conj())
        np.testing.assert_allclose(chainerx.to_numpy(chainerx.angle(y)), np.angle(view), rtol=1e-6)
    # Views, as in NumPy.
    chainerx.real(x)[0] = 7
    chainerx.imag(x)[:, 0] += 1
    a.real[0] = 7
    a.imag[:, 0] += 1
    check(x, a)


@pytest.mark.parametrize('dtype', ['int32', 'float32', 'float64'])
def test_parts_of_real_numbers(dtype):
    x = chainerx.array([-1, 0, 2], dtype)
    assert chainerx.real(x) is x and chainerx.conj(x) is x
    check(chainerx.imag(x), np.zeros(3, dtype))
    np.testing.assert_allclose(chainerx.to_numpy(chainerx.angle(x)), [np.pi, 0, 0], rtol=1e-6)


@pytest.mark.parametrize('dtype', COMPLEX)
def test_views_and_indices(dtype):
    a = make((3, 4, 2), dtype)
    x = chainerx.array(a)
    index, mask = [2, 0, 2], a.real > 0
    for f in (
        lambda v, np: v[1],
        lambda v, np: v[:, ::-1, None],
        lambda v, np: v[..., 1:],
        lambda v, np: np.transpose(v, (2, 0, 1)),
        lambda v, np: np.concatenate([v, v[:1]], 0),
        lambda v, np: np.stack([v, v], 1),
        lambda v, np: np.reshape(v.T, (4, 6)),
        lambda v, np: np.flip(v, 1),
        lambda v, np: np.roll(v, 1, 2),
        lambda v, np: np.tile(v, (2, 1, 1)),
        lambda v, np: np.repeat(v, 2, 1),
        lambda v, np: np.broadcast_to(v[:, :1], (3, 4, 2)),
        lambda v, np: np.tril(v[0]),
        lambda v, np: np.diagonal(v[:, :3, 0]),
        lambda v, np: np.pad(v, 1, 'constant'),
        lambda v, np: v.copy(),
    ):
        check(f(x, chainerx), np.ascontiguousarray(f(a, np)))
    check(x[index], a[index])
    check(x[chainerx.array(mask)], a[mask])
    check(chainerx.take(x, chainerx.array(index), 0), np.take(a, index, 0))
    for part, expected in zip(chainerx.nonzero(x), np.nonzero(a), strict=True):
        check(part, expected)
    x[1, index[:2]] = 5
    a[1, index[:2]] = 5
    x[0] = 2j
    a[0] = 2j
    x[2, :, 1] = chainerx.array([1, 2, 3, 4])
    a[2, :, 1] = [1, 2, 3, 4]
    check(x, a)


@pytest.mark.parametrize('dtype', COMPLEX)
def test_in_place(dtype):
    a = make((2, 3), dtype)
    x = chainerx.array(a)
    for op in operator.iadd, operator.isub, operator.imul:
        x = op(x, 2)
        a = op(a, 2)
        x = op(x, chainerx.ones(3, 'float32'))
        a = op(a, np.ones(3, 'float32'))
    check(x, a)


@pytest.mark.parametrize(
    'change',
    [
        lambda x: operator.iadd(x, 1j),
        lambda x: operator.imul(x, chainerx.full(2, 1j)),
        lambda x: x.fill(1j),
        lambda x: operator.setitem(x, 0, 1j),
        lambda x: operator.setitem(x, slice(None), chainerx.full(2, 1j)),
        lambda x: chainerx.add(x, 1j, out=x),
        lambda x: chainerx.copyto(x, chainerx.full(2, 1j), casting='same_kind'),
    ],
)
@pytest.mark.parametrize('dtype', ['int32', 'float32'])
def test_real_arrays_take_no_complex_numbers(change, dtype):
    x = chainerx.ones(2, dtype)
    with pytest.raises(chainerx.DtypeError):
        change(x)
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize('dtype', COMPLEX)
def test_text_and_copies(dtype):
    a = np.array([1 + 2j, 0.5j], dtype)
    x = chainerx.array(a)
    text = "array([1.+2.j , 0.+0.5j], shape=(2,), dtype={}, device='native:0')"
    assert repr(x) == text.format(dtype)
    assert str(chainerx.array(1 + 2j)) == '(1+2j)'
    assert f'{chainerx.array(1 + 2j):.1f}' == '1.0+2.0j'
    for y in pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x):
        check(y, a)
        assert y.data_ptr != x.data_ptr


@pytest.mark.parametrize('dtype', COMPLEX)
def test_exchange(dtype):
    a = make((3, 2), dtype)
    x = chainerx.from_dlpack(a)
    assert x.data_ptr == a.ctypes.data
    check(x, a)
    y = np.from_dlpack(x.T)
    assert y.dtype == dtype and y.ctypes.data == a.ctypes.data
    np.testing.assert_array_equal(y, a.T)
    view = memoryview(x)
    assert (view.itemsize, view.shape, view.nbytes) == (a.itemsize, a.shape, a.nbytes)
    np.testing.assert_array_equal(np.asarray(x), a)


REFUSED = {
    'less': lambda x: x < x,
    'less_equal': lambda x: x <= x,
    'greater': lambda x: x > 0,
    'greater_equal': lambda x: 1 >= chainerx.greater_equal(x, x),
    'floor_divide': lambda x: x // x,
    'remainder': lambda x: x % 2,
    'maximum': lambda x: chainerx.maximum(x, x),
    'amax': lambda x: chainerx.amax(x),
    'argmin': lambda x: chainerx.argmin(x),
    'sort': lambda x: chainerx.sort(x),
    'argsort': lambda x: chainerx.argsort(x),
    'floor': lambda x: chainerx.floor(x),
    'erf': lambda x: chainerx.erf(x),
    'relu': lambda x: chainerx.relu(x),
    'sigmoid': lambda x: chainerx.sigmoid(x),
    'softmax': lambda x: chainerx.softmax(x),
    'logsumexp': lambda x: chainerx.logsumexp(x),
    'hypot': lambda x: chainerx.hypot(x, x),
    'arctan2': lambda x: chainerx.arctan2(x, x),
    'bitwise_and': lambda x: x & x,
    'nan_to_num': lambda x: chainerx.nan_to_num(x),
    'conv': lambda x: chainerx.conv(x.reshape(1, 1, 4), x.reshape(1, 1, 4)),
    'max_pool': lambda x: chainerx.max_pool(x.reshape(1, 1, 4), 2),
    'layer_norm': lambda x: chainerx.layer_norm(x.reshape(1, 4), x, x),
    'dropout': lambda x: chainerx.dropout(x),
    'arange': lambda x: chainerx.arange(3, dtype=x.dtype),
}


@pytest.mark.parametrize('dtype', COMPLEX)
@pytest.mark.parametrize('name', REFUSED)
def test_refused(name, dtype):
    with pytest.raises(
        chainerx.DtypeError, match=f'(?s){name.split(".")[-1]}.*{dtype}|{dtype}.*{name}'
    ):
        REFUSED[name](chainerx.array(make(4, dtype)))


@pytest.mark.parametrize('op', chainerx._core._ops(), ids=lambda op: op['name'])
def test_ops_of_one_array_compute_or_refuse(op):
    """No op drops imaginary parts in silence: those of one array give complex results, booleans, or an error."""
    name = op['name']
    function = getattr(chainerx._core, name, None)
    if function is None or op['signature'].replace(', out=None', '') not in ('x', 'a'):
        return
    x = chainerx.array(make((2, 2), 'complex128'))
    real = {
        'absolute',
        'real',
        'imag',
        'angle',
        'isnan',
        'isinf',
        'isfinite',
        'logical_not',
        'argwhere',
        'flatnonzero',
        'nonzero',
    }
    try:
        y = function(x)
    except chainerx.DtypeError as error:
        assert 'complex128' in str(error)
        return
    results = y if isinstance(y, (list, tuple)) else [y]
    assert name in real or all(r.dtype == 'complex128' for r in results)


def test_questions():
    for dtype in COMPLEX:
        assert chainerx.isdtype(dtype, 'complex floating') and chainerx.isdtype(dtype, 'numeric')
        assert not chainerx.isdtype(dtype, 'real floating')
        part = 'float32' if dtype == 'complex64' else 'float64'
        assert chainerx.finfo(dtype) == chainerx.finfo(part)
        assert chainerx.can_cast('float32', dtype) and not chainerx.can_cast(dtype, 'float64')
    info = chainerx.array_api.__array_namespace_info__()
    assert list(info.dtypes(kind='complex floating')) == list(COMPLEX)
    assert info.default_dtypes()['complex floating'] == 'complex128'
