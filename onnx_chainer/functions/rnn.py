"""Converters of recurrent networks and cells."""

from __future__ import annotations

import functools

import numpy

from onnx_chainer._axes import Dim
from onnx_chainer._builder import Unsupported
from onnx_chainer.functions._declare import converts, formulas


def _gates(g, x, i, n):
    """Gates of a cell, which input ``i`` has side by side for each unit."""
    batch, size, *rest = g.shape(i)
    parts = g.split(g.reshape(x, [batch, size // n, n, *rest]), [1] * n, 2)
    return [g.squeeze(part, [2]) for part in parts]


def _state(g, pairs, children, o):
    """New cell and hidden states from tanh inputs with gates, and states with forget gates."""
    terms = [g.Mul(g.Tanh(a), g.Sigmoid(i)) for a, i in pairs]
    terms += [g.Mul(g.Sigmoid(f), c) for c, f in children]
    c = functools.reduce(g.Add, terms)
    return c, g.Mul(g.Sigmoid(o), g.Tanh(c))


@converts()
def convert_LSTM(g, f, c, x):
    """One step."""
    a, i, forget, o = _gates(g, x, 1, 4)
    old, new = g.shape(0)[0], g.shape(1)[0]
    if old == new:
        return _state(g, [(a, i)], [(c, forget)], o)
    kept = g.slice(c, [0], [new], [0])
    state, h = _state(g, [(a, i)], [(kept, forget)], o)
    return g.Concat(state, g.slice(c, [new], [2**62], [0]), axis=0), h


@converts()
def convert_SLSTM(g, f, c1, c2, x1, x2):
    a1, i1, f1, o1 = _gates(g, x1, 2, 4)
    a2, i2, f2, o2 = _gates(g, x2, 3, 4)
    return _state(g, [(a1, i1), (a2, i2)], [(c1, f1), (c2, f2)], g.Add(o1, o2))


@converts()
def convert_TreeLSTM(g, f, *inputs):
    *cs, x = inputs
    # The parts of the last input follow one another.
    n = len(cs) + 3
    a, i, o, *forgets = g.split(x, [int(g.shape(len(cs))[1]) // n] * n, 1)
    return _state(g, [(a, i)], list(zip(cs, forgets)), o)


def _weights(g, f, cell, names, order):
    """Weights of input and state, and both biases, of one cell, with gates in ONNX's order."""
    half = f.n_weights // 2
    per_cell = 2 * f.n_weights
    mine = names[cell * per_cell : (cell + 1) * per_cell]
    ws, bs = mine[: f.n_weights], mine[f.n_weights :]
    groups = ws[:half], ws[half:], bs[:half], bs[half:]
    return [g.joined([group[k] for k in order], 0) for group in groups]


def _stacked(g, parts):
    return g.joined([g.unsqueeze(p, [0]) for p in parts], 0)


def _pieces(g, names, lengths, n_states):
    """The input as one array of steps, sequences and features, and the lengths of the sequences."""
    x, features = names[n_states], g.shape(n_states)[1]
    batch = lengths[0]
    if all(n == batch for n in lengths):
        return g.reshape(x, [len(lengths), -1, features]), None, None
    if any(isinstance(n, Dim) for n in lengths):
        raise Unsupported('sequences of several lengths, of which the batch is dynamic')
    # Rows of sequences that have ended are any.
    starts = numpy.cumsum([0, *lengths[:-1]])
    rows = numpy.zeros((len(lengths), batch), numpy.int64)
    for t, (start, n) in enumerate(zip(starts, lengths)):
        rows[t, :n] = numpy.arange(start, start + n)
    sequence_lengths = numpy.array([sum(n > i for n in lengths) for i in range(batch)], numpy.int32)
    places = numpy.concatenate([t * batch + numpy.arange(n) for t, n in enumerate(lengths)])
    return g.Gather(x, rows, axis=0), sequence_lengths, places.astype(numpy.int64)


def _network(g, f, names, kind, order, **options):
    """Layers of ``LSTM``, ``GRU`` or ``RNN`` operators."""
    if f.dropout_ratio:
        raise Unsupported('dropout between layers: export with train=False')
    n_states, directions = f.n_states, f.directions
    y, lengths, places = _pieces(g, names, f.lengths, n_states)
    params = names[n_states + 1 :]
    size = int(g.shape(0)[2])
    finals: list[list[str]] = [[] for _ in range(n_states)]
    for layer in range(f.n_layers):
        cells = range(layer * directions, (layer + 1) * directions)
        weights = [_weights(g, f, cell, params, order) for cell in cells]
        W, R = (_stacked(g, [w[i] for w in weights]) for i in range(2))
        B = _stacked(g, [g.Concat(w[2], w[3], axis=0) for w in weights])
        states = [
            g.slice(s, [layer * directions], [(layer + 1) * directions], [0])
            for s in names[:n_states]
        ]
        options['direction'] = 'bidirectional' if directions == 2 else 'forward'
        layer_of = functools.partial(getattr(g, kind), n=1 + n_states, hidden_size=size, **options)
        y, *last = layer_of(y, W, R, B, lengths, *states)
        for final, state in zip(finals, last):
            final.append(state)
        # Steps, directions, sequences, units.
        y = g.Transpose(y, perm=[0, 2, 1, 3])
        y = g.Reshape(y, g.ints([0, 0, directions * size]))
    y = g.reshape(y, [-1, directions * size])
    if places is not None:
        y = g.Gather(y, places, axis=0)
    return [*[g.joined(states, 0) for states in finals], y]


def _layers(kind, order, **options):
    return lambda g, f, *names: _network(g, f, names, kind, order, **options)


def _rnn(g, f, *names):
    activation = 'Relu' if f.activation == 'relu' else 'Tanh'
    return _network(g, f, names, 'RNN', (0,), activations=[activation] * f.directions)


# Chainer: input, forget, cell, output; ONNX: input, output, forget, cell.
_lstm = _layers('LSTM', (0, 3, 1, 2))
# Chainer: reset, update; ONNX: update, reset.
_gru = _layers('GRU', (1, 0, 2), linear_before_reset=1)
formulas(
    NStepLSTM=_lstm, NStepBiLSTM=_lstm, NStepGRU=_gru, NStepBiGRU=_gru, n_step_gru=_gru,
    NStepRNNTanh=_rnn, NStepRNNReLU=_rnn, NStepBiRNNTanh=_rnn, NStepBiRNNReLU=_rnn,
)  # fmt: skip
