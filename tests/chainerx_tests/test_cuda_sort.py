"""Sorts, the search of nonzero elements and cumulative sums on the CUDA backend.

They need a GPU, or the emulation that ``python tools/build.py --test`` builds and tests.
"""

import numpy as np
import pytest

import chainerx
from tests.helpers.cuda_emulation import is_emulated

DTYPES = [np.dtype(dtype).name for dtype in chainerx.all_dtypes]
#: Shapes of one row, and of rows that are sorted together; lengths around those of blocks.
SHAPES = [(1,), (255,), (5000,), (1, 1), (3, 700), (300, 5), (2, 3, 257)]


def _values(shape, dtype):
    """Values with repetitions, extremes and what only floating point numbers have."""
    dtype = np.dtype(dtype)
    a = np.random.default_rng(0).integers(-9, 9, shape)
    if dtype.kind == 'f':
        special = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, np.finfo(dtype).tiny]
        a = a.astype(dtype) / 4
        a.ravel()[::5] = np.resize(special, a.size)[::5]
        return a
    a = a.astype(dtype)
    if dtype.kind in 'iu':
        a.ravel()[::7] = np.resize(
            np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype), a.size
        )[::7]
    return a


@pytest.mark.parametrize('shape', SHAPES, ids=str)
@pytest.mark.parametrize('dtype', DTYPES)
class TestSorts:
    def test_sort(self, shape, dtype):
        a = _values(shape, dtype)
        x = chainerx.array(a, device='cuda:0')
        np.testing.assert_array_equal(chainerx.to_numpy(chainerx.sort(x)), np.sort(a))

    def test_argsort(self, shape, dtype):
        a = _values(shape, dtype)
        x = chainerx.array(a, device='cuda:0')
        np.testing.assert_array_equal(
            chainerx.to_numpy(chainerx.argsort(x)), np.argsort(a, kind='stable')
        )

    def test_nonzero(self, shape, dtype):
        a = _values(shape, dtype)
        for x in a, np.zeros_like(a), np.ones_like(a):
            found = chainerx.nonzero(chainerx.array(x, device='cuda:0'))
            for positions, expected in zip(found, np.nonzero(x), strict=True):
                np.testing.assert_array_equal(chainerx.to_numpy(positions), expected)


@pytest.mark.skipif(not is_emulated(), reason='a GPU may be done by then')
@pytest.mark.parametrize('function', [chainerx.sort, chainerx.argsort, chainerx.cumsum])
def test_calls_do_not_wait(function):
    x = chainerx.array(_values((300,), 'float32'), device='cuda:0')
    x.device.synchronize()
    function(x)
    assert not x.device.current_stream.done


@pytest.mark.parametrize(
    'shape, axis', [((255,), 0), ((9000,), 0), ((3, 2049), 1), ((2, 300, 3), 1)]
)
@pytest.mark.parametrize('dtype', ['int32', 'float16', 'float32', 'float64'])
class TestCumulative:
    def test_sum(self, shape, axis, dtype):
        a = np.random.default_rng(0).integers(-2, 3, shape).astype(dtype)  # exact in all dtypes
        y = chainerx.cumsum(chainerx.array(a, device='cuda:0'), axis)
        np.testing.assert_array_equal(chainerx.to_numpy(y), np.cumsum(a, axis))

    def test_product(self, shape, axis, dtype):
        a = np.random.default_rng(0).choice([-1, 1], shape).astype(dtype)
        y = chainerx.cumprod(chainerx.array(a, device='cuda:0'), axis)
        np.testing.assert_array_equal(chainerx.to_numpy(y), np.cumprod(a, axis))


def test_sums_round_as_little_as_those_of_runs():
    a = np.random.default_rng(0).random(100000, 'float32')
    y = chainerx.to_numpy(chainerx.cumsum(chainerx.array(a, device='cuda:0')))
    np.testing.assert_allclose(y, np.cumsum(a, dtype='float64'), rtol=2e-6)
