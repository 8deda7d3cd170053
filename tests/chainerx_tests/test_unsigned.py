"""What only unsigned integers have: numbers that no signed integer holds, and conversions of them."""

import pickle

import numpy as np
import pytest

import chainerx

UNSIGNED = chainerx.testing.unsigned_dtypes
BIG = 2**64 - 1
#: Numbers of uint64 around the ends of int64, in no order.
NUMBERS = np.array([5, BIG, 2**63, 0, 2**63 - 1, 2**53 + 1], 'uint64')


def same(x, expected):
    expected = np.asarray(expected)
    assert x.dtype == expected.dtype
    np.testing.assert_array_equal(chainerx.to_numpy(x), expected)


# ---------------------------------------------------------------- numbers


def test_numbers_of_python():
    same(chainerx.array([1, BIG], 'uint64'), np.array([1, BIG], 'uint64'))
    same(chainerx.array(BIG), np.array(BIG))
    same(chainerx.full(2, BIG), np.full(2, BIG))
    same(chainerx.full(2, BIG, 'float64'), np.full(2, 2.0**64))
    x = chainerx.zeros(3, 'uint64')
    x[0] = BIG
    x[1:] = chainerx.array([2**63, 1])
    same(x, np.array([BIG, 2**63, 1], 'uint64'))
    x.fill(2**63)
    assert x.tolist() == [2**63] * 3
    assert x[0].item() == int(x[1]) == 2**63
    assert float(x[2]) == 2.0**63
    assert bool(x[0])
    assert repr(chainerx.array(BIG)) == (
        "array(18446744073709551615, shape=(), dtype=uint64, device='native:0')"
    )
    assert str(x[0]) == '9223372036854775808'


@pytest.mark.parametrize('number', [BIG, np.uint64(BIG)], ids=['int', 'uint64'])
def test_operators_with_a_large_number(number):
    x = chainerx.array(NUMBERS)
    wide = NUMBERS.astype(object)
    same(x + number, ((wide + BIG) % 2**64).astype('uint64'))
    same(number - x, (BIG - wide).astype('uint64'))
    same(x // number, (wide // BIG).astype('uint64'))
    same(x & number, NUMBERS)
    same(x == number, NUMBERS == BIG)
    same(x < number, NUMBERS < BIG)
    same(chainerx.where(x < 9, number, x), np.where(NUMBERS < 9, np.uint64(BIG), NUMBERS))
    same(chainerx.ones(1) * number, np.full(1, BIG, 'float32'))
    same(chainerx.array([True]) & True, [True])


@pytest.mark.parametrize('dtype', UNSIGNED)
def test_numbers_out_of_bounds(dtype):
    x = chainerx.ones(2, dtype)
    for number in (-1, np.iinfo(dtype).max + 1 if dtype != 'uint64' else -(2**63)):
        with pytest.raises(
            chainerx.DtypeError, match=f'{number} is out of bounds for dtype {dtype}'
        ):
            x + number
        with pytest.raises(chainerx.DtypeError, match='out of bounds'):
            x[0] = number
    same(x + np.iinfo(dtype).max, np.zeros(2, dtype))
    for signed in chainerx.testing.signed_integral_dtypes:
        with pytest.raises(chainerx.DtypeError, match=f'{BIG} is out of bounds for dtype {signed}'):
            chainerx.ones(2, signed) + BIG
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError):
            x + number


def test_arange():
    same(chainerx.arange(4, dtype='uint64'), np.arange(4, dtype='uint64'))
    expected = np.array([2**63 - 1, 2**63, 2**63 + 1], 'uint64')
    same(chainerx.arange(3, dtype='uint64') + (2**63 - 1), expected)
    same(chainerx.arange(2**63 - 1, 2**63 + 2, dtype='uint64'), expected)
    same(chainerx.arange(2**63 + 1, 2**63 - 2, -1, dtype='uint64'), expected[::-1])
    same(chainerx.arange(2**53 + 1, 2**53 + 4, dtype='int64'), np.arange(2**53 + 1, 2**53 + 4))


# ---------------------------------------------------------------- conversions


@pytest.mark.parametrize('dtype', chainerx.testing.all_dtypes)
def test_conversions(dtype):
    dtype = np.dtype(dtype)
    a = NUMBERS[NUMBERS < 2**63] if dtype == 'float16' else NUMBERS
    with np.errstate(over='ignore'):
        same(chainerx.array(a).astype(dtype), a.astype(dtype))
    b = np.array([0, 1, 100], dtype)
    for other in UNSIGNED:
        same(chainerx.array(b).astype(other), b.astype(other))


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('step', [1, 2])
def test_fractions_become_integers(dtype, step):
    """Towards zero; negative numbers wrap, as those of signed integers do."""
    a = np.array([2.75, 2000.0, -1.5, -300.0] * 9, dtype)[::step]
    for other in UNSIGNED:
        same(chainerx.array(a).astype(other), a.astype('int64').astype(other))
    large = np.array([2.0**63, 2.0**64 - 2.0**40, 3.0], 'float64')
    same(chainerx.array(large).astype('uint64'), large.astype('uint64'))


