"""Reductions and cumulative functions."""

import numpy as np
import pytest
from helpers.functions import check_function
from scipy import special

import chainer
from chainer import functions as F
from chainer.utils import type_check

REDUCTIONS = [
    ('sum', np.sum),
    ('mean', np.mean),
    ('average', np.mean),
    ('max', np.max),
    ('min', np.min),
    ('prod', np.prod),
]
NAMES = [row[0] for row in REDUCTIONS]


def _sample(shape, seed=0):
    return np.random.RandomState(seed).uniform(0.5, 2, shape)


@pytest.mark.parametrize('name, reference', REDUCTIONS, ids=NAMES)
@pytest.mark.parametrize('axis', [None, 0, -1, (0, 2), (-1, 0, 1), ()], ids=str)
@pytest.mark.parametrize('keepdims', [False, True])
def test_reduction(name, reference, axis, keepdims):
    f = getattr(F, name)
    check_function(
        lambda x: f(x, axis=axis, keepdims=keepdims),
        [_sample((2, 3, 2))],
        lambda x: reference(x, axis=axis, keepdims=keepdims),
        tolerances={np.float16: 2e-2},
        grad_tolerance=1e-3,
    )


@pytest.mark.parametrize('axis', [None, 0, -1, (0, 2)], ids=str)
def test_logsumexp(axis):
    check_function(
        lambda x: F.logsumexp(x, axis), [_sample((2, 3, 2))], lambda x: special.logsumexp(x, axis)
    )


def test_logsumexp_of_large_and_infinite_values():
    x = np.array([[1000, 1000], [-np.inf, 0], [-np.inf, -np.inf]])
    with np.errstate(divide='ignore'):
        y = F.logsumexp(x, axis=1).array
    np.testing.assert_allclose(y, [1000 + np.log(2), 0, -np.inf])


@pytest.mark.parametrize('name', [*NAMES, 'logsumexp'])
def test_bad_axis(name):
    f = getattr(F, name)
    x = _sample((2, 3))
    for axis in ([0], 1.5, (0, 'a')):
        with pytest.raises(TypeError):
            f(x, axis=axis)
    with pytest.raises(ValueError, match='duplicate'):
        f(x, axis=(1, 1))
    for axis in (2, -3, (0, 2)):
        with pytest.raises(type_check.InvalidType):
            f(x, axis=axis)


@pytest.mark.parametrize('name', NAMES)
def test_scalar_input(name):
    check_function(getattr(F, name), [np.array(1.5)], lambda x: x)


@pytest.mark.parametrize('name', ['sum', 'prod'])
def test_empty_input(name):
    y = getattr(F, name)(np.zeros((2, 0), np.float32), axis=1)
    np.testing.assert_array_equal(y.array, getattr(np, name)(np.zeros((2, 0)), axis=1))


def test_max_gives_the_gradient_to_all_ties():
    x = chainer.Variable(np.array([1, 3, 3], np.float32))
    F.max(x).backward()
    np.testing.assert_array_equal(x.grad, [0, 1, 1])


@pytest.mark.parametrize('zeros', [0, 1, 2])
def test_prod_with_zeros(zeros):
    x = _sample((3, 4))
    x[0, :zeros] = 0
    check_function(
        lambda x: F.prod(x, axis=1),
        [x],
        lambda x: np.prod(x, axis=1),
        tolerances={np.float16: 2e-2},
    )


@pytest.mark.parametrize('axis', [None, 0, 1, -1])
@pytest.mark.parametrize('name', ['cumsum', 'cumprod'])
@pytest.mark.parametrize('zeros', [0, 2])
def test_cumulative(name, axis, zeros):
    x = _sample((3, 4))
    x[1, :zeros] = 0
    check_function(
        lambda x: getattr(F, name)(x, axis),
        [x],
        lambda x: getattr(np, name)(x, axis),
        tolerances={np.float16: 5e-2},
        grad_tolerance=1e-3,
    )


@pytest.mark.parametrize('name', ['cumsum', 'cumprod', 'argmax', 'argmin'])
def test_bad_single_axis(name):
    f = getattr(F, name)
    with pytest.raises(TypeError):
        f(_sample((2, 3)), axis=(0, 1))
    for axis in (2, -3):
        with pytest.raises(type_check.InvalidType):
            f(_sample((2, 3)), axis=axis)


@pytest.mark.parametrize('name', ['argmax', 'argmin'])
@pytest.mark.parametrize('axis', [None, 0, -1])
def test_arg(name, axis):
    check_function(
        lambda x: getattr(F, name)(x, axis),
        [_sample((3, 4))],
        lambda x: getattr(np, name)(x, axis),
        grad=False,
    )
    assert getattr(F, name)(_sample((3, 4)), axis).dtype == np.int32


@pytest.mark.parametrize(
    'axis, shape', [(None, (2, 3, 2)), (0, (2,)), (-1, (2,)), ((0, 1), (2, 3)), ((2, 0), (2, 2))]
)
@pytest.mark.parametrize('keepdims', [False, True])
def test_weighted_average(axis, shape, keepdims):
    x, w = _sample((2, 3, 2)), _sample(shape, 1)
    axes = tuple(range(3)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    expand = [n if i in {a % 3 for a in axes} else 1 for i, n in enumerate(x.shape)]

    def expected(x, w):
        y = (x * w.reshape(expand)).sum(axes, keepdims=keepdims) / w.sum()
        return y

    check_function(lambda x, w: F.average(x, axis, w, keepdims), [x, w], expected)


def test_weighted_average_errors():
    with pytest.raises(ValueError, match='weights'):
        F.average(_sample((2, 3)), (0, 1), np.ones(3))
    with pytest.raises(type_check.InvalidType):
        F.average(_sample((2, 3)), 0, np.ones(3))
    with pytest.raises(ValueError, match='duplicate'):
        F.average(_sample((2, 3)), (0, -2), np.ones((2, 2)))


def test_sum_to():
    check_function(
        lambda x: F.sum_to(x, (1, 3)), [_sample((4, 2, 3))], lambda x: x.sum(axis=(0, 1))[None]
    )
    x = chainer.Variable(_sample((2, 3)))
    assert F.sum_to(x, (2, 3)) is x


def test_batch_l2_norm_squared():
    check_function(
        F.batch_l2_norm_squared,
        [_sample((2, 3, 2))],
        lambda x: (x**2).sum(axis=(1, 2)),
        tolerances={np.float16: 2e-2},
    )
    with pytest.raises(type_check.InvalidType):
        F.batch_l2_norm_squared(_sample(3))
