"""Losses with a closed form, one row each."""

import numpy as np
import pytest
from helpers.functions import check_function
from scipy import special

import chainer
import chainerx
from chainer import functions as F
from chainer.utils import type_check

LOOSE = {np.float16: 2e-2}


def _sample(shape, seed=0, low=-1, high=1):
    return np.random.RandomState(seed).uniform(low, high, shape)


PAIRS = [
    ('absolute_error', lambda a, b: abs(a - b)),
    ('squared_error', lambda a, b: (a - b) ** 2),
    ('squared_difference', lambda a, b: (a - b) ** 2),
    ('mean_absolute_error', lambda a, b: abs(a - b).mean()),
    ('mean_squared_error', lambda a, b: ((a - b) ** 2).mean()),
]


@pytest.mark.parametrize('name, expected', PAIRS, ids=[row[0] for row in PAIRS])
@pytest.mark.parametrize('shape', [(2, 3), ()], ids=str)
def test_pair(name, expected, shape):
    f = getattr(F, name)
    check_function(f, [_sample(shape), _sample(shape, 1)], expected, tolerances=LOOSE)
    x = np.ones((2, 3), np.float32)
    for other in (np.ones((3,), np.float32), np.ones((2, 3), np.float64)):
        with pytest.raises(type_check.InvalidType):
            f(x, other)


def _reduced(name, **options):
    f = getattr(F, name)
    return lambda *xs: f(*xs, **options)


T = np.array([1, 0, 2, 1], np.int32)


def _softmax_cross_entropy(x, t, normalize=True, weight=None, ignore=-1, reduce='mean'):
    log_p = special.log_softmax(x, axis=1)
    loss = np.zeros(t.shape)
    for index in np.ndindex(t.shape):
        label = t[index]
        if label != ignore:
            loss[index] = -log_p[(index[0], label, *index[1:])]
            if weight is not None:
                loss[index] *= weight[label]
    if reduce == 'no':
        return loss
    return loss.sum() / max((t != ignore).sum() if normalize else len(x), 1)


@pytest.mark.parametrize('shape', [(4, 3), (2, 3, 2), (2, 3, 2, 2)], ids=str)
@pytest.mark.parametrize('normalize', [True, False])
@pytest.mark.parametrize('weight', [None, np.array([0.5, 1, 2])])
@pytest.mark.parametrize('ignore', [-1, 0])
@pytest.mark.parametrize('reduce', ['mean', 'no'])
@pytest.mark.parametrize('cache', [True, False])
def test_softmax_cross_entropy(shape, normalize, weight, ignore, reduce, cache):
    t = np.random.RandomState(0).randint(0, 3, shape[:1] + shape[2:]).astype(np.int32)
    t.ravel()[0] = ignore

    def f(x, t):
        return F.softmax_cross_entropy(x, t, normalize, cache, weight, ignore, reduce)

    check_function(
        f,
        [_sample(shape), t],
        lambda x, t: _softmax_cross_entropy(x, t, normalize, weight, ignore, reduce),
        tolerances=LOOSE,
    )


@pytest.mark.parametrize('loss', ['cross-entropy', 'kl-divergence'])
@pytest.mark.parametrize('reduce', ['mean', 'no'])
@pytest.mark.parametrize('weight', [None, np.array([0.5, 1, 2])])
@pytest.mark.parametrize('shape', [(4, 3), (2, 3, 2)], ids=str)
def test_soft_target(loss, reduce, weight, shape):
    def expected(x, t):
        each = -t * special.log_softmax(x, axis=1)
        if loss == 'kl-divergence':
            each += t * np.log(t)
        if weight is not None:
            each = each * weight.reshape((1, 3) + (1,) * (x.ndim - 2))
        each = each.sum(axis=1)
        return each.mean() if reduce == 'mean' else each

    t = special.softmax(_sample(shape, 1), axis=1)
    check_function(
        lambda x, t: F.softmax_cross_entropy(
            x,
            t,
            class_weight=weight,
            reduce=reduce,
            soft_target_loss=loss,
            enable_double_backprop=True,
        ),
        [_sample(shape), t],
        expected,
        tolerances=LOOSE,
    )


def test_soft_target_has_no_gradient_by_default():
    x, t = (chainer.Variable(special.softmax(_sample((2, 3), i), axis=1)) for i in range(2))
    F.softmax_cross_entropy(x, t).backward()
    assert x.grad is not None and t.grad is None


@pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
@pytest.mark.parametrize(
    'options',
    [
        {},
        {'class_weight': np.array([0.5, 1, 2])},
        {'ignore_label': 2, 'normalize': False},
        {'reduce': 'no', 'class_weight': np.array([0.5, 1, 2], 'f')},
    ],
)
def test_softmax_cross_entropy_is_native(options, monkeypatch):
    monkeypatch.setattr('chainer._core.engines.fallback.engine', None)
    x = chainerx.array(_sample((4, 3, 2)).astype('f'))
    t = chainerx.array([[0, 1], [2, 2], [1, 0], [0, 2]], 'int32')
    y = F.softmax_cross_entropy(x, t, **options)
    expected = F.softmax_cross_entropy(chainerx.to_numpy(x), chainerx.to_numpy(t), **options)
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(chainerx.to_numpy(y.array), expected.array, 1e-5)


@pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')
def test_bad_labels_on_chainerx():
    x, t = chainerx.zeros((2, 3), 'f'), chainerx.array([0, 3])
    with pytest.raises(IndexError, match='label 3'):
        F.softmax_cross_entropy(x, t)
    with chainer.using_config('debug', True), pytest.raises(ValueError, match='label'):
        F.softmax_cross_entropy(x, t)


def test_softmax_cross_entropy_is_stable():
    x = np.array([[1000, 0, -1000]], np.float32)
    assert float(F.softmax_cross_entropy(x, np.array([0])).array) == 0
    assert float(F.softmax_cross_entropy(x, np.array([2])).array) == 2000


def test_all_ignored():
    x = chainer.Variable(_sample((2, 3)))
    loss = F.softmax_cross_entropy(x, np.array([-1, -1]))
    loss.backward()
    assert float(loss.array) == 0
    np.testing.assert_array_equal(x.grad, np.zeros((2, 3)))


def test_softmax_cross_entropy_errors():
    x = np.ones((2, 3), np.float32)
    t = np.zeros(2, np.int32)
    for options in (
        {'reduce': 'sum'},
        {'soft_target_loss': 'x'},
        {'class_weight': np.ones((1, 3))},
        {'class_weight': np.ones(3, int)},
        {'class_weight': chainer.Variable(np.ones(3))},
    ):
        with pytest.raises(ValueError):
            F.softmax_cross_entropy(x, t, **options)
    for bad in (np.zeros(3, np.int32), np.zeros((2, 4), np.float64), np.zeros((2, 1), np.int32)):
        with pytest.raises(type_check.InvalidType):
            F.softmax_cross_entropy(x, bad)
    with chainer.using_config('debug', True), pytest.raises(ValueError, match='label'):
        F.softmax_cross_entropy(x, np.array([0, 3]))


@pytest.mark.parametrize('reduce', ['mean', 'no'])
@pytest.mark.parametrize('normalize', [True, False])
@pytest.mark.parametrize('shape', [(4,), (4, 3)], ids=str)
def test_sigmoid_cross_entropy(reduce, normalize, shape):
    t = np.random.RandomState(0).randint(-1, 2, shape).astype(np.int32)

    def expected(x, t):
        loss = (t != -1) * -(t * np.log(special.expit(x)) + (1 - t) * np.log(special.expit(-x)))
        if reduce == 'no':
            return loss
        return loss.sum() / ((t != -1).sum() if normalize else len(x))

    check_function(
        _reduced('sigmoid_cross_entropy', normalize=normalize, reduce=reduce),
        [_sample(shape), t],
        expected,
        tolerances=LOOSE,
    )


@pytest.mark.parametrize('norm', ['L1', 'L2'])
@pytest.mark.parametrize('reduce', ['mean', 'no'])
def test_hinge(norm, reduce):
    def expected(x, t):
        sign = np.where(np.eye(3)[t] == 1, -1, 1)
        loss = np.maximum(1 + sign * x, 0) ** (1 if norm == 'L1' else 2)
        return loss.sum() / len(x) if reduce == 'mean' else loss

    check_function(
        _reduced('hinge', norm=norm, reduce=reduce),
        [_sample((4, 3)), T],
        expected,
        tolerances=LOOSE,
        grad_tolerance=1e-3,
    )
    with pytest.raises(NotImplementedError):
        F.hinge(_sample((4, 3)), T, norm='L3')


@pytest.mark.parametrize('reduce', ['sum_along_second_axis', 'no'])
@pytest.mark.parametrize('shape', [(2, 3), (2, 3, 2)], ids=str)
def test_huber_loss(reduce, shape):
    def expected(x, t):
        loss = special.huber(0.7, x - t)
        return loss if reduce == 'no' else loss.sum(axis=1)

    check_function(
        _reduced('huber_loss', delta=0.7, reduce=reduce),
        [_sample(shape), _sample(shape, 1)],
        expected,
        tolerances=LOOSE,
        grad_tolerance=1e-3,
    )


