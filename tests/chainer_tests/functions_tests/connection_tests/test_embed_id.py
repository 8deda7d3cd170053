import numpy as np
import pytest
from helpers.functions import check_function

import chainer
import chainer.functions as F
from chainer.utils import type_check


def reference(x, W, ignore_label):
    y = np.zeros((*x.shape, W.shape[1]))
    for index in np.ndindex(x.shape):
        if x[index] != ignore_label:
            y[index] = W[x[index]]
    return y


@pytest.mark.parametrize('ignore_label', [None, -1, 1, 7])
@pytest.mark.parametrize('shape', [(3,), (2, 2, 2), (0,), (2, 0)])
def test_embed_id(shape, ignore_label):
    rng = np.random.RandomState(0)
    x = rng.randint(0, 4, shape)
    if ignore_label is not None and x.size:
        x.flat[0] = ignore_label
    check_function(
        lambda x, W: F.embed_id(x, W, ignore_label),
        [x, rng.randn(4, 3)],
        lambda x, W: reference(x, W, ignore_label),
    )


@pytest.mark.parametrize('dtype', [np.int8, np.int32])
def test_index_dtypes(dtype):
    W = np.arange(6, dtype=np.float32).reshape(3, 2)
    y = F.embed_id(np.array([2, 0], dtype), W)
    np.testing.assert_array_equal(y.array, W[[2, 0]])


def test_gradient_of_many_rows():
    rng = np.random.RandomState(0)
    W = chainer.Parameter(np.zeros((50, 16)))
    x = rng.randint(-50, 50, (20, 20))
    gy = rng.randn(20, 20, 16)
    y = F.embed_id(x, W, ignore_label=3)
    y.grad = gy
    y.backward()
    expected = np.zeros((50, 16))
    np.add.at(expected, x[x != 3], gy[x != 3])
    np.testing.assert_allclose(W.grad, expected, atol=1e-12)


@pytest.mark.parametrize(
    'x, W',
    [
        (np.zeros(2, np.float32), np.zeros((2, 2), np.float32)),
        (np.array(0), np.zeros((2, 2), np.float32)),
        (np.zeros(2, int), np.zeros((2, 2), int)),
        (np.zeros(2, int), np.zeros(2, np.float32)),
    ],
)
def test_invalid_types(x, W):
    with pytest.raises(type_check.InvalidType):
        F.embed_id(x, W)


@pytest.mark.parametrize('x, ignore_label', [(-1, None), (3, None), (-2, -1)])
def test_debug_mode_refuses_bad_numbers(x, ignore_label):
    W = np.zeros((3, 2), np.float32)
    with chainer.using_config('debug', True), pytest.raises(ValueError, match='len'):
        F.embed_id(np.array([x]), W, ignore_label)
    with chainer.using_config('debug', True):
        F.embed_id(np.array([2, -1]), W, -1)


def test_out_of_range():
    with pytest.raises(IndexError):
        F.embed_id(np.array([3]), np.zeros((3, 2), np.float32))
