"""bfloat16 as a dtype: conversions, promotion, text, and exchange with other libraries."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from chainerx_tests.dtypes import ALL

import chainerx

ml_dtypes = pytest.importorskip('ml_dtypes')
# Every pattern, as NumPy has no bfloat16: float32 holds each exactly, in its upper half.
PATTERNS = np.arange(1 << 16, dtype='uint32')
EXACT = (PATTERNS << 16).view('float32')
FINITE = EXACT[np.isfinite(EXACT)]


def from_bits(patterns):
    return chainerx.from_dlpack(Bits(patterns.astype('uint16')))


class Bits:
    """Gives unsigned integers of 16 bits as bfloat16."""

    def __init__(self, values):
        self.values = chainerx.array(values)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __dlpack__(self, **kwargs):
        return chainerx._core._rebuild_array(self.values, 'native:0', 'bfloat16').__dlpack__()


def rounded(x):
    """float64 to the nearest bfloat16, ties to even, by its definition; as float64."""
    x = np.asarray(x, 'float64')
    with np.errstate(all='ignore'):
        exponent = np.maximum(np.frexp(np.where(np.isfinite(x), x, 1))[1], -125)
        unit = np.ldexp(1.0, exponent - 8)
        y = np.rint(x / unit) * unit
        return np.where(np.isfinite(x), np.where(abs(y) >= 2.0**128, np.copysign(np.inf, x), y), x)


def wide(x, dtype='float64'):
    return chainerx.to_numpy(x.astype(dtype))


def test_every_pattern():
    x = from_bits(PATTERNS)
    for dtype in 'float32', 'float64':
        np.testing.assert_array_equal(wide(x, dtype), EXACT)
    with np.errstate(over='ignore', invalid='ignore'):
        doubles = EXACT.astype('float64')
        np.testing.assert_array_equal(wide(x, 'float16'), EXACT.astype('float16'))
    for values in EXACT, doubles:
        back = chainerx.array(values).astype('bfloat16')
        np.testing.assert_array_equal(wide(back), EXACT)
        signs = np.signbit(wide(back, 'float32'))
        np.testing.assert_array_equal(signs, np.signbit(EXACT))  # of NaN and zeros, too


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_rounds_to_nearest_even(dtype):
    values = np.sort(FINITE.astype('float64'))
    middle = (values[1:] + values[:-1]) / 2
    x = np.concatenate([middle, *[np.nextafter(middle.astype(dtype), s * np.inf) for s in (1, -1)]])
    x = np.concatenate([x, [3.3961e38, 3.38953e38, -3.4e38, 1e-45]]).astype(dtype)
    for layout in x, x[::-1], np.repeat(x, 2)[::2]:
        y = chainerx.array(layout).astype('bfloat16')
        np.testing.assert_array_equal(wide(y), rounded(layout))


@pytest.mark.parametrize('dtype', [d for d in ALL if not d.startswith('float')])
def test_integers(dtype):
    if dtype == 'bool':
        x = np.array([False, True])
    else:
        info = np.iinfo(dtype)
        x = [
            s * (2**e + d)
            for e in range(65)
            for s in (1, -1)
            for d in (-1, 0, 1, 2**e // 256, 2**e // 256 + 1, 3 * 2**e // 256)
        ]
        x = np.array([v for v in x if info.min <= v <= info.max], dtype)
    y = chainerx.array(x).astype('bfloat16')
    # Exact integers of Python, rounded once.
    expected = []
    for v in map(int, x):
        unit = 2 ** max(abs(v).bit_length() - 8, 0)
        low, rest = divmod(abs(v), unit)
        low += 2 * rest > unit or (2 * rest == unit and low % 2)
        expected.append(float(low * unit * (1 if v >= 0 else -1)))
    np.testing.assert_array_equal(wide(y), expected)
    inside = np.array([v for v in (0, 1, 2, 3, 100, 1.5, 2.75)])
    z = chainerx.array(inside).astype('bfloat16')
    np.testing.assert_array_equal(wide(z, dtype), inside.astype(dtype))


@pytest.mark.parametrize('other', ALL)
def test_promotion(other):
    a = chainerx.ones(3, 'bfloat16')
    b = chainerx.ones(3, other)
    expected = {'float16': 'float32', 'float32': 'float32', 'float64': 'float64'}
    for c in a + b, b + a, chainerx.where(b.astype('bool'), b, a), chainerx.concatenate([a, b]):
        assert name(c) == expected.get(other, 'bfloat16')
        np.testing.assert_array_equal(wide(c[:3]), wide(c)[:3])
    np.testing.assert_array_equal(wide(a + b), [2, 2, 2])
    assert chainerx.result_type('bfloat16', other).name == expected.get(other, 'bfloat16')


def name(x):
    return repr(x).split('dtype=')[1].split(',')[0]


def test_numbers_keep_the_dtype():
    x = chainerx.array([1, 2], 'bfloat16')
    for y in x + 0.1, 2 * x, x - True, x / 3, x**2, x + ml_dtypes.bfloat16(2), x > 1:
        assert name(y) == ('bool' if y.dtype == 'bool' else 'bfloat16')
    np.testing.assert_array_equal(wide(x + 0.1), rounded([1 + rounded(0.1), 2 + rounded(0.1)]))
    np.testing.assert_array_equal(wide(x + ml_dtypes.bfloat16(2)), [3, 4])
    x += 0.5
    assert name(x) == 'bfloat16'
    x[0] = 1e-3
    assert x[0].item() == rounded(1e-3)
    assert float(x[1]) == 2.5


def test_comparison_with_integers():
    x = chainerx.array([256, 257, 258], 'bfloat16')
    np.testing.assert_array_equal(wide(x), [256, 256, 258])
    i = chainerx.array([256, 257, 258], 'int32')
    assert (x == i).tolist() == [True, False, True]


@pytest.mark.parametrize('order', [[0, 1, 2], [2, 0, 1]])
def test_creation(order):
    for x in (
        chainerx.full((2, 3, 4), 0.1, 'bfloat16'),
        chainerx.zeros((2, 3, 4), 'E') + 0.1,
        chainerx.array(np.full((2, 3, 4), 0.1), 'bfloat16'),
        chainerx.array([[[0.1] * 4] * 3] * 2, 'bfloat16'),
    ):
        x = x.transpose(order)
        assert (x.itemsize, x.nbytes) == (2, 48)
        np.testing.assert_array_equal(wide(x), np.full(x.shape, 0.10009765625))
        np.testing.assert_array_equal(wide(x.copy()), wide(x))
    assert wide(chainerx.arange(5, dtype='bfloat16')).tolist() == [0, 1, 2, 3, 4]
    assert wide(chainerx.eye(2, dtype='bfloat16')).tolist() == [[1, 0], [0, 1]]
    assert wide(chainerx.linspace(0, 1, 3, dtype='bfloat16')).tolist() == [0, 0.5, 1]
    assert chainerx.empty((0, 2), 'bfloat16').tolist() == []
    assert chainerx.array([10**30], 'bfloat16').item() == rounded(1e30)


def test_text():
    x = chainerx.array([[1, 0.1], [np.inf, np.nan]], 'bfloat16')
    assert repr(x) == (
        "array([[1, 0.1001],\n       [inf, nan]], shape=(2, 2), dtype=bfloat16, device='native:0')"
    )
    assert str(x[0, 1]) == '0.1001'
    assert repr(x[0, 0]) == "array(1, shape=(), dtype=bfloat16, device='native:0')"
    assert repr(x[:0]) == "array([], shape=(0, 2), dtype=bfloat16, device='native:0')"
    # The digits tell all numbers apart.
    y = from_bits(PATTERNS)[np.isfinite(EXACT)]
    texts = [f'{v:.4g}' for v in FINITE.tolist()]
    again = chainerx.array([float(t) for t in texts], 'bfloat16')
    assert (again == y).all()


def test_copies_and_pickles():
    x = chainerx.array([[1, 0.1, 3], [4, 5, 6]], 'bfloat16').T
    for y in copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)):
        assert name(y) == 'bfloat16'
        assert y.tolist() == x.tolist()
    with pytest.raises(chainerx.DtypeError, match='float64'):
        chainerx._core._rebuild_array(np.zeros(2), 'native:0', 'bfloat16')


def test_numpy_exchange():
    assert chainerx.bfloat16 is ml_dtypes.bfloat16
    a = PATTERNS.astype('uint16').view(ml_dtypes.bfloat16)
    x = chainerx.array(a)
    assert x.dtype == ml_dtypes.bfloat16
    assert x.dtype.char == 'E'
    back = chainerx.to_numpy(x)
    assert back.dtype == a.dtype
    np.testing.assert_array_equal(back.view('uint16'), a.view('uint16'))
    # Rounding is that of ml_dtypes.
    rng = np.random.default_rng(0)
    wide_values = rng.normal(size=5000).astype('float32') * np.float32(10.0) ** rng.integers(
        -44, 38, 5000
    ).astype('float32')
    np.testing.assert_array_equal(
        chainerx.to_numpy(chainerx.array(wide_values).astype('bfloat16')).view('uint16'),
        wide_values.astype(ml_dtypes.bfloat16).view('uint16'),
    )
    # Memory is shared, of any layout.
    b = np.arange(12, dtype='float32').astype(ml_dtypes.bfloat16).reshape(3, 4)[::-1, ::2]
    shared = chainerx.asarray(b)
    shared[0, 0] = 99
    assert b[0, 0] == 99
    assert chainerx.to_numpy(shared).tolist() == b.tolist()
    view = chainerx.to_numpy(shared, copy=False)
    view[1, 1] = 77
    assert shared[1, 1].item() == 77
    assert np.asarray(shared).dtype == ml_dtypes.bfloat16
    assert np.asarray(shared, 'float32').tolist() == b.tolist()
    assert chainerx.array([ml_dtypes.bfloat16(1.5), ml_dtypes.bfloat16(2)]).tolist() == [1.5, 2]
    assert chainerx.array(ml_dtypes.bfloat16(1.5)).dtype == 'bfloat16'
    for dtype in 'bfloat16', 'E', ml_dtypes.bfloat16, np.dtype(ml_dtypes.bfloat16):
        assert chainerx.ones(2, dtype).dtype == ml_dtypes.bfloat16
        assert chainerx.ones(2).astype(dtype).dtype == ml_dtypes.bfloat16
    chainerx.testing.assert_array_equal(shared, b)
    chainerx.testing.assert_allclose(shared, b)


def test_questions_about_the_dtype():
    info = chainerx.finfo('bfloat16')
    theirs = ml_dtypes.finfo(ml_dtypes.bfloat16)
    assert (info.bits, info.eps, info.max) == (16, float(theirs.eps), float(theirs.max))
    assert (info.min, info.smallest_normal) == (-info.max, float(theirs.smallest_normal))
    assert chainerx.isdtype('bfloat16', 'real floating')
    assert not chainerx.isdtype(chainerx.bfloat16, ('integral', 'float16'))
    for other in ALL:
        a = chainerx.can_cast(other, 'bfloat16')
        assert a == (other in ('bool', 'int8', 'uint8')), other
        assert chainerx.can_cast('bfloat16', other) == (other in ('float32', 'float64')), other
    assert chainerx.can_cast('bfloat16', 'bfloat16')
    assert chainerx.result_type(chainerx.ones(2, 'bfloat16'), 3.5) == ml_dtypes.bfloat16
    largest = chainerx.nan_to_num(chainerx.array([np.inf, -np.inf, np.nan], 'bfloat16'))
    assert largest.tolist() == [info.max, info.min, 0]


def test_files_refuse_it(tmp_path):
    x = chainerx.ones(2, 'bfloat16')
    for write in chainerx.save, chainerx.savez:
        with pytest.raises(chainerx.DtypeError, match='float32'):
            write(tmp_path / 'file', x)


def test_dlpack():
    x = chainerx.array([[1, 0.1, 3], [4, 5, 6]], 'bfloat16').T
    y = chainerx.from_dlpack(x)
    assert name(y) == 'bfloat16'
    y[0, 0] = 7
    assert x[0, 0].item() == 7
    with pytest.raises(BufferError, match='bfloat16'):
        memoryview(x)


def test_torch():
    torch = pytest.importorskip('torch')
    t = torch.tensor([[1.5, 0.1]], dtype=torch.bfloat16)
    x = chainerx.from_dlpack(t)
    assert x.tolist() == t.tolist()
    assert torch.from_dlpack(x).dtype == torch.bfloat16


_WITHOUT = """
import sys
sys.modules['ml_dtypes'] = None
import chainerx, copy, pickle
x = chainerx.array([1, 0.1], 'bfloat16')
y = pickle.loads(pickle.dumps(x * 2 + 1))
assert 'bfloat16' in repr(y), repr(y)
assert y.tolist()[0] == 3 and str(y[0]) == '3'
assert chainerx.to_numpy(y.astype('float32')).dtype == 'float32'
for f in (lambda: chainerx.to_numpy(x), lambda: x.dtype, lambda: chainerx.bfloat16):
    try:
        f()
    except (ImportError, AttributeError) as e:
        assert 'ml_dtypes' in str(e), e
    else:
        raise AssertionError
assert not hasattr(chainerx, 'bfloat16')
"""


def test_without_the_package():
    subprocess.run([sys.executable, '-c', _WITHOUT], check=True, timeout=60)


def test_import_of_chainerx_does_not_import_the_package():
    code = 'import sys, chainerx; assert "ml_dtypes" not in sys.modules'
    subprocess.run([sys.executable, '-c', code], check=True, timeout=60)