@pytest.mark.parametrize('reduce', ['mean', 'no'])
def test_contrastive(reduce):
    y = np.array([1, 0, 0, 1], np.int32)

    def expected(a, b, y):
        d = np.linalg.norm(a - b, axis=1)
        loss = np.where(y == 1, d**2, np.maximum(1.2 - d, 0) ** 2) / 2
        return loss.mean() if reduce == 'mean' else loss

    check_function(
        _reduced('contrastive', margin=1.2, reduce=reduce),
        [_sample((4, 3)), _sample((4, 3), 1, -0.3, 0.3), y],
        expected,
        tolerances=LOOSE,
        grad_tolerance=1e-3,
    )
    with pytest.raises(ValueError):
        F.contrastive(_sample((4, 3)), _sample((4, 3)), y, margin=0)


def test_contrastive_of_coincident_points_is_finite():
    x = chainer.Variable(np.ones((2, 3), np.float32))
    F.contrastive(x, x.array.copy(), np.array([0, 1], np.int32)).backward()
    assert np.isfinite(x.grad).all()


@pytest.mark.parametrize('reduce', ['mean', 'no'])
@pytest.mark.parametrize('shape', [(3, 2), (3, 2, 2)], ids=str)
def test_triplet(reduce, shape):
    def expected(a, p, n):
        loss = np.maximum(((a - p) ** 2 - (a - n) ** 2).sum(axis=1) + 0.2, 0)
        return loss.mean() if reduce == 'mean' else loss

    check_function(
        _reduced('triplet', reduce=reduce),
        [_sample(shape, i) for i in range(3)],
        expected,
        tolerances=LOOSE,
        grad_tolerance=1e-3,
    )
    with pytest.raises(ValueError):
        F.triplet(*[_sample(shape)] * 3, margin=-1)


@pytest.mark.parametrize('reduce', ['half_squared_sum', 'no'])
def test_covariances(reduce):
    def cross(y, z):
        c = (y - y.mean(0)).T @ (z - z.mean(0)) / len(y)
        return c if reduce == 'no' else (c**2).sum() / 2

    def decov(h):
        c = np.cov(h.T, bias=True)
        c = c - np.diag(np.diag(c))
        return c if reduce == 'no' else (c**2).sum() / 2

    y, z = _sample((5, 3)), _sample((5, 2), 1)
    check_function(_reduced('cross_covariance', reduce=reduce), [y, z], cross, tolerances=LOOSE)
    check_function(_reduced('decov', reduce=reduce), [y], decov, tolerances=LOOSE)


def _reduce(loss, reduce):
    return {'sum': loss.sum(), 'mean': loss.mean(), 'no': loss}[reduce]


@pytest.mark.parametrize('reduce', ['sum', 'mean', 'no'])
def test_vae(reduce):
    a, b, c = (_sample((2, 3), i) for i in range(3))
    check_function(
        _reduced('gaussian_kl_divergence', reduce=reduce),
        [a, b],
        lambda m, v: _reduce((m**2 + np.exp(v) - v - 1) / 2, reduce),
        tolerances=LOOSE,
    )
    check_function(
        _reduced('bernoulli_nll', reduce=reduce),
        [a, b],
        lambda x, y: _reduce(np.log1p(np.exp(y)) - x * y, reduce),
        tolerances=LOOSE,
    )
    check_function(
        _reduced('gaussian_nll', reduce=reduce),
        [a, b, c],
        lambda x, m, v: _reduce(0.5 * (np.log(2 * np.pi) + v + (x - m) ** 2 * np.exp(-v)), reduce),
        tolerances=LOOSE,
    )


@pytest.mark.parametrize(
    'name, n, arguments',
    [
        ('sigmoid_cross_entropy', 1, (np.zeros((2, 3), np.int32),)),
        ('hinge', 1, (T[:2],)),
        ('contrastive', 2, (T[:2],)),
        ('triplet', 3, ()),
        ('cross_covariance', 2, ()),
        ('decov', 1, ()),
        ('gaussian_kl_divergence', 2, ()),
        ('bernoulli_nll', 2, ()),
        ('gaussian_nll', 3, ()),
    ],
)
def test_bad_reduce(name, n, arguments):
    with pytest.raises(ValueError, match='reduce'):
        getattr(F, name)(*[_sample((2, 3))] * n, *arguments, reduce='invalid')
