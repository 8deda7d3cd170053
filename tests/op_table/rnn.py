"""Recurrent networks, step by step of the sequence."""
import numpy as np
from scipy.special import expit

from chainerx import ChainerxError, DimensionError, DtypeError
from op_table.inputs import In
from op_table.row import Row, zeros


def _gates(x, n):
    """The channels of x, which hold n gates by turns."""
    return np.moveaxis(x.reshape(len(x), x.shape[1] // n, n, *x.shape[2:]), 2, 0)


def _lstm(c, x):
    a, i, f, o = _gates(x, 4)
    n = len(x)
    new = np.tanh(a) * expit(i) + expit(f) * c[:n]
    return np.concatenate([new, c[n:]]), expit(o) * np.tanh(new)


def _slstm(c1, c2, x1, x2):
    a1, i1, f1, o1 = _gates(x1, 4)
    a2, i2, f2, o2 = _gates(x2, 4)
    c = np.tanh(a1) * expit(i1) + expit(f1) * c1 + np.tanh(a2) * expit(i2) + expit(f2) * c2
    return c, expit(o1 + o2) * np.tanh(c)


def _tree_lstm(*inputs):
    *cs, x = inputs
    a, i, o, *fs = np.split(x, 3 + len(cs), 1)
    c = np.tanh(a) * expit(i) + sum(expit(f) * c for f, c in zip(fs, cs))
    return c, expit(o) * np.tanh(c)


def _lstm_step(state, x, w, b):
    h, c = state
    i, f, a, o = [x @ w[k].T + b[k] + h @ w[k + 4].T + b[k + 4] for k in range(4)]
    c = expit(f) * c + expit(i) * np.tanh(a)
    return expit(o) * np.tanh(c), c


def _gru_step(state, x, w, b):
    h, = state
    xs, hs = [x @ w[k].T + b[k] for k in range(3)], [h @ w[k].T + b[k] for k in range(3, 6)]
    r, z = expit(xs[0] + hs[0]), expit(xs[1] + hs[1])
    return (1 - z) * np.tanh(xs[2] + r * hs[2]) + z * h,


def _rnn_step(state, x, w, b):
    return np.tanh(x @ w[0].T + b[0] + state[0] @ w[1].T + b[1]),


class _Stacked:
    """A stacked network, sequence by sequence; xs holds the sequences, by time."""

    layers, batch, units, width = 2, 3, 2, 3
    lengths = 3, 2, 2  # of the steps: the last sequence is shorter

    def __init__(self, step, n_states, n_weights, directions):
        self.step, self.n_states, self.n_weights = step, n_states, n_weights
        self.directions = directions
        self.cells = self.layers * directions

    def inputs(self):
        shapes = [(self.cells, self.batch, self.units)] * self.n_states
        for cell in range(self.cells):
            inner = self.width if cell < self.directions else self.units * self.directions
            half = self.n_weights // 2
            shapes += [(self.units, inner)] * half + [(self.units, self.units)] * half
            shapes += [(self.units,)] * self.n_weights
        return [In(*shape, low=-1, high=1) for shape in
                shapes + [(n, self.width) for n in self.lengths]]

    def call(self, f, arrays, kwargs):
        """Makes lists of the arrays, and one tuple of the results."""
        states, rest = arrays[:self.n_states], list(arrays[self.n_states:])
        n = self.n_weights
        cells = [[rest[2 * n * i + j:2 * n * i + j + n] for j in (0, n)] for i in range(self.cells)]
        *states, ys = f(self.layers, *states, [w for w, _ in cells], [b for _, b in cells],
                        rest[2 * n * self.cells:], **kwargs)
        return (*states, *ys)

    def reference(self, n_layers, *args):
        *states, ws, bs, xs = args
        final = [s.copy() for s in states]
        outputs = [np.zeros((len(x), self.units * self.directions)) for x in xs]
        for i in range(self.batch):
            sequence = [x[i] for x in xs if i < len(x)]
            for layer in range(n_layers):
                made = []
                for direction in range(self.directions):
                    cell = layer * self.directions + direction
                    state = tuple(s[cell, i] for s in states)
                    ys = []
                    for x in sequence[::-1] if direction else sequence:
                        state = self.step(state, x, ws[cell], bs[cell])
                        ys.append(state[0])
                    made.append(ys[::-1] if direction else ys)
                    for s, value in zip(final, state):
                        s[cell, i] = value
                sequence = [np.concatenate(parts) for parts in zip(*made)]
            for y, value in zip(outputs, sequence):
                y[i] = value
        return (*final, outputs)


def stacked(name, step, n_states, n_weights, directions):
    network = _Stacked(step, n_states, n_weights, directions)
    wrong = [(ChainerxError, lambda f: f(1, *[zeros(1, 1, 2)] * n_states, [[]], [[]], [])),
             (DimensionError, lambda f: f(1, *[zeros(9, 1, 2)] * n_states, [[]], [[]], [zeros(1, 2)])),
             (ChainerxError, lambda f: f(0, *[zeros(0, 1, 2)] * n_states, [], [], [zeros(1, 2)]))]
    return Row(name, network.reference, [network.inputs()], call=network.call, tolerance=40, wrong=wrong)


ROWS = [
    Row('lstm', _lstm, [[In(3, 2), In(3, 8)], [In(3, 2), In(2, 8)], [In(2, 2, 3), In(2, 8, 3)], [In(0, 2), In(0, 8)]], tolerance=8,
        wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2, 9))),
               (DimensionError, lambda f: f(zeros(2, 3), zeros(3, 12))),
               (DtypeError, lambda f: f(zeros(2, 3), zeros(2, 12, dtype='float64')))]),
    Row('slstm', _slstm, [[In(2, 3), In(2, 3), In(2, 12), In(2, 12)]], tolerance=8, wrong=[(DimensionError, lambda f: f(zeros(2, 3), zeros(2, 2), zeros(2, 12), zeros(2, 12)))]),
    Row('tree_lstm', _tree_lstm, [[In(2, 3), In(2, 3), In(2, 15)], [In(3, 2), In(3, 8)]], tolerance=8, wrong=[(ChainerxError, lambda f: f(zeros(2, 3))), (DimensionError, lambda f: f(zeros(2, 3), zeros(2, 3), zeros(2, 12)))]),
    stacked('n_step_lstm', _lstm_step, 2, 8, 1),
    stacked('n_step_bilstm', _lstm_step, 2, 8, 2),
    stacked('n_step_gru', _gru_step, 1, 6, 1),
    stacked('n_step_bigru', _gru_step, 1, 6, 2),
    stacked('n_step_rnn', _rnn_step, 1, 2, 1),
    stacked('n_step_birnn', _rnn_step, 1, 2, 2),
]
