"""Recurrent layers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import operator

# Each takes alpha and beta, whose defaults stand behind it.
_ACTIVATIONS = {
    'affine': (lambda x, a, b: a * F.identity(x) + b, 1.0, 0.0),
    'elu': (lambda x, a, b: F.elu(x, a), 1.0, 0.0),
    'hardsigmoid': (lambda x, a, b: F.clip(a * F.identity(x) + b, 0.0, 1.0), 0.2, 0.5),
    'leakyrelu': (lambda x, a, b: F.leaky_relu(x, a), 0.01, 0.0),
    'relu': (lambda x, a, b: F.relu(x), 0.0, 0.0),
    'scaledtanh': (lambda x, a, b: a * F.tanh(b * F.identity(x)), 1.0, 1.0),
    'sigmoid': (lambda x, a, b: F.sigmoid(x), 0.0, 0.0),
    'softplus': (lambda x, a, b: F.softplus(x), 0.0, 0.0),
    'softsign': (lambda x, a, b: x / (1 + F.absolute(x)), 0.0, 0.0),
    'tanh': (lambda x, a, b: F.tanh(x), 0.0, 0.0),
    'thresholdedrelu': (lambda x, a, b: F.where(v.array_of(x) > a, x, 0), 1.0, 0.0),
}


def _activation(clip, name, *given):
    """A function by its name and its alpha and beta, which have defaults."""
    if name.lower() not in _ACTIVATIONS:
        raise ValueError(f'there is no activation {name!r}')
    function, *defaults = _ACTIVATIONS[name.lower()]
    alpha, beta = (default if x is None else x for default, x in zip(defaults, given))
    return lambda x: function(F.clip(x, -clip, clip) if clip else x, alpha, beta)


def _direction(x, lengths, states, step, reverse):
    """Runs a cell over time; sequences that have ended keep their states and give zeros."""
    ys: list[Any] = [None] * x.shape[0]
    for t in reversed(range(x.shape[0])) if reverse else range(x.shape[0]):
        new = step(x[t], *states)
        ys[t] = new[0]
        if lengths is not None:
            on = v.like(x, (t < lengths)[:, None])
            new = tuple(F.where(on, n, s) for n, s in zip(new, states))
            ys[t] = F.where(on, new[0], 0)
        states = new
    return F.stack(ys), states


def _layer(
    x, w, r, b, lengths, initial, make_step, defaults, *, gates,
    activations, activation_alpha, activation_beta, clip, direction, hidden_size, layout,
):  # fmt: skip
    """A layer of one or two directions; gives all its outputs, and its last states."""
    hidden = r.shape[-1]
    if hidden_size not in (None, hidden):
        raise ValueError(f'hidden_size is {hidden_size}, and the weights have {hidden}')
    if layout:
        x = F.transpose(x, (1, 0, 2))
        initial = [None if s is None else F.transpose(s, (1, 0, 2)) for s in initial]
    batch, count = x.shape[1], w.shape[0]
    zeros = v.like(x, np.zeros((batch, hidden), x.dtype))
    backwards = {'forward': [False], 'reverse': [True], 'bidirectional': [False, True]}[direction]
    if len(backwards) != count:
        raise ValueError(f'direction is {direction!r}, and the weights have {count} directions')
    names = activations or defaults * count
    per = len(names) // count
    size = gates * hidden
    runs = []
    for d, reverse in enumerate(backwards):
        part = slice(d * per, (d + 1) * per)
        given = (each[part] for each in (names, activation_alpha or (), activation_beta or ()))
        functions = [_activation(clip, *each) for each in itertools.zip_longest(*given)]
        bias = [None, None] if b is None else [b[d, :size], b[d, size:]]
        projected = F.linear(x, w[d], bias[0], n_batch_axes=2)
        states = tuple(zeros if s is None else s[d] for s in initial)
        step = make_step(functions, r[d], bias[1], d)
        runs.append(_direction(projected, lengths, states, step, reverse))
    ys, finals = zip(*runs)
    y = F.stack(ys, axis=1)
    last = [F.stack(each) for each in zip(*finals)]
    if layout:
        y = F.transpose(y, (2, 0, 1, 3))
        last = [F.transpose(s, (1, 0, 2)) for s in last]
    return y, *last


@operator('RNN', host=(4,), statistics=(5,))
def rnn(x, w, r, b, lengths, h, *, activations, output_sequence, **attributes):
    def make_step(functions, recurrent, bias, d):
        (f,) = functions
        return lambda gate, h: (f(gate + F.linear(h, recurrent, bias)),)

    # The default is that of two directions.
    names = None if activations == ['Tanh', 'Tanh'] else activations
    return _layer(
        x, w, r, b, lengths, [h], make_step, ['Tanh'], gates=1, activations=names, **attributes
    )


@operator('GRU', host=(4,), statistics=(5,))
def gru(x, w, r, b, lengths, h, *, linear_before_reset, output_sequence, **attributes):
    def make_step(functions, recurrent, bias, d):
        f, g = functions
        size = recurrent.shape[1]
        gates, candidate = recurrent[: 2 * size], recurrent[2 * size :]
        biases = (None, None) if bias is None else (bias[: 2 * size], bias[2 * size :])

        def step(gate, h):
            both = f(gate[:, : 2 * size] + F.linear(h, gates, biases[0]))
            update, reset = both[:, :size], both[:, size:]
            if linear_before_reset:
                inner = reset * F.linear(h, candidate, biases[1])
            else:
                inner = F.linear(reset * h, candidate, biases[1])
            new = g(gate[:, 2 * size :] + inner)
            return ((1 - update) * new + update * h,)

        return step

    defaults = ['Sigmoid', 'Tanh']
    return _layer(x, w, r, b, lengths, [h], make_step, defaults, gates=3, **attributes)


@operator('LSTM', host=(4,), statistics=(5, 6))
def lstm(x, w, r, b, lengths, h, c, peepholes, *, input_forget, output_sequence, **attributes):
    def make_step(functions, recurrent, bias, d):
        f, g, last = functions
        size = recurrent.shape[1]

        def peep(i, c):
            part = slice(i * size, (i + 1) * size)
            return 0 if peepholes is None else c * peepholes[d, part]

        def step(gate, h, c):
            a = gate + F.linear(h, recurrent, bias)
            enter = f(a[:, :size] + peep(0, c))
            keep = 1 - enter if input_forget else f(a[:, 2 * size : 3 * size] + peep(2, c))
            c = keep * c + enter * g(a[:, 3 * size :])
            out = f(a[:, size : 2 * size] + peep(1, c))
            return out * last(c), c

        return step

    defaults = ['Sigmoid', 'Tanh', 'Tanh']
    return _layer(x, w, r, b, lengths, [h, c], make_step, defaults, gates=4, **attributes)
