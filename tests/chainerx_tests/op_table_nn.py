"""Rows of convolution, pooling, batch normalization and recurrent networks.

The references follow the definitions, position by position of the window and step by step of the
sequence, in NumPy alone.
"""
import itertools

import numpy as np
from chainerx_tests.op_table import In, Row
from scipy.special import expit, softmax

# ---- windows


def _each(value, n):
    return tuple(value) if isinstance(value, tuple) else (value,) * n


def _windows(x, ksize, stride, pad, dilate=1, cover_all=False, fill=0):
    """For each position of the kernel: the position, and the elements of x below it."""
    n = x.ndim - 2
    stride, pad, dilate = _each(stride, n), _each(pad, n), _each(dilate, n)
    width, spans = [(0, 0), (0, 0)], []
    for size, k, s, p, d in zip(x.shape[2:], ksize, stride, pad, dilate):
        extra = s - 1 if cover_all else 0
        spans.append((size + 2 * p + extra - d * (k - 1) - 1) // s + 1)
        width.append((p, p + extra))
    x = np.pad(x, width, constant_values=fill)
    for place in itertools.product(*map(range, ksize)):
        yield place, x[(..., *[slice(i * d, i * d + s * (span - 1) + 1, s)
                               for i, d, s, span in zip(place, dilate, stride, spans)])]


def _bias(y, b):
    return y if b is None else y + b.reshape(-1, *[1] * (y.ndim - 2))


def _split(x, axis, groups):
    return x.reshape(*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1:])


def _conv(x, w, b=None, stride=1, pad=0, cover_all=False, groups=1, dilate=1):
    w = _split(w, 0, groups)
    y = sum(np.einsum('ngc...,goc->ngo...', _split(part, 1, groups), w[(..., *place)])
            for place, part in _windows(x, w.shape[3:], stride, pad, dilate, cover_all))
    return _bias(y.reshape(len(x), w.shape[0] * w.shape[1], *y.shape[3:]), b)


def _conv_transpose(x, w, b=None, stride=1, pad=0, outsize=None, groups=1, dilate=1):
    n, ksize = x.ndim - 2, w.shape[2:]
    stride, pad, dilate = _each(stride, n), _each(pad, n), _each(dilate, n)
    reach = [s * (size - 1) + d * (k - 1) + 1
             for size, k, s, d in zip(x.shape[2:], ksize, stride, dilate)]
    if outsize is None:
        outsize = [r - 2 * p for r, p in zip(reach, pad)]
    full = [max(r, o + 2 * p) for r, o, p in zip(reach, outsize, pad)]
    y = np.zeros((len(x), groups, w.shape[1], *full), x.dtype)
    x, w = _split(x, 1, groups), _split(w, 0, groups)
    for place in itertools.product(*map(range, ksize)):
        below = tuple(slice(i * d, i * d + s * (size - 1) + 1, s)
                      for i, d, s, size in zip(place, dilate, stride, x.shape[3:]))
        y[(..., *below)] += np.einsum('ngc...,gco->ngo...', x, w[(..., *place)])
    y = y.reshape(len(x), w.shape[0] * w.shape[2], *full)
    return _bias(y[(..., *[slice(p, p + o) for p, o in zip(pad, outsize)])], b)


def _max_pool(x, ksize, stride=None, pad=0, cover_all=False):
    ksize = _each(ksize, x.ndim - 2)
    return np.max([part for _, part in _windows(
        x, ksize, ksize if stride is None else stride, pad, 1, cover_all, -np.inf)], 0)


def _average_pool(x, ksize, stride=None, pad=0, pad_mode='ignore'):
    ksize = _each(ksize, x.ndim - 2)

    def total(x):
        return sum(part for _, part in _windows(x, ksize, ksize if stride is None else stride, pad))

    return total(x) / (total(np.ones_like(x)) if pad_mode == 'ignore' else np.prod(ksize))


# ---- batch normalization


def _scale(x, gamma, beta, mean, var, eps, axis):
    axis = tuple(i for i in range(x.ndim) if i != 1) if axis is None else _each(axis, 1)
    shape = [1 if i in axis else size for i, size in enumerate(x.shape)]
    if mean is None:
        mean, var = x.mean(axis), x.var(axis)
    gamma, beta, mean, var = [a.reshape(shape) for a in (gamma, beta, mean, var)]
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def _batch_norm(x, gamma, beta, running_mean, running_var, eps=2e-5, axis=None):
    return _scale(x, gamma, beta, None, None, eps, axis)


def _fixed_batch_norm(x, gamma, beta, mean, var, eps=2e-5, axis=None):
    return _scale(x, gamma, beta, mean, var, eps, axis)


def _without_statistics(f, arrays, kwargs):
    return f(*arrays, None, None, **kwargs)


# ---- attention


def _attention(q, k, v, mask=None, scale=None, causal=False):
    score = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        score = np.where(mask, score, -np.inf) if mask.dtype == bool else score + mask
    if causal:
        score = np.where(np.tri(*score.shape[-2:], dtype=bool), score, -np.inf)
    return softmax(score, -1) @ v


# ---- recurrent networks


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


