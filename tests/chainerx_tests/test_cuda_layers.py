"""Kernels of layers on the CUDA backend where they depend on sizes, held against the native ones."""

import numpy as np
import pytest

import chainerx


def _run(function, arrays, device):
    """The output and the gradients."""
    xs = [chainerx.array(a, device=device).require_grad() for a in arrays]
    y = function(*xs)
    weights = np.random.default_rng(1).standard_normal(y.shape).astype(y.dtype.name)
    grads = chainerx.grad([(y * chainerx.array(weights, device=device)).sum()], xs)
    return [chainerx.to_numpy(a.as_grad_stopped()) for a in (y, *grads)]


@pytest.mark.parametrize(
    'shape, options',
    [
        ((2, 3, 9), ((3,), 2, 1)),
        ((2, 3, 7, 5), ((3, 2), (2, 3), (1, 0))),
        ((2, 3, 7, 5), ((3, 2), 2, 1, True)),
        ((1, 2, 4, 5, 6), ((2, 3, 2), (1, 2, 3), (1, 1, 0))),
        ((2, 1, 3, 4, 3, 4), (2, (1, 2, 2, 1), 1)),  # more axes than the fast kernel has
        ((3, 2, 1, 1), (1,)),
    ],
)
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_max_pooling(shape, options, dtype):
    # Equal elements and a NaN: the first of the largest ones counts.
    x = np.random.default_rng(0).integers(0, 4, shape).astype(dtype)
    x.flat[0] = np.nan
    results = [
        _run(lambda x: chainerx.max_pool(x, *options), [x], d) for d in ('cuda:0', 'native:0')
    ]
    for result, expected in zip(*results):
        np.testing.assert_allclose(result, expected, 1e-2 if dtype == 'float16' else 1e-5)


@pytest.mark.parametrize('rows, width', [(1, 1), (64, 33), (129, 5), (1000, 3), (3, 300)])
@pytest.mark.parametrize(
    'dtype, tolerance', [('float16', 2e-2), ('float32', 1e-4), ('float64', 1e-10)]
)
def test_layer_normalization(rows, width, dtype, tolerance):
    """Sums over many rows are made in two steps."""
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(s).astype(dtype) for s in ((rows, width), width, width)]
    results = [_run(chainerx.layer_norm, arrays, device) for device in ('cuda:0', 'native:0')]
    for result, expected in zip(*results):
        assert result.dtype == dtype
        np.testing.assert_allclose(result, expected, tolerance, 10 * tolerance)
    again = _run(chainerx.layer_norm, arrays, 'cuda:0')
    for result, same in zip(results[0], again):
        np.testing.assert_array_equal(result, same)
