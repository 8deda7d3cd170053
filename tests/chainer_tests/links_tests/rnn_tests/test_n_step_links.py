import copy
import pickle

import numpy as np
import pytest
from helpers.functions import no_fallback

import chainer
from chainer import functions as F, links as L
from chainer.links.rnn import n_step_rnn
from tests.helpers.devices import CHX, drawn_by_numpy


def f(*shape):
    return np.random.uniform(-1, 1, shape).astype('f')


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(w, b, states, x):
    h, c = states
    i, g, a, o = (x @ w[j].T + b[j] + h @ w[j + 4].T + b[j + 4] for j in range(4))
    c = sigmoid(i) * np.tanh(a) + sigmoid(g) * c
    return sigmoid(o) * np.tanh(c), c


def gru(w, b, states, x):
    (h,) = states
    r, z = (sigmoid(x @ w[j].T + b[j] + h @ w[j + 3].T + b[j + 3]) for j in range(2))
    h_bar = np.tanh(x @ w[2].T + b[2] + r * (h @ w[5].T + b[5]))
    return ((1 - z) * h_bar + z * h,)


def rnn(activation):
    return lambda w, b, states, x: (activation(x @ w[0].T + b[0] + states[0] @ w[1].T + b[1]),)


relu = rnn(lambda x: np.maximum(x, 0))
tanh = rnn(np.tanh)

LINKS = {
    L.NStepLSTM: (lstm, 1),
    L.NStepBiLSTM: (lstm, 2),
    L.NStepGRU: (gru, 1),
    L.NStepBiGRU: (gru, 2),
    L.NStepRNNTanh: (tanh, 1),
    L.NStepBiRNNTanh: (tanh, 2),
    L.NStepRNNReLU: (relu, 1),
    L.NStepBiRNNReLU: (relu, 2),
}
ALL = pytest.mark.parametrize('cls', LINKS, ids=lambda cls: cls.__name__)


def run_sequence(link, step, states, x):
    """One sequence through all layers, one step and direction after another, in NumPy."""
    direction = link.direction
    last = []
    for layer in range(link.n_layers):
        outs = []
        for d in range(direction):
            i = layer * direction + d
            w = [getattr(link[i], f'w{j}').array for j in range(link.n_weights)]
            b = [getattr(link[i], f'b{j}').array for j in range(link.n_weights)]
            s = tuple([state[i] for state in states])
            ys = []
            for row in x[::-1] if d else x:
                s = step(w, b, s, row)
                ys.append(s[0])
            outs.append(np.array(ys[::-1] if d else ys))
            last.append(s)
        x = np.concatenate(outs, 1)
    return [np.array(s) for s in zip(*last)], x


@ALL
@pytest.mark.parametrize('given', [False, True])
def test_values(cls, given):
    step, direction = LINKS[cls]
    link = cls(2, 3, 4, 0, initial_bias=chainer.initializers.Normal(1))
    assert link.direction == direction and link.n_cells == (2 if step is lstm else 1)
    xs = [f(n, 3) for n in (2, 4, 1, 4)]
    states = [f(2 * direction, 4, 4) * given for _ in range(link.n_cells)]
    *last, ys = link(*(states if given else [None] * link.n_cells), xs)
    assert isinstance(ys, list)
    for k, x in enumerate(xs):
        expected, y = run_sequence(link, step, [s[:, k] for s in states], x)
        np.testing.assert_allclose(ys[k].array, y, atol=1e-5)
        for a, e in zip(last, expected):
            np.testing.assert_allclose(a.array[:, k], e, atol=1e-5)


@ALL
def test_parameters(cls):
    direction = LINKS[cls][1]
    np.random.seed(0)
    link = cls(2, 3, 4, 0.5)
    np.random.seed(0)
    assert len(link) == 2 * direction
    for i, layer in enumerate(link):
        for j in range(link.n_weights):
            n_in = 4 if j >= link.n_weights // 2 else 3 if i < direction else 4 * direction
            np.testing.assert_allclose(
                getattr(layer, f'w{j}').array,
                np.random.normal(0, np.sqrt(1 / n_in), (4, n_in)).astype('f'),
                rtol=1e-6,
            )
            np.testing.assert_array_equal(getattr(layer, f'b{j}').array, np.zeros(4, 'f'))
    assert dict(link.namedparams())['/0/w0'] is link.ws[0][0]
    assert (link.n_layers, link.dropout, link.out_size) == (2, 0.5, 4)
    for mode in 'copy', 'share', 'init':
        other = link.copy(mode)
        assert [p for ws in other.ws for p in ws] == [
            p for path, p in other.namedparams() if '/w' in path
        ]


def test_empty_sequences():
    link = L.NStepLSTM(1, 3, 2, 0)
    hx, cx = f(1, 3, 2), f(1, 3, 2)
    hy, cy, ys = link(hx, cx, [f(0, 3), f(2, 3), f(0, 3)])
    assert [y.shape for y in ys] == [(0, 2), (2, 2), (0, 2)]
    np.testing.assert_array_equal(hy.array[:, ::2], hx[:, ::2])
    np.testing.assert_array_equal(cy.array[:, ::2], cx[:, ::2])


def test_dropout_between_layers():
    link = L.NStepGRU(2, 3, 2, 0.5)
    xs = [f(5, 3)]
    assert (link(None, xs)[1][0].array != link(None, xs)[1][0].array).any()
    with chainer.using_config('train', False):
        np.testing.assert_array_equal(link(None, xs)[1][0].array, link(None, xs)[1][0].array)