@pytest.mark.parametrize('dtype', UNSIGNED)
def test_pickle(dtype):
    x = chainerx.array(np.array([[1, np.iinfo(dtype).max]], dtype))
    same(pickle.loads(pickle.dumps(x)), chainerx.to_numpy(x))


@pytest.mark.parametrize('format', ['H', 'I', 'L', 'Q'])
def test_formats_of_buffers(format):
    size = np.dtype(format).itemsize
    values = memoryview(bytes(range(2 * size))).cast(format)
    x = chainerx.array(values)
    assert x.tolist() == values.tolist()
    assert x.dtype == f'uint{8 * size}'
    assert memoryview(x).tolist() == values.tolist()


def test_torch():
    torch = pytest.importorskip('torch')
    for dtype in UNSIGNED:
        x = chainerx.array(np.array([1, np.iinfo(dtype).max], dtype))
        y = torch.from_dlpack(x)
        assert str(y.dtype) == f'torch.{dtype}'
        same(chainerx.from_dlpack(y), chainerx.to_numpy(x))


# ---------------------------------------------------------------- operations


def test_order():
    x = chainerx.array(NUMBERS)
    same(chainerx.sort(x), np.sort(NUMBERS))
    same(chainerx.argsort(x), np.argsort(NUMBERS))
    same(chainerx.unique(chainerx.concatenate([x, x])), np.unique(NUMBERS))
    same(x.max(), NUMBERS.max())
    same(x.min(), NUMBERS.min())
    same(x.argmax(), NUMBERS.argmax())
    same(x.argmin(), NUMBERS.argmin())
    same(chainerx.maximum(x, 2**63), np.maximum(NUMBERS, np.uint64(2**63)))
    same(chainerx.clip(x, 5, 2**63), np.clip(NUMBERS, np.uint64(5), np.uint64(2**63)))
    ordered = np.sort(NUMBERS)
    for v in (0, 2**63, BIG):
        assert int(chainerx.searchsorted(chainerx.array(ordered), v)) == np.searchsorted(
            ordered, np.uint64(v)
        )
    assert int(chainerx.searchsorted(chainerx.array(ordered), -1)) == 0
    assert int(chainerx.searchsorted(chainerx.array([1, 2]), BIG)) == 2


def test_sums():
    x = chainerx.array(NUMBERS)
    for name in ('sum', 'prod', 'nansum', 'nanprod', 'cumsum', 'cumprod'):
        same(getattr(chainerx, name)(x), getattr(np, name)(NUMBERS))
    for dtype in ('uint8', 'uint16', 'uint32'):
        a = np.array([np.iinfo(dtype).max] * 3, dtype)
        y = chainerx.array(a)
        same(y.sum(), a.sum().astype('int64'))
        same(y.cumsum(), a.cumsum().astype('int64'))
        same(chainerx.array_api.sum(y), a.sum(dtype='uint64'))
        same(chainerx.cumulative_sum(y), a.cumsum(dtype='uint64'))
    assert float(x.mean()) == np.float32(NUMBERS.mean())


def test_division_and_bits():
    x = chainerx.array(NUMBERS)
    for number in (3, 2**63):
        n = np.uint64(number)
        same(x // number, NUMBERS // n)
        same(x % number, NUMBERS % n)
        same(chainerx.fmod(x, number), np.fmod(NUMBERS, n))
    same(x >> 63, NUMBERS >> np.uint64(63))
    same(x << 1, NUMBERS << np.uint64(1))
    same(~x, ~NUMBERS)
    same(x**3, NUMBERS ** np.uint64(3))
    same(-x, (-NUMBERS.astype(object) % 2**64).astype('uint64'))
    same(abs(x), NUMBERS)
    same(chainerx.sign(x), np.sign(NUMBERS))
    same(x // 0, np.zeros_like(NUMBERS))


def test_together_with_signed_integers():
    """float64, as in NumPy; not where only integers have a meaning, nor in place."""
    x, y = chainerx.array([1, 2], 'uint64'), chainerx.array([-1, 3])
    same(x + y, [0.0, 5.0])
    same(chainerx.concatenate([x, y]), [1.0, 2.0, -1.0, 3.0])
    for call in (lambda: x & y, lambda: x << y, lambda: x.__iadd__(y), lambda: y.__iadd__(x)):
        with pytest.raises(chainerx.DtypeError, match='float64'):
            call()


@pytest.mark.parametrize('dtype', UNSIGNED)
def test_indices(dtype):
    a = np.arange(12.0).reshape(4, 3)
    index = np.array([3, 0, 3], dtype)
    x, i = chainerx.array(a).require_grad(), chainerx.array(index)
    index = index.astype(np.int64)  # NumPy 1 takes no uint64 everywhere
    same(x[i].as_grad_stopped(), a[index])
    same(x[:, chainerx.array((index % 3).astype(dtype))].as_grad_stopped(), a[:, index % 3])
    same(x.take(i, 0).as_grad_stopped(), a.take(index, 0))
    assert x[i[0]].shape == (3,)
    assert [1, 2, 3, 4][i[0]] == 4
    x[i].sum().backward()
    same(x.grad, np.array([1.0, 0, 0, 2])[:, None] * np.ones(3))
    same(chainerx.bincount(i), np.bincount(index))
    rows = chainerx.embed_id(i, chainerx.array(a))
    same(rows, a[index])
