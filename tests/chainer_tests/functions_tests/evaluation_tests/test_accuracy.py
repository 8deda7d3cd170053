import numpy as np
import pytest
from helpers.functions import check_function

from chainer import functions as F
from chainer.utils import type_check


def _accuracy(y, t, ignore=None):
    hit = y.argmax(axis=1).reshape(t.shape) == t
    mask = np.ones(t.shape, bool) if ignore is None else t != ignore
    return (hit & mask).sum() / mask.sum() if mask.any() else 0.0


@pytest.mark.parametrize(
    'y_shape, t_shape',
    [
        ((10, 3), (10,)),
        ((10, 3, 1), (10,)),
        ((10, 3, 1, 1), (10,)),
        ((4, 3, 5), (4, 5)),
        ((4, 3, 2, 2), (4, 2, 2)),
    ],
)
@pytest.mark.parametrize('ignore', [None, 0])
def test_accuracy(y_shape, t_shape, ignore):
    rng = np.random.RandomState(0)
    y, t = rng.uniform(-1, 1, y_shape), rng.randint(0, 3, t_shape).astype(np.int32)
    check_function(
        lambda y, t: F.accuracy(y, t, ignore),
        [y, t],
        lambda y, t: _accuracy(y, t, ignore),
        grad=False,
    )


def test_all_ignored():
    assert float(F.accuracy(np.ones((2, 3), 'f'), np.zeros(2, 'i'), ignore_label=0).array) == 0


@pytest.mark.parametrize(
    'y, t',
    [
        (np.ones((2, 3), 'f'), np.zeros(3, 'i')),
        (np.ones((2, 3), 'f'), np.zeros(2, 'f')),
        (np.ones((2, 3), 'i'), np.zeros(2, 'i')),
        (np.ones((2, 3, 4), 'f'), np.zeros((2, 3), 'i')),
    ],
)
def test_bad_input(y, t):
    with pytest.raises(type_check.InvalidType):
        F.accuracy(y, t)
