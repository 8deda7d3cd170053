import numpy as np
import pytest

import chainer
from chainer import links as L
from tests.helpers.devices import CHX


def f(*shape):
    return np.random.uniform(-1, 1, shape).astype('f')


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def linear(layer, x):
    y = x @ layer.W.array.T
    return y if layer.b is None else y + layer.b.array


def lstm_gates(link, h, x):
    y = linear(link.upward, x) + linear(link.lateral, h)
    return y.reshape(len(y), -1, 4).transpose(2, 0, 1)


def lstm(link, c, h, x):
    a, i, g, o = lstm_gates(link, h, x)
    c = np.tanh(a) * sigmoid(i) + sigmoid(g) * c
    return c, sigmoid(o) * np.tanh(c)


def gru(link, h, x):
    r = sigmoid(linear(link.W_r, x) + linear(link.U_r, h))
    z = sigmoid(linear(link.W_z, x) + linear(link.U_z, h))
    h_bar = np.tanh(linear(link.W, x) + linear(link.U, r * h))
    return (z * h_bar + (1 - z) * h,)


def mgu(link, h, x):
    g = sigmoid(linear(link.W_f, np.concatenate([h, x], 1)))
    h_bar = np.tanh(linear(link.W_h, np.concatenate([g * h, x], 1)))
    return (g * h_bar + (1 - g) * h,)


def peephole(link, c, h, x):
    a, i, g, o = lstm_gates(link, h, x)
    i = sigmoid(i + linear(link.peep_i, c))
    g = sigmoid(g + linear(link.peep_f, c))
    c = np.tanh(a) * i + g * c
    return c, sigmoid(o + linear(link.peep_o, c)) * np.tanh(c)


# Link, reference of one step, names of the states.
STATEFUL = {
    'LSTM': (lambda: L.LSTM(4, 3), lstm, 'ch'),
    'GRU': (lambda: L.GRU(4, 3), gru, 'h'),
    'StatefulMGU': (lambda: L.StatefulMGU(4, 3), mgu, 'h'),
    'StatefulPeepholeLSTM': (lambda: L.StatefulPeepholeLSTM(4, 3), peephole, 'ch'),
    # Outside training, it keeps nothing.
    'StatefulZoneoutLSTM': (lambda: L.StatefulZoneoutLSTM(4, 3, 0.5, 0.5), lstm, 'ch'),
}
ALL = pytest.mark.parametrize('name', sorted(STATEFUL))


def states(link, names):
    return [getattr(link, name) for name in names]


@ALL
def test_steps(name):
    make, step, names = STATEFUL[name]
    link = make()
    assert states(link, names) == [None] * len(names)
    expected = [np.zeros((2, 3), 'f')] * len(names)
    for _ in range(3):
        x = f(2, 4)
        expected = step(link, *expected, x)
        with chainer.using_config('train', name != 'StatefulZoneoutLSTM'):
            y = link(x)
        np.testing.assert_allclose(y.array, expected[-1], atol=1e-5)
        assert y is link.h
        for state, e in zip(states(link, names), expected):
            np.testing.assert_allclose(state.array, e, atol=1e-5)
    link.reset_state()
    assert states(link, names) == [None] * len(names)


@pytest.mark.parametrize('name', sorted(set(STATEFUL) - {'StatefulPeepholeLSTM'}))
def test_set_state(name):
    make, step, names = STATEFUL[name]
    link = make()
    values = [chainer.Variable(f(2, 3)) for _ in names]
    link.set_state(*values)
    assert all(a is b for a, b in zip(states(link, names), values))
    x = f(2, 4)
    expected = step(link, *[v.array for v in values], x)
    with chainer.using_config('train', name != 'StatefulZoneoutLSTM'):
        np.testing.assert_allclose(link(x).array, expected[-1], atol=1e-5)
    before = states(link, names)
    with pytest.raises(AssertionError, match='Variable'):
        link.set_state(*[chainer.Variable(f(2, 3))] * (len(names) - 1), f(2, 3))
    assert all(a is b for a, b in zip(states(link, names), before))