def _stacked_rows():
    for kind, step, n_states, n_weights in (
            ('lstm', _lstm_step, 2, 8), ('gru', _gru_step, 1, 6), ('rnn', _rnn_step, 1, 2)):
        for directions, prefix in ((1, ''), (2, 'bi')):
            network = _Stacked(step, n_states, n_weights, directions)
            yield Row(f'n_step_{prefix}{kind}', network.reference, [network.inputs()],
                      call=network.call, tolerance=40)


def _norm_cases(statistics):
    """Shapes of x and of its statistics, by axes."""
    for shape, axis in (((3, 2, 4), None), ((4, 2, 3), (0,)), ((3, 2, 3), (0, 1)), ((2, 4, 3), 1)):
        axes = tuple(i for i in range(3) if i != 1) if axis is None else _each(axis, 1)
        rest = [size for i, size in enumerate(shape) if i not in axes]
        moments = [In(*rest), In(*rest, low=1, high=2)] if statistics else []
        yield [In(*shape), In(*rest), In(*rest), *moments, {'axis': axis}]
    yield [In(3, 2), In(2), In(2), *[In(2, low=0.5) for _ in range(2 * statistics)], {'eps': 1e-2}]


ROWS = [
    Row('conv', _conv, [
        [In(2, 3, 5, 6), In(4, 3, 3, 3), In(4), {'pad': 1}],
        [In(2, 3, 6, 5), In(2, 3, 3, 2), {'stride': (2, 1), 'pad': (1, 2)}],
        [In(1, 2, 6), In(3, 2, 3), {'stride': 2, 'cover_all': True}],
        [In(2, 4, 5, 5), In(6, 2, 3, 3), {'pad': 2, 'groups': 2, 'dilate': 2}],
        [In(1, 2, 3, 4, 3), In(2, 2, 2, 2, 2)], [In(2, 3, 4, 4), In(2, 3, 1, 1)],
        [In(0, 2, 3), In(4, 2, 2)]], tolerance=40),
    Row('conv_transpose', _conv_transpose, [
        [In(2, 3, 4, 3), In(3, 2, 3, 3), In(2), {'stride': 2, 'pad': 1}],
        [In(1, 2, 2, 3), In(2, 2, 3, 3), {'stride': 2, 'outsize': (6, 7)}],
        [In(1, 4, 3), In(4, 3, 2), {'groups': 2, 'dilate': 2}],
        [In(1, 2, 2, 2, 2), In(2, 3, 2, 1, 2)], [In(0, 2, 3), In(2, 3, 2)]], tolerance=40),
    Row('max_pool', _max_pool, [
        [In(2, 3, 5, 4, distinct=True), {'ksize': 2}],
        [In(2, 2, 6, 4, distinct=True), {'ksize': (3, 2), 'stride': (2, 1), 'pad': 1, 'cover_all': True}],
        [In(2, 2, 7, distinct=True), {'ksize': 3, 'stride': 1}],
        [In(1, 2, 2, 4, 2, distinct=True), {'ksize': 2}], [In(0, 2, 4), {'ksize': 2}]]),
    Row('average_pool', _average_pool, [
        [In(2, 2, 5, 6), {'ksize': 3, 'stride': 2, 'pad': 1}],
        [In(2, 2, 5, 6), {'ksize': 3, 'stride': 2, 'pad': 1, 'pad_mode': 'zero'}],
        [In(1, 2, 2, 4, 2), {'ksize': 2}], [In(2, 1, 7), {'ksize': 3, 'stride': 1}],
        [In(0, 2, 4), {'ksize': 2}]], tolerance=4),
    Row('batch_norm', _batch_norm, list(_norm_cases(False)), tolerance=40,
        call=_without_statistics),
    Row('fixed_batch_norm', _fixed_batch_norm, list(_norm_cases(True)), tolerance=20),
    Row('scaled_dot_product_attention', _attention, [
        [In(2, 3, 4), In(2, 5, 4), In(2, 5, 6)], [In(3, 1), In(5, 1), In(5, 6), {'scale': 2.0}],
        [In(1, 2, 5, 2), In(1, 2, 3, 2), In(1, 2, 3, 3), {'causal': True}],
        [In(2, 2, 3, 2), In(2, 2, 4, 2), In(2, 2, 4, 3), In(2, 1, 3, 4)],
        [In(2, 3, 4), In(2, 5, 4), In(2, 5, 6), In(3, 5, dtype='bool', values=np.arange(5) > np.ones((3, 1)))],
        [In(0, 3, 2), In(0, 3, 2), In(0, 3, 2)]], tolerance=20),
    Row('lstm', _lstm, [[In(3, 2), In(3, 8)], [In(3, 2), In(2, 8)], [In(2, 2, 3), In(2, 8, 3)],
                        [In(0, 2), In(0, 8)]], tolerance=8),
    Row('slstm', _slstm, [[In(2, 3), In(2, 3), In(2, 12), In(2, 12)]], tolerance=8),
    Row('tree_lstm', _tree_lstm, [[In(2, 3), In(2, 3), In(2, 15)], [In(3, 2), In(3, 8)]],
        tolerance=8),
    *_stacked_rows(),
]
