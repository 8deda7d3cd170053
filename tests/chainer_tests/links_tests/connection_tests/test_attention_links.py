import numpy as np
import pytest

import chainer
from chainer import functions as F, links as L
from tests.helpers.devices import CHX


def f(*shape):
    return np.random.uniform(-1, 1, shape).astype('f')


def attend(link, q, k, v, allowed):
    """Multi-head attention in NumPy, sample by sample and head by head."""

    def project(layer, x):
        return x @ layer.W.array.T + layer.b.array

    q, k, v = project(link.query, q), project(link.key, k), project(link.value, v)
    size = q.shape[2] // link.n_heads
    y = np.empty_like(q)
    for sample in range(len(q)):
        for head in range(link.n_heads):
            part = slice(head * size, (head + 1) * size)
            scores = q[sample, :, part] @ k[sample, :, part].T / np.sqrt(size)
            weights = np.exp(scores) * allowed[sample, head]
            y[sample, :, part] = weights / weights.sum(1, keepdims=True) @ v[sample, :, part]
    return project(link.output, y)


@pytest.mark.parametrize('mask_shape', [None, (3, 5), (2, 1, 5), (2, 2, 3, 5)])
@pytest.mark.parametrize('causal', [False, True])
def test_attention(mask_shape, causal):
    link = L.MultiHeadAttention(4, 2, memory_size=6, initial_bias=chainer.initializers.Normal(1))
    q, k, v = f(2, 3, 4), f(2, 5, 6), f(2, 5, 6)
    allowed = np.ones((2, 2, 3, 5), bool)
    mask = None
    if mask_shape is not None:
        mask = np.random.rand(*mask_shape) < 0.5
        mask[..., 0] = True
        allowed &= mask[:, None] if mask.ndim == 3 else mask
    if causal:
        allowed &= np.tri(3, 5, dtype=bool)
    y = link(q, k, v, mask=mask, causal=causal)
    np.testing.assert_allclose(y.array, attend(link, q, k, v, allowed), atol=1e-5)


def test_attention_defaults():
    link = L.MultiHeadAttention(4, 2)
    x, m = f(2, 3, 4), f(2, 5, 4)
    np.testing.assert_array_equal(link(x).array, link(x, x, x).array)
    np.testing.assert_array_equal(link(x, m).array, link(x, m, m).array)
    assert len(list(L.MultiHeadAttention(4, 2, nobias=True).params())) == 4


def test_attention_drops_weights_in_training_only():
    link = L.MultiHeadAttention(4, 2, dropout=0.5)
    x = f(2, 3, 4)
    assert (link(x).array != link(x).array).any()
    with chainer.using_config('train', False):
        np.testing.assert_array_equal(link(x).array, link(x).array)


def test_attention_of_float16_stays_finite():
    with chainer.using_config('dtype', np.dtype('e')):
        link = L.MultiHeadAttention(4, 2)
    mask = np.zeros((3, 3), bool)  # even where nothing may be attended to
    y = link(f(2, 3, 4).astype('e'), mask=mask).array
    assert y.dtype == np.float16 and np.isfinite(y).all()


@pytest.mark.parametrize('mask', [np.ones((3, 3), 'f'), np.ones(3, bool)])
def test_attention_errors(mask):
    with pytest.raises(ValueError, match='mask'):
        L.MultiHeadAttention(4, 2)(f(2, 3, 4), mask=mask)
    with pytest.raises(ValueError, match='n_heads'):
        L.MultiHeadAttention(4, 3)


@pytest.mark.chainerx
@pytest.mark.parametrize('causal', [False, True])
def test_attention_with_mask_on_chainerx(causal):
    link = L.MultiHeadAttention(4, 2)
    x = f(2, 3, 4)
    mask = np.array([[True, False, True], [True, True, False], [True, True, True]])
    expected = link(x, mask=mask, causal=causal).array
    link.to_device(CHX[0])
    send = chainer.get_device(CHX[0]).send
    y = link(send(x), mask=send(mask), causal=causal)
    np.testing.assert_allclose(chainer.get_device('@numpy').send(y.array), expected, atol=1e-5)


def norm(layer, x):
    flat = F.layer_normalization(F.reshape(x, (-1, x.shape[2])), layer.gamma, layer.beta, eps=1e-5)
    return F.reshape(flat, x.shape)


def feed_forward(link, h):
    return link.linear2(F.tanh(link.linear1(h, n_batch_axes=2)), n_batch_axes=2)


@pytest.mark.parametrize('norm_first', [False, True])
def test_encoder(norm_first):
    link = L.TransformerEncoderLayer(4, 2, 3, 0, F.tanh, norm_first)
    x = f(2, 3, 4)
    if norm_first:
        h = x + link.self_attention(norm(link.norm1, x), causal=True)
        expected = h + feed_forward(link, norm(link.norm2, h))
    else:
        h = norm(link.norm1, x + link.self_attention(x, causal=True))
        expected = norm(link.norm2, h + feed_forward(link, h))
    np.testing.assert_allclose(link(x, causal=True).array, expected.array, atol=1e-6)
    assert link.linear1.W.shape == (3, 4)
    assert L.TransformerEncoderLayer(4, 2).linear1.W.shape == (16, 4)


def test_decoder():
    link = L.TransformerDecoderLayer(4, 2, 3, 0, F.tanh, memory_size=6)
    x, memory = f(2, 3, 4), f(2, 5, 6)
    mask = np.ones((3, 5), bool)
    mask[:, 2:] = False
    h = norm(link.norm1, x + link.self_attention(x, causal=True))
    h = norm(link.norm2, h + link.cross_attention(h, memory, mask=mask))
    expected = norm(link.norm3, h + feed_forward(link, h))
    np.testing.assert_allclose(link(x, memory, memory_mask=mask).array, expected.array, atol=1e-6)


def test_layers_drop_in_training_only():
    link = L.TransformerEncoderLayer(4, 2, dropout=0.5)
    x = f(2, 3, 4)
    assert (link(x).array != link(x).array).any()
    with chainer.using_config('train', False):
        np.testing.assert_array_equal(link(x).array, link(x).array)


def test_layers_draw_no_numbers_to_drop_nothing():
    layer = L.TransformerEncoderLayer(4, 2, dropout=0)
    x = f(1, 3, 4)
    with chainer.using_config('train', False):
        expected = layer(x).array
    np.random.seed(0)
    y = layer(x).array
    assert np.random.rand() == np.random.RandomState(0).rand()
    np.testing.assert_array_equal(y, expected)
