import numpy as np
import pytest
from helpers.functions import check_function

import chainer
import chainerx
from chainer import functions as F

_rng = np.random.RandomState(0)


def _draw(*shapes):
    return [_rng.uniform(-1, 1, s) for s in shapes]


def _reference(q, k, v, allowed=None, bias=0, scale=None):
    score = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
    weight = np.exp(score)
    if allowed is not None:
        weight = weight * allowed
    total = weight.sum(-1, keepdims=True)
    return weight / np.where(total == 0, 1, total) @ v


_shapes = (2, 3, 4), (2, 5, 4), (2, 5, 2)


@pytest.mark.parametrize(
    'shapes', [_shapes, ((3, 4), (5, 4), (5, 2)), ((2, 2, 1, 3), (2, 2, 4, 3), (2, 2, 4, 3))]
)
@pytest.mark.parametrize('scale', [None, 0.3])
def test_attention(shapes, scale):
    check_function(
        lambda *xs: F.scaled_dot_product_attention(*xs, scale=scale),
        _draw(*shapes),
        lambda *xs: _reference(*xs, scale=scale),
    )


@pytest.mark.parametrize('n, m', [(4, 4), (2, 4), (4, 2)])
def test_causal(n, m):
    check_function(
        lambda *xs: F.scaled_dot_product_attention(*xs, is_causal=True),
        _draw((n, 3), (m, 3), (m, 2)),
        lambda *xs: _reference(*xs, np.tril(np.ones((n, m)))),
    )


@pytest.mark.parametrize('shape', [(3, 5), (2, 3, 5), (2, 1, 5), (5,)])
def test_boolean_mask(shape):
    mask = _rng.randint(0, 2, shape).astype(bool)
    mask[..., 0] = True
    if len(shape) == 2:
        mask[0] = False
    check_function(
        lambda *xs: F.scaled_dot_product_attention(*xs, mask=mask),
        _draw(*_shapes),
        lambda *xs: _reference(*xs, mask),
        on_chainerx=False,
    )


@pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
def test_boolean_mask_on_chainerx():
    mask = np.array([[True, False, True, False, True], [False] * 5, [True] * 5])
    xs = _draw(*_shapes)
    y = F.scaled_dot_product_attention(*[chainerx.array(x) for x in xs], mask=chainerx.array(mask))
    np.testing.assert_allclose(chainerx.to_numpy(y.array), _reference(*xs, mask), 1e-12)


@pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
def test_errors_on_chainerx():
    q, k, v = [chainerx.array(x) for x in _draw(*_shapes)]
    with pytest.raises(chainer.utils.type_check.InvalidType, match=r'k\.shape\[-1\]'):
        F.scaled_dot_product_attention(q, v, v)
    with pytest.raises(TypeError, match='mask must be of dtype bool'):
        F.scaled_dot_product_attention(q, k, v, chainerx.ones((3, 5), 'i'))


def test_additive_mask():
    check_function(F.scaled_dot_product_attention, _draw(*_shapes, (3, 5)), _reference_with_bias)


def _reference_with_bias(q, k, v, bias):
    return _reference(q, k, v, bias=bias)


def test_dropout():
    q, k, v = [x.astype('f') for x in _draw(*_shapes)]
    y = F.scaled_dot_product_attention(q, k, v, dropout_ratio=0.5)
    e = F.scaled_dot_product_attention(q, k, v)
    assert not np.allclose(y.array, e.array)
    with chainer.using_config('train', False):
        y = F.scaled_dot_product_attention(q, k, v, dropout_ratio=0.5)
    np.testing.assert_array_equal(y.array, e.array)


@pytest.mark.parametrize(
    'kwargs, error',
    [
        ({'mask': np.ones((3, 5), bool), 'is_causal': True}, ValueError),
        ({'mask': np.ones((3, 5), 'i')}, TypeError),
    ],
)
def test_bad_mask(kwargs, error):
    with pytest.raises(error):
        F.scaled_dot_product_attention(*_draw(*_shapes), **kwargs)
