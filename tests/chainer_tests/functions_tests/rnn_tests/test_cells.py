import numpy as np
import pytest
from helpers.functions import check_function

import chainer
from chainer import functions as F
from chainer.functions.rnn.lstm import _extract_gates, lstm_grad_grad
from chainer.functions.rnn.slstm import slstm_grad_grad
from chainer.utils import type_check

_rng = np.random.RandomState(0)
_low = {np.float16: 1e-2, np.float32: 1e-5}


def _draw(*shapes):
    return [_rng.uniform(-1, 1, s) for s in shapes]


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _gates(x):
    return [x[:, k::4] for k in range(4)]


def _lstm(c_prev, x):
    a, i, f, o = _gates(x)
    n = len(x)
    c = np.tanh(a) * _sigmoid(i) + _sigmoid(f) * c_prev[:n]
    return np.concatenate([c, c_prev[n:]]), _sigmoid(o) * np.tanh(c)


def _slstm(c1, c2, x1, x2):
    (a1, i1, f1, o1), (a2, i2, f2, o2) = _gates(x1), _gates(x2)
    c = (
        np.tanh(a1) * _sigmoid(i1)
        + np.tanh(a2) * _sigmoid(i2)
        + _sigmoid(f1) * c1
        + _sigmoid(f2) * c2
    )
    return c, _sigmoid(o1 + o2) * np.tanh(c)


def _tree_lstm(*inputs):
    *cs, x = inputs
    a, i, o, *fs = np.split(x, len(cs) + 3, axis=1)
    c = np.tanh(a) * _sigmoid(i) + sum(_sigmoid(f) * c for f, c in zip(fs, cs))
    return c, _sigmoid(o) * np.tanh(c)


@pytest.mark.parametrize('c_shape, n', [((3, 2), 3), ((3, 2), 1), ((2, 3, 2), 2), ((3, 2), 0)])
def test_lstm(c_shape, n):
    x_shape = (n, 4 * c_shape[1], *c_shape[2:])
    check_function(F.lstm, _draw(c_shape, x_shape), _lstm, tolerances=_low)


@pytest.mark.parametrize('shape', [(3, 2), (2, 3, 2)])
def test_slstm(shape):
    x_shape = (shape[0], 4 * shape[1], *shape[2:])
    check_function(F.slstm, _draw(shape, shape, x_shape, x_shape), _slstm, tolerances=_low)


@pytest.mark.parametrize('children', [1, 2, 4])
@pytest.mark.parametrize('shape', [(3, 2), (2, 3, 2)])
def test_tree_lstm(shape, children):
    x_shape = (shape[0], (children + 3) * shape[1], *shape[2:])
    check_function(F.tree_lstm, _draw(*[shape] * children, x_shape), _tree_lstm, tolerances=_low)


@pytest.mark.parametrize('used', [0, 1])
@pytest.mark.parametrize('double', [False, True])
def test_one_output_without_gradient(used, double):
    c, x = [chainer.Variable(a) for a in _draw((3, 2), (2, 8))]
    gy = _draw(F.lstm(c, x)[used].shape)[0]
    gys = [np.zeros((3, 2)), np.zeros((2, 2))]
    gys[used] = gy
    expected = chainer.grad(F.lstm(c, x), [c, x], [chainer.Variable(g) for g in gys])
    actual = chainer.grad(
        [F.lstm(c, x)[used]], [c, x], [chainer.Variable(gy)], enable_double_backprop=double
    )
    for a, e in zip(actual, expected):
        np.testing.assert_allclose(a.array, e.array)


def test_large_gates():
    c, h = F.lstm(np.zeros((1, 1), 'f'), np.full((1, 4), -1e5, 'f'))
    assert c.array == 0 and h.array == 0


def test_extract_gates():
    x = np.arange(16).reshape(2, 8)
    for k, gate in enumerate(_extract_gates(x)):
        np.testing.assert_array_equal(gate, x[:, k::4])
    assert [g.shape for g in _extract_gates(chainer.Variable(x.astype('f')))] == [(2, 2)] * 4


def _gradients(c_prevs, pairs, forgets, o, c, gc, gh):
    """Gradient of the cells with the new state ``c`` as an input of its own."""
    g = gc + gh * F.sigmoid(o) * (1 - F.tanh(c) ** 2)
    out = []
    for c_prev, (a, i), f in zip(c_prevs, pairs, forgets):
        a, i, f = F.tanh(a), F.sigmoid(i), F.sigmoid(f)
        out += [g * f, g * i * (1 - a * a), g * a * i * (1 - i), g * c_prev * f * (1 - f)]
    o = F.sigmoid(o)
    return out, gh * F.tanh(c) * o * (1 - o)


def test_lstm_grad_grad():
    shape = 2, 3
    c_prev, a, i, f, o, c, gc, gh = v = [chainer.Variable(x) for x in _draw(*[shape] * 8)]
    gg = _draw(*[shape] * 5)
    (g_c, g_a, g_i, g_f), g_o = _gradients([c_prev], [(a, i)], [f], o, c, gc, gh)
    expected = chainer.grad([g_c, g_a, g_i, g_f, g_o], v, [chainer.Variable(g) for g in gg])
    actual = [np.empty(shape) for _ in v]
    lstm_grad_grad(*[x.array for x in v], *gg, *actual)
    for x, e in zip(actual, expected):
        np.testing.assert_allclose(x, e.array)


def test_slstm_grad_grad():
    shape = 2, 3
    v = [chainer.Variable(x) for x in _draw(*[shape] * 12)]
    c1, a1, i1, f1, c2, a2, i2, f2, o, c, gc, gh = v
    gg = _draw(*[shape] * 10)
    gxs, g_o = _gradients([c1, c2], [(a1, i1), (a2, i2)], [f1, f2], o, c, gc, gh)
    outputs = [*gxs[:4], g_o, *gxs[4:], g_o * 1]
    expected = chainer.grad(outputs, v, [chainer.Variable(g) for g in gg])
    actual = slstm_grad_grad(*[x.array for x in v], *gg)
    for x, e in zip(actual, expected):
        np.testing.assert_allclose(x, e.array)


_c, _x = np.ones((2, 3), 'f'), np.ones((2, 12), 'f')


@pytest.mark.parametrize(
    'call',
    [
        lambda: F.lstm(_c, _x.astype('d')),
        lambda: F.lstm(_c.astype('i'), _x.astype('i')),
        lambda: F.lstm(_c, _x[:, :8]),
        lambda: F.lstm(_c[:1], _x),
        lambda: F.lstm(_c, _x[:, :, None]),
        lambda: F.lstm(_c[:, :, None], np.ones((2, 12, 2), 'f')),
        lambda: F.lstm(_c[0], _x[0]),
        lambda: F.slstm(_c, _c, _x, _x[:1]),
        lambda: F.slstm(_c, _c[:, :2], _x, _x),
        lambda: F.slstm(_c, _c.astype('d'), _x, _x),
        lambda: F.slstm(_c[:1], _c[:1], _x, _x),
        lambda: F.tree_lstm(_x),
        lambda: F.tree_lstm(_c, _c, _x),
        lambda: F.tree_lstm(_c, _x[:1]),
        lambda: F.tree_lstm(_c, _c[:1], np.ones((2, 15), 'f')),
        lambda: F.tree_lstm(_c, _x.astype('d')),
        lambda: F.tree_lstm(_c[:, :, None], _x[:, :, None][:, :, [0, 0]]),
    ],
)
def test_bad_input(call):
    with pytest.raises(type_check.InvalidType):
        call()
