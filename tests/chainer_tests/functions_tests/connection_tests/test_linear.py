import numpy as np
import pytest
from helpers.functions import check_function

from chainer import functions as F
from chainer.utils import type_check


def _sample(*shape):
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape)


@pytest.mark.parametrize(
    'shape, n_batch_axes',
    [((3, 4), 1), ((1, 4), 1), ((3, 2, 2), 1), ((2, 3, 4), 2), ((2, 2, 1, 2, 2), 3), ((0, 4), 1)],
)
@pytest.mark.parametrize('bias', [True, False])
def test_linear(shape, n_batch_axes, bias):
    inputs = [_sample(*shape), _sample(5, 4)] + ([_sample(5)] if bias else [])

    def expected(x, W, b=0):
        batch = x.shape[:n_batch_axes]
        return (x.reshape(int(np.prod(batch)), 4) @ W.T + b).reshape(*batch, 5)

    check_function(
        lambda *xs: F.linear(*xs, n_batch_axes=n_batch_axes),
        inputs,
        expected,
        tolerances={np.float16: 2e-2},
    )


@pytest.mark.parametrize(
    'shapes',
    [((3, 4), (5, 3)), ((3, 4), (5, 4, 1)), ((3, 4), (5, 4), (4,)), ((3, 4), (5, 4), (1, 5))],
)
def test_bad_shapes(shapes):
    with pytest.raises(type_check.InvalidType):
        F.linear(*[_sample(*s) for s in shapes])


def test_bad_arguments():
    with pytest.raises(ValueError):
        F.linear(_sample(3, 4), _sample(5, 4), n_batch_axes=0)
    with pytest.raises(type_check.InvalidType):
        F.linear(np.ones((3, 4), int), _sample(5, 4))