@pytest.mark.parametrize(
    'call, error, match',
    [
        (lambda: L.NStepLSTM(1, 3, 2, 0, use_cudnn=True), ValueError, 'use_cudnn'),
        (lambda: L.NStepLSTM(1, 3, 2, 0, bias=True), TypeError, 'bias'),
        (lambda: L.NStepLSTM(1, 3, 2, 0)(None, None, [f(2, 3)], train=True), ValueError, 'train'),
        (lambda: L.NStepGRU(1, 3, 2, 0)(None, f(2, 2, 3)), AssertionError, 'xs'),
        (lambda: L.NStepLSTM(0, 3, 2, 0), ValueError, 'n_layers'),
        (lambda: L.NStepGRU(1, 3, 2, 0)(None, []), IndexError, 'xs'),
        (
            lambda: L.NStepGRU(1, 3, 2, 0)(None, [f(2, 4)]),
            chainer.utils.type_check.InvalidType,
            None,
        ),
        (lambda: n_step_rnn.NStepRNNBase.rnn(L.NStepGRU(1, 3, 2, 0)), NotImplementedError, None),
    ],
)
def test_errors(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_argsort_list_descent():
    indices = n_step_rnn.argsort_list_descent([f(2), f(5), f(3)])
    assert indices.dtype == np.int32
    np.testing.assert_array_equal(indices, [1, 2, 0])


def test_argsort_list_descent_keeps_the_order_of_equal_lengths():
    lengths = np.random.RandomState(0).randint(1, 4, 500)
    indices = n_step_rnn.argsort_list_descent([range(n) for n in lengths])
    assert indices.tolist() == sorted(range(500), key=lambda i: -lengths[i])


@ALL
def test_sequences_of_equal_lengths_get_masks_in_their_order(cls):
    link = cls(2, 3, 4, 0.5)
    xs = [f(length, 3) for length in [2, 2, 3, 3, 2] * 4]
    order = sorted(range(20), key=lambda i: -len(xs[i]))
    np.random.seed(0)
    *_, ys = link(*[None] * link.n_cells, xs)
    np.random.seed(0)
    *_, expected = link(*[None] * link.n_cells, [xs[i] for i in order])
    for i, e in zip(order, expected, strict=True):
        np.testing.assert_allclose(ys[i].array, e.array, atol=1e-6)


@pytest.mark.parametrize(
    'make_copy',
    [
        lambda link: link,
        lambda link: link.copy(),
        lambda link: link.copy('copy'),
        lambda link: link.copy('init'),
        lambda link: chainer.Chain(rnn=link).copy().rnn,
        lambda link: link.repeat(1)[0],
        copy.copy,
        copy.deepcopy,
        lambda link: pickle.loads(pickle.dumps(link)),
        lambda link: link.to_device('@numpy'),
    ],
)
def test_lists_of_parameters_follow_copies(make_copy):
    link = make_copy(L.NStepBiGRU(2, 3, 2, 0))
    assert len(link.ws) == len(link.bs) == len(link) == 4
    for layer, ws, bs in zip(link, link.ws, link.bs):
        assert all(getattr(layer, f'w{j}') is w for j, w in enumerate(ws))
        assert all(getattr(layer, f'b{j}') is b for j, b in enumerate(bs))


@pytest.mark.parametrize(
    'device', ['@numpy', pytest.param(CHX[0], marks=[pytest.mark.chainerx, drawn_by_numpy])]
)
def test_directions_have_their_own_dropout(device):
    """The masks are drawn one after the other, and both devices draw the same ones."""
    link = L.NStepBiRNNTanh(2, 3, 2, 0.5).to_device(device)
    x = f(4, 3)
    np.random.seed(0)
    _, (y,) = link(None, [link.device.send(x)])
    np.random.seed(0)
    masks = (np.random.rand(2, 4, 4) >= 0.5) * np.float32(2)
    link.to_device('@numpy')
    link.dropout = 0
    first = L.NStepBiRNNTanh(1, 3, 2, 0)
    first[0].copyparams(link[0])
    first[1].copyparams(link[1])
    h = first(None, [x])[1][0].array
    expected = []
    for d, mask in enumerate(masks):
        second = L.NStepBiRNNTanh(1, 4, 2, 0)
        second[0].copyparams(link[2])
        second[1].copyparams(link[3])
        expected.append(second(None, [h * mask])[1][0].array[:, 2 * d : 2 * d + 2])
    y = chainer.get_device('@numpy').send(y.array)
    np.testing.assert_allclose(y, np.hstack(expected), atol=1e-5)


@pytest.mark.chainerx
@drawn_by_numpy
@pytest.mark.parametrize('name', ['NStepBiLSTM', 'NStepBiGRU', 'NStepBiRNNReLU', 'NStepGRU'])
def test_dropout_on_chainerx(name):
    """Sequences of all lengths get the masks of NumPy, in both directions."""
    results = []
    xs = [f(length, 3) for length in (2, 4, 1, 3)]
    for device in '@numpy', CHX[0]:
        np.random.seed(0)
        link = getattr(L, name)(3, 3, 2, 0.4).to_device(device)
        inputs = [chainer.Variable(link.device.send(x)) for x in xs]
        with no_fallback():
            *_, ys = link(*[None] * link.n_cells, inputs)
            link.cleargrads()
            sum([F.sum(y * y) for y in ys]).backward()
        arrays = [y.array for y in ys] + [x.grad for x in inputs] + [p.grad for p in link.params()]
        results.append(chainer.get_device('@numpy').send(arrays))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
