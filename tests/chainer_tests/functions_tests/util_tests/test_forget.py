import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F
from chainer.functions.util import forget

_rng = np.random.RandomState(0)


def _draw(*shapes):
    return [_rng.uniform(-1, 1, s) for s in shapes]


@pytest.mark.parametrize(
    'f, n',
    [
        (lambda x: F.tanh(x) * x, 1),
        (lambda x, y: F.exp(x) * y, 2),
        (lambda x, y: (x * y, F.sin(x)), 2),
        (F.identity, 1),
        (lambda x: (x * x, F.floor(x)), 1),
    ],
)
def test_forget(f, n):
    check_function(
        lambda *xs: F.forget(f, *xs),
        _draw(*[(2, 3)] * n),
        lambda *xs: [y.array for y in _as_tuple(f(*map(chainer.Variable, xs)))],
        double=False,
    )


def _as_tuple(ys):
    return ys if isinstance(ys, tuple) else (ys,)


def test_intermediate_results_are_forgotten():
    x = chainer.Variable(_draw((2, 3))[0])
    y = F.forget(lambda x: F.exp(F.sin(x)), x)
    assert y.creator.inputs[0] is x.node


@pytest.mark.parametrize('with_input', [False, True])
def test_parameters_get_gradients(with_input):
    w, x = chainer.Parameter(_draw((2, 3))[0]), _draw((2, 3))[0]
    w.cleargrad()
    y = F.forget(lambda v: w * v, x) if with_input else F.forget(lambda: w * x)
    F.sum(y).backward()
    np.testing.assert_allclose(w.grad, x)


def test_unused_output():
    x = chainer.Variable(_draw((2, 3))[0])
    y, _ = F.forget(lambda x: (x * 2, x * 3), x)
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, 2)


def test_statistics_are_updated_once():
    x, gamma, beta = chainer.Variable(_draw((4, 3))[0]), np.ones(3), np.zeros(3)
    mean, var = np.zeros(3), np.ones(3)
    y = F.forget(
        lambda x: F.batch_normalization(
            x, gamma, beta, running_mean=mean, running_var=var, decay=0.5
        ),
        x,
    )
    F.sum(y * y).backward()
    np.testing.assert_allclose(mean, 0.5 * x.array.mean(0))


def test_remembered_values_come_back_in_order():
    def func(x):
        first = forget.remember(lambda: float(next(counter)))
        second = F.forget(lambda x: x * forget.remember(lambda: float(next(counter))), x)
        return x * first + second

    counter = iter(range(1, 9))
    x = chainer.Variable(np.ones(1))
    y = F.forget(func, x) + 10 * F.forget(func, x)
    np.testing.assert_array_equal(y.array, 1 + 2 + 10 * (3 + 4))
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, 1 + 2 + 10 * (3 + 4))
    assert next(counter) == 5 and forget.remember(lambda: 'outside') == 'outside'


def test_config_tells_of_recomputing():
    seen = []

    def func(x):
        config = chainer.config
        seen.append((getattr(config, '_will_recompute', False), config.in_recomputing))
        return x * 2

    F.sum(F.forget(func, chainer.Variable(np.ones(1)))).backward()
    assert seen == [(True, False), (False, True)]


def test_double_backprop_is_refused():
    x = chainer.Variable(_draw((2, 3))[0])
    y = F.sum(F.forget(F.sin, x))
    with pytest.raises(RuntimeError, match='double'):
        y.backward(enable_double_backprop=True)


@pytest.mark.parametrize(
    'f, error',
    [
        (1, TypeError),
        (lambda x: x.array, RuntimeError),
        (lambda x: (x, x.array), RuntimeError),
        (lambda x: [x], RuntimeError),
        (lambda x: None, RuntimeError),
    ],
)
def test_bad_function(f, error):
    with pytest.raises(error):
        F.forget(f, np.ones(3, 'f'))
