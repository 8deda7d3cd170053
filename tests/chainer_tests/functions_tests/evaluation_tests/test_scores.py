import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F
from chainer.functions.evaluation import classification_summary as module
from chainer.utils import type_check

_rng = np.random.RandomState(0)


@pytest.mark.parametrize('shape', [(10,), (4, 3), (2, 3, 2), (0,)])
@pytest.mark.parametrize('ignored', [False, True])
def test_binary_accuracy(shape, ignored):
    y = _rng.uniform(-1, 1, shape)
    t = _rng.randint(-1 if ignored else 0, 2, shape).astype('i')

    def reference(y, t):
        counted = t != -1
        return (((y >= 0) == t) & counted).sum() / max(counted.sum(), 1)

    check_function(F.binary_accuracy, [y, t], reference, grad=False)


def test_binary_accuracy_all_ignored():
    assert F.binary_accuracy(np.ones(3, 'f'), np.full(3, -1, 'i')).array == 0


def _ratio(a, b):
    return a / b if b else np.nan


def _summary(y, t, n=None, beta=1.0, ignore=-1):
    predicted = y.argmax(1).reshape(t.shape)
    rows = []
    for k in range(t.max() + 1 if n is None else n):
        hit = ((predicted == k) & (t == k) & (t != ignore)).sum()
        p = _ratio(hit, ((predicted == k) & (t != ignore)).sum())
        r = _ratio(hit, ((t == k) & (t != ignore)).sum())
        rows.append(
            (p, r, _ratio((1 + beta**2) * p * r, beta**2 * p + r), ((t == k) & (t != ignore)).sum())
        )
    return tuple(np.array(column) for column in zip(*rows))


@pytest.mark.parametrize(
    'y_shape, t_shape',
    [((20, 3), (20,)), ((20, 3, 1), (20,)), ((8, 3, 5), (8, 5)), ((4, 3, 2, 2), (4, 2, 2))],
)
@pytest.mark.parametrize(
    'kwargs',
    [{}, {'n': 3}, {'n': 5}, {'beta': 2.0}, {'ignore': 0}, {'n': 3, 'beta': 0.5, 'ignore': 2}],
)
def test_classification_summary(y_shape, t_shape, kwargs):
    y, t = _rng.uniform(-1, 1, y_shape), _rng.randint(-1, 3, t_shape).astype('i')
    names = {'n': 'label_num', 'beta': 'beta', 'ignore': 'ignore_label'}
    options = {names[k]: v for k, v in kwargs.items()}
    check_function(
        lambda y, t: F.classification_summary(y, t, **options),
        [y, t],
        lambda y, t: _summary(y, t, **kwargs),
        grad=False,
        result_dtype='d',
    )


def test_number_of_labels_is_that_of_the_targets():
    y = np.eye(4, dtype='f')
    assert F.classification_summary(y, np.array([0, 1, 1, 0]))[0].shape == (2,)


def test_scores_without_a_sample_are_nan():
    y, t = np.eye(3, dtype='f')[[0, 0]], np.array([0, 1])
    precision, recall, score, support = F.classification_summary(y, t, 3)
    np.testing.assert_array_equal(precision.array, [0.5, np.nan, np.nan])
    np.testing.assert_array_equal(recall.array, [1, 0, np.nan])
    np.testing.assert_allclose(score.array, [2 / 3, np.nan, np.nan])
    np.testing.assert_array_equal(support.array, [1, 1, 0])
    with chainer.using_config('debug', True), pytest.raises(AssertionError, match='label_num'):
        F.classification_summary(y, t, 1)


@pytest.mark.parametrize(
    'f, index',
    [
        (F.precision, 0),
        (F.recall, 1),
        (F.f1_score, 2),
        (lambda y, t, n: module.fbeta_score(y, t, n, 2.0), 2),
    ],
)
def test_single_scores(f, index):
    y, t = _rng.uniform(-1, 1, (20, 3)), _rng.randint(0, 3, 20)
    beta = 2.0 if f not in (F.precision, F.recall, F.f1_score) else 1.0
    expected = _summary(y, t, 3, beta)
    score, support = f(y, t, 3)
    np.testing.assert_allclose(score.array, expected[index])
    np.testing.assert_array_equal(support.array, expected[3])


@pytest.mark.parametrize('shape', [(10,), (10, 3), (5, 2, 2)])
@pytest.mark.parametrize('multioutput', ['uniform_average', 'raw_values'])
def test_r2_score(shape, multioutput):
    pred, true = _rng.uniform(-1, 1, (2, *shape))
    if len(shape) == 2:
        true[:, 0] = 1

    def reference(pred, true):
        total = ((true - true.mean(0)) ** 2).sum(0)
        constant = total == 0
        score = 1 - ((pred - true) ** 2).sum(0) / np.where(constant, 1, total)
        score = np.where(constant, 0, score)
        return score if multioutput == 'raw_values' else score.mean()

    check_function(
        lambda p, t: F.r2_score(p, t, multioutput=multioutput),
        [pred, true],
        reference,
        grad=False,
        tolerances={np.float16: 2e-2, np.float32: 1e-4},
    )


_y, _t = np.ones((2, 3), 'f'), np.zeros(2, 'i')


@pytest.mark.parametrize(
    'call',
    [
        lambda: F.binary_accuracy(_y, _t),
        lambda: F.binary_accuracy(_y, _y),
        lambda: F.binary_accuracy(_y.astype('i'), _y.astype('i')),
        lambda: F.classification_summary(_y, _t[:1]),
        lambda: F.classification_summary(_y[0], _t),
        lambda: F.classification_summary(_y, _t.astype('f')),
        lambda: F.classification_summary(np.ones((2, 3, 4), 'f'), np.zeros((2, 3), 'i')),
        lambda: F.classification_summary(np.ones((2, 3, 4), 'f'), _t),
        lambda: F.r2_score(_y, _y[:1]),
        lambda: F.r2_score(_y, _y.astype('i')),
    ],
)
def test_bad_input(call):
    with pytest.raises(type_check.InvalidType):
        call()


def test_r2_score_options():
    with pytest.raises(NotImplementedError):
        F.r2_score(_y, _y, sample_weight=np.ones(2))
    with pytest.raises(ValueError, match='multioutput'):
        F.r2_score(_y, _y, multioutput='sum')