@pytest.mark.chainerx
@ALL
def test_states_move(name):
    make, _, names = STATEFUL[name]
    link = make()
    with chainer.no_backprop_mode():
        link(f(2, 4))
    link.to_device(CHX[0])
    assert all(s.device.name == CHX[0] for s in states(link, names))
    link(chainer.get_device(CHX[0]).send(f(2, 4)))
    if hasattr(link, 'set_state'):
        link.set_state(*[chainer.Variable(f(2, 3)) for _ in names])
        assert all(s.device.name == CHX[0] for s in states(link, names))


STATELESS = {
    'StatelessLSTM': (lambda: L.StatelessLSTM(4, 3), lstm, 2),
    'StatelessGRU': (lambda: L.StatelessGRU(4, 3), gru, 1),
    'StatelessMGU': (lambda: L.StatelessMGU(4, 3), mgu, 1),
}


@pytest.mark.parametrize('name', sorted(STATELESS))
def test_stateless(name):
    make, step, n_states = STATELESS[name]
    link = make()
    x = f(2, 4)
    before = [f(2, 3) for _ in range(n_states)]
    ys = link(*before, x)
    ys = ys if isinstance(ys, tuple) else (ys,)
    for y, e in zip(ys, step(link, *before, x)):
        np.testing.assert_allclose(y.array, e, atol=1e-5)


@pytest.mark.parametrize('name', ['StatelessLSTM', 'StatelessGRU'])
def test_stateless_without_states(name):
    make, _, n_states = STATELESS[name]
    link = make()
    x = f(2, 4)
    zeros = [np.zeros((2, 3), 'f')] * n_states
    for y, e in zip(link(*[None] * n_states, x), link(*zeros, x)):
        np.testing.assert_allclose(y.array, e.array, atol=1e-6)


def test_gru_with_biases():
    link = L.StatelessGRU(4, 3, bias_init=chainer.initializers.Normal(1))
    h, x = f(2, 3), f(2, 4)
    np.testing.assert_allclose(link(h, x).array, gru(link, h, x)[0], atol=1e-5)
    # Without a state the layers of the state take no part, nor do their biases.
    y = sigmoid(linear(link.W_z, x)) * np.tanh(linear(link.W, x))
    np.testing.assert_allclose(link(None, x).array, y, atol=1e-5)


def test_lstm_parameters():
    Normal = chainer.initializers.Normal
    link = L.LSTM(
        4, 3, lateral_init=Normal(2), upward_init=Normal(3), bias_init=5, forget_bias_init=7
    )
    np.testing.assert_array_equal(
        link.upward.b.array.reshape(3, 4), np.tile(np.array([5, 5, 7, 5], 'f'), (3, 1))
    )
    np.random.seed(0)
    link = L.LSTM(4, 3)
    np.random.seed(0)
    # The gates are drawn one by one, lateral before upward.
    for gate in range(4):
        for layer, n_in in ((link.lateral, 3), (link.upward, 4)):
            np.testing.assert_allclose(
                layer.W.array[3 * gate : 3 * gate + 3],
                np.random.normal(0, np.sqrt(1 / n_in), (3, n_in)).astype('f'),
                rtol=1e-6,
            )
    assert link.lateral.b is None
    np.testing.assert_array_equal(
        link.upward.b.array.reshape(3, 4), np.tile(np.array([0, 0, 1, 0], 'f'), (3, 1))
    )
    assert link.state_size == 3


def test_lstm_of_shrinking_batches():
    link = L.LSTM(4, 3)
    xs = [f(3, 4), f(2, 4), f(0, 4), f(1, 4)]
    for x in xs:
        y = link(x)
        assert y.shape == (len(x), 3)
        assert link.c.shape == link.h.shape == (3, 3)
    # The second sequence has two steps.
    other = L.LSTM(4, 3)
    other.copyparams(link)
    other(xs[0][1:2])
    other(xs[1][1:2])
    np.testing.assert_allclose(link.h.array[1:2], other.h.array, atol=1e-6)
    np.testing.assert_allclose(link.c.array[1:2], other.c.array, atol=1e-6)
    with pytest.raises(TypeError, match='batch size'):
        link(f(4, 4))


