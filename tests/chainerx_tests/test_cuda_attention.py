"""Attention on the CUDA backend: tiles, dtypes, masks and memory, held against the plain formula."""

import gc

import numpy as np
import pytest

import chainerx

TOLERANCE = {'float16': 4e-3, 'bfloat16': 3e-2, 'float32': 2e-5, 'float64': 1e-12}
WIDTHS = {'float16': (40, 24), 'bfloat16': (16, 130), 'float32': (33, 100), 'float64': (35, 68)}


def _normal(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def _attend(q, k, v, gy, mask=None, causal=False):
    """Output and gradients of q, k and v, in float64."""
    scale = q.shape[-1] ** -0.5
    score = scale * q @ k.swapaxes(-1, -2)
    if mask is not None:
        score = np.where(mask, score, -np.inf) if mask.dtype == bool else score + mask
    if causal:
        score = np.where(np.tri(*score.shape[-2:], dtype=bool), score, -np.inf)
    top = score.max(-1, keepdims=True)
    weight = np.exp(score - np.where(np.isfinite(top), top, 0))
    total = weight.sum(-1, keepdims=True)
    weight /= np.where(total == 0, 1, total)
    gweight = gy @ v.swapaxes(-1, -2)
    gscore = scale * weight * (gweight - (weight * gweight).sum(-1, keepdims=True))
    return weight @ v, gscore @ k, gscore.swapaxes(-1, -2) @ q, weight.swapaxes(-1, -2) @ gy


def _run(arrays, dtype, device, mask=None, **options):
    """The same by ChainerX, and the values that the dtype has of the inputs."""
    rounded = [chainerx.array(a, device=device).astype(dtype) for a in arrays]
    xs = [x.require_grad() for x in rounded[:3]]
    mask = None if mask is None else chainerx.array(mask, device=device)
    y = chainerx.scaled_dot_product_attention(*xs, mask, **options)
    grads = chainerx.grad([y], xs, grad_outputs=[rounded[3]])
    numpy = [
        chainerx.to_numpy(a.as_grad_stopped().astype('float64'))
        for a in (y, *grads, *xs, rounded[3])
    ]
    return numpy[:4], numpy[4:]


def _masks(queries, keys):
    draw = np.random.default_rng(5).random
    few = draw((2, 1, queries, keys)) < 0.5
    few[0, 0, queries // 2] = False  # this query attends to no key
    bias = _normal(queries, 1, 1).swapaxes(0, 1)
    return {
        'none': {},
        'causal': {'causal': True},
        'booleans': {'mask': few},
        'a row of booleans, causal': {'mask': draw(keys) < 0.8, 'causal': True},
        'a column of float16': {'mask': bias.astype('float16')},
        'a matrix of float64': {'mask': np.where(draw((queries, keys)) < 0.1, -np.inf, 1.5)},
    }


@pytest.mark.parametrize('mask', _masks(1, 1))
@pytest.mark.parametrize('dtype', TOLERANCE)
@pytest.mark.parametrize('queries, keys', [(70, 131), (131, 70)])
def test_values_and_gradients(queries, keys, dtype, mask):
    width, value_width = WIDTHS[dtype]
    shapes = (queries, width), (keys, width), (keys, value_width), (queries, value_width)
    arrays = [_normal(2, 1, *shape) for shape in shapes]
    options = _masks(queries, keys)[mask]
    results, inputs = _run(arrays, dtype, 'cuda:0', **options)
    for result, expected in zip(results, _attend(*inputs, **options), strict=True):
        scale = abs(expected).max()
        np.testing.assert_allclose(result / scale, expected / scale, 0, TOLERANCE[dtype])


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_strided_matrices_and_broadcast_masks(dtype):
    # Heads as projections leave them, every other column, more batches than dimensions can be merged.
    def strided(*shape):
        a = chainerx.array(_normal(*shape, 2), device='cuda:0').astype(dtype)
        return a[..., 0].transpose(0, 2, 3, 1, 4)

    q, k, v = strided(2, 5, 3, 2, 4), strided(2, 6, 3, 2, 4), strided(2, 6, 3, 2, 3)
    mask = chainerx.array(_normal(2, 1, 2, 1, 6), device='cuda:0')[..., ::-1]
    y = chainerx.scaled_dot_product_attention(q, k, v, mask)
    numpy = [chainerx.to_numpy(a).astype('float64') for a in (q, k, v, y, mask)]
    expected = _attend(*numpy[:4], numpy[4])[0]
    np.testing.assert_allclose(numpy[3], expected, 1e-4, 1e-5)


def test_gradients_of_one_query():
    # The stride of the one row of each gradient is that of other memory.
    arrays = [_normal(*shape) for shape in ((3, 1, 4), (3, 5, 4), (3, 5, 2), (1, 3, 2))]
    q, k, v, gy = [chainerx.array(a, device='cuda:0') for a in arrays]
    xs = [a.require_grad() for a in (q, k, v)]
    y = chainerx.scaled_dot_product_attention(*xs)
    grads = chainerx.grad([y], xs, grad_outputs=[gy.transpose(1, 0, 2)])
    expected = _attend(*arrays[:3], arrays[3].swapaxes(0, 1))[1:]
    for grad, values in zip(grads, expected, strict=True):
        np.testing.assert_allclose(chainerx.to_numpy(grad), values, 1e-12, 1e-14)


@pytest.mark.parametrize('shape', [(0, 3, 2, 4), (3, 0, 2, 4), (3, 4, 0, 2), (3, 4, 2, 0)])
def test_empty_arrays(shape):
    queries, keys, width, value_width = shape
    shapes = (queries, width), (keys, width), (keys, value_width), (queries, value_width)
    xs = [chainerx.zeros(s, 'float32', device='cuda:0').require_grad() for s in shapes[:3]]
    y = chainerx.scaled_dot_product_attention(*xs, scale=1)
    grads = chainerx.grad([y], xs, grad_outputs=[chainerx.ones(shapes[3], 'float32', 'cuda:0')])
    assert [a.shape for a in (y, *grads)] == [shapes[3], *shapes[:3]]
    for a in (y, *grads[:2]):
        assert not chainerx.to_numpy(a.as_grad_stopped()).any()


@pytest.mark.parametrize('value, is_nan', [(np.nan, True), (np.inf, True), (-np.inf, False)])
def test_scores_that_are_no_numbers(value, is_nan):
    mask = np.zeros((3, 70), 'float32')
    mask[1, 66] = value
    arrays = [_normal(*shape) for shape in ((3, 4), (70, 4), (70, 2), (3, 2))]
    y = _run(arrays, 'float32', 'cuda:0', mask)[0][0]
    assert np.isnan(y).tolist() == [[False] * 2, [is_nan] * 2, [False] * 2]


def test_scores_are_never_held():
    device = chainerx.get_device('cuda:0')
    queries = 512
    arrays = [_normal(queries, 4) for _ in range(4)]
    _run(arrays, 'float32', device)
    gc.collect()
    device.reset_memory_peaks()
    before = device.memory_statistics()['used']
    _run(arrays, 'float32', device, np.ones(queries, bool), causal=True)
    assert device.memory_statistics()['peak_used'] - before < queries * queries