def test_inputs_with_more_axes():
    link = L.LSTM(None, 3)
    assert link(f(2, 4, 5)).shape == (2, 3)
    assert link.upward.W.shape == (12, 20)


def test_zoneout_keeps_states():
    link = L.StatefulZoneoutLSTM(4, 3, c_ratio=0.5, h_ratio=0.5)
    link(f(2, 4))
    h = link.h.array
    link(f(2, 4))
    assert 0 < (link.h.array == h).sum() < h.size


@pytest.mark.parametrize('args, match', [((), '0 were'), ((1, 2), 'StatelessGRU'), ((1,) * 3, '3')])
def test_gru_arguments(args, match):
    with pytest.raises(ValueError, match=match):
        L.GRU(4, 3)(*args)


def test_unexpected_arguments():
    with pytest.raises(ValueError, match='using_config'):
        L.StatefulZoneoutLSTM(4, 3, train=False)
    with pytest.raises(TypeError, match='ratio'):
        L.StatefulZoneoutLSTM(4, 3, ratio=1)


@pytest.mark.parametrize('name', ['LSTM', 'GRU'])
def test_gradients_through_time(name):
    with chainer.using_config('dtype', np.dtype('d')):
        link = STATEFUL[name][0]()
    xs = [f(2, 4).astype('d') for _ in range(2)]

    def run(x0, x1, *params):
        link.reset_state()
        link(x0)
        return link(x1)

    chainer.gradient_check.check_backward(
        run,
        tuple(xs),
        f(2, 3).astype('d'),
        params=tuple(link.params()),
        dtype='d',
        atol=1e-4,
        rtol=1e-4,
    )


def test_tree_lstm_child_sum():
    link = L.ChildSumTreeLSTM(4, 3)
    x = f(2, 4)
    cs, hs = [f(2, 3) for _ in range(3)], [f(2, 3) for _ in range(3)]
    v = linear(link.W_x, x)
    a, i, o = np.split(v[:, :9] + linear(link.W_h_aio, sum(hs)), 3, 1)
    c = np.tanh(a) * sigmoid(i) + sum(
        sigmoid(v[:, 9:] + linear(link.W_h_f, h)) * c for c, h in zip(cs, hs)
    )
    y_c, y_h = link(*cs, *hs, x)
    np.testing.assert_allclose(y_c.array, c, atol=1e-5)
    np.testing.assert_allclose(y_h.array, sigmoid(o) * np.tanh(c), atol=1e-5)

    leaf_c, leaf_h = link(x)
    same_c, same_h = link(None, None, x)
    np.testing.assert_allclose(leaf_c.array, same_c.array, atol=1e-6)
    np.testing.assert_allclose(leaf_h.array, same_h.array, atol=1e-6)


def test_tree_lstm_nary():
    link = L.NaryTreeLSTM(4, 3, 2)
    x = f(2, 4)
    cs, hs = [f(2, 3) for _ in range(2)], [f(2, 3) for _ in range(2)]
    a, i, o, f1, f2 = np.split(
        linear(link.W_x, x) + linear(link.W_h1, hs[0]) + linear(link.W_h2, hs[1]), 5, 1
    )
    c = np.tanh(a) * sigmoid(i) + sigmoid(f1) * cs[0] + sigmoid(f2) * cs[1]
    y_c, y_h = link(*cs, *hs, x)
    np.testing.assert_allclose(y_c.array, c, atol=1e-5)
    np.testing.assert_allclose(y_h.array, sigmoid(o) * np.tanh(c), atol=1e-5)


@pytest.mark.parametrize('cls', [L.ChildSumTreeLSTM, L.NaryTreeLSTM])
def test_tree_lstm_missing_inputs(cls):
    link = cls(4, 3)
    zeros = np.zeros((2, 3), 'f')
    c, h, x = f(2, 3), f(2, 3), np.zeros((2, 4), 'f')
    for a, b in zip(link(c, None, None, h, None), link(c, zeros, zeros, h, x)):
        np.testing.assert_array_equal(a.array, b.array)
    with pytest.raises(ValueError, match='None'):
        link(*[None] * 5)
    with pytest.raises(AssertionError, match='given|arguments'):
        link(*[c] * 4)
