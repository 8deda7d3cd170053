"""Stacked LSTM over sequences of various lengths."""

from __future__ import annotations

import chainer
from chainer.functions.rnn.n_step_rnn import (
    BaseNStepRNN,
    _apply,
    _old_arguments,
    _stack_weight,
)
from chainer.utils import argument


def _lstm(x, h, c, w, b):
    """One step of one layer; weights are in the order i, f, a, o."""
    F = chainer.functions
    order = 2, 0, 1, 3
    gates = F.linear(
        x, _stack_weight([w[k] for k in order]), _stack_weight([b[k] for k in order])
    ) + F.linear(
        h, _stack_weight([w[4 + k] for k in order]), _stack_weight([b[4 + k] for k in order])
    )
    c, h = F.lstm(c, gates)
    return h, c


class NStepLSTM(BaseNStepRNN):
    """Stacked LSTM."""

    n_states = 2
    n_weights = 8
    gate_order = 2, 0, 1, 3  # a, i, f, o
    chainerx_routine = 'n_step_lstm'

    def __init__(self, n_layers, states, lengths):
        super().__init__(n_layers, states, lengths)

    def _cell(self, x, h, c, ws, bs):
        return _lstm(x, h, c, ws, bs)

    def _run(self, xp, x, states, weights, y, steps):
        wx, wh, bx, bh = weights
        h, c = states
        size = h.shape[1]
        z = x.dot(wx.T)
        z += bx + bh
        # sigmoid(v) = tanh(v / 2) / 2 + 1 / 2: halve v here, so that tanh serves all gates.
        z[:, size:] *= 0.5
        wh = wh.copy()
        wh[size:] *= 0.5
        wh = wh.T
        previous_h, previous_c, tanh_c = [xp.empty(y.shape, x.dtype) for _ in range(3)]
        for s in steps:
            n = s.stop - s.start
            h_now, c_now = h[:n], c[:n]
            previous_h[s] = h_now
            previous_c[s] = c_now
            gates = z[s]
            gates += h_now.dot(wh)
            xp.tanh(gates, out=gates)
            sigmoids = gates[:, size:]
            sigmoids *= 0.5
            sigmoids += 0.5
            c_now *= gates[:, 2 * size : 3 * size]
            c_now += gates[:, :size] * gates[:, size : 2 * size]
            t = xp.tanh(c_now)
            tanh_c[s] = t
            t *= gates[:, 3 * size :]
            h_now[...] = t
            y[s] = t
        return previous_h, previous_c, z, tanh_c

    def _run_back(self, xp, gy, gstates, weights, saved, steps):
        _, previous_c, z, tanh_c = saved
        gh, gc = gstates
        wh = weights[1]
        total, size = tanh_c.shape
        a, i, f, o = [z[:, k * size : (k + 1) * size] for k in range(4)]
        # Derivatives of the cell state by the first three gates, and of h by o and by c.
        slope = z * (1 - z)
        xp.multiply(i, 1 - a * a, out=slope[:, :size])
        slope[:, size : 2 * size] *= a
        slope[:, 2 * size : 3 * size] *= previous_c
        slope[:, 3 * size :] *= tanh_c
        slope_c = 1 - tanh_c * tanh_c
        slope_c *= o
        gates = slope.reshape(total, 4, size)
        for s in steps:
            n = s.stop - s.start
            g = gy[s] + gh[:n]
            gc_now = gc[:n]
            gc_now += g * slope_c[s]
            gates[s, :3] *= gc_now[:, None]
            gates[s, 3] *= g
            gc_now *= f[s]
            gh[:n] = slope[s].dot(wh)
        return slope, slope


class NStepBiLSTM(NStepLSTM):
    """Stacked bidirectional LSTM."""

    directions = 2
    chainerx_routine = 'n_step_bilstm'


def n_step_lstm(n_layers, dropout_ratio, hx, cx, ws, bs, xs, **kwargs):
    """Stacked LSTM over sequences of various lengths.

    .. math::
        i_t &= \\sigma(W_0 x_t + W_4 h_{t-1} + b_0 + b_4) \\\\
        f_t &= \\sigma(W_1 x_t + W_5 h_{t-1} + b_1 + b_5) \\\\
        a_t &= \\tanh(W_2 x_t + W_6 h_{t-1} + b_2 + b_6) \\\\
        o_t &= \\sigma(W_3 x_t + W_7 h_{t-1} + b_3 + b_7) \\\\
        c_t &= f_t c_{t-1} + i_t a_t \\\\
        h_t &= o_t \\tanh(c_t)

    The input of a layer is the output of the previous layer, after dropout in training.

    Sequences are arranged by time step: ``xs[t]`` has an element for each sequence
    longer than ``t``. Sort sequences by descending length; see
    :func:`~chainer.functions.transpose_sequence`.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial hidden states, floating point of
            shape :math:`(S, B, N)`, for :math:`S` layers, :math:`B` sequences and :math:`N` units.
        cx (:class:`~chainer.Variable` or array): Initial cell states, likewise.
        ws (list of list): Weights: ``ws[i]`` has the eight matrices of layer ``i``, the first four
            of shape :math:`(N, I)`, where :math:`I` is :math:`N` except in the first layer, the
            others of shape :math:`(N, N)`.
        bs (list of list): Biases: ``bs[i]`` has the eight vectors of layer ``i``.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step, of shape
            :math:`(B_t, I)` and of the dtype of ``hx``, where :math:`B_t` does not increase.

    Returns:
        tuple: Final hidden states and final cell states, of the shape of ``hx``, and the tuple of
        outputs of every time step, of shape :math:`(B_t, N)`, all of the dtype of ``hx``.

    Raises:
        ValueError: If the number of weights does not fit or there is no time step.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Hochreiter and Schmidhuber, Long short-term memory, 1997.

    .. seealso:: :class:`~chainer.links.NStepLSTM`

    .. admonition:: Example

        >>> xs = [np.ones((n, 3), np.float32) for n in (3, 2, 1)]
        >>> hx, cx = np.zeros((2, 1, 3, 5), np.float32)
        >>> ws = [[np.ones((5, 3 if j < 4 else 5), np.float32) for j in range(8)]]
        >>> bs = [[np.zeros(5, np.float32) for _ in range(8)]]
        >>> hy, cy, ys = F.n_step_lstm(1, 0., hx, cx, ws, bs, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((1, 3, 5), [(3, 5), (2, 5), (1, 5)])

    """
    return n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, False, **kwargs)


def n_step_bilstm(n_layers, dropout_ratio, hx, cx, ws, bs, xs, **kwargs):
    """Stacked bidirectional LSTM over sequences of various lengths.

    Every layer runs forward and backward in time and concatenates the two hidden states
    as its outputs. For the formula see :func:`~chainer.functions.n_step_lstm`.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial hidden states, floating point of shape
            :math:`(2 S, B, N)`: forward and backward for each of :math:`S` layers, for :math:`B`
            sequences and :math:`N` units.
        cx (:class:`~chainer.Variable` or array): Initial cell states, likewise.
        ws (list of list): Weights: two lists of eight matrices for each layer, forward and
            backward, as of :func:`~chainer.functions.n_step_lstm`. Input weights have the shape
            :math:`(N, 2 N)` except in the first layer.
        bs (list of list): Biases: two lists of eight vectors for each layer.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step, of shape
            :math:`(B_t, I)` and of the dtype of ``hx``, where :math:`B_t` does not increase.

    Returns:
        tuple: Final hidden states, final cell states, and the tuple of outputs of every time step,
        of shape :math:`(B_t, 2 N)`; all of the dtype of ``hx``.

    Raises:
        ValueError: If the number of weights does not fit or there is no time step.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.NStepBiLSTM`

    .. admonition:: Example

        >>> xs = [np.ones((n, 3), np.float32) for n in (3, 2, 1)]
        >>> hx, cx = np.zeros((2, 2, 3, 5), np.float32)
        >>> ws = [[np.ones((5, 3 if j < 4 else 5), np.float32) for j in range(8)]] * 2
        >>> bs = [[np.zeros(5, np.float32) for _ in range(8)]] * 2
        >>> hy, cy, ys = F.n_step_bilstm(1, 0., hx, cx, ws, bs, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 3, 5), [(3, 10), (2, 10), (1, 10)])

    """
    return n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, True, **kwargs)


def n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, use_bi_direction, **kwargs):
    """Implementation of :func:`n_step_lstm` and :func:`n_step_bilstm`."""
    if kwargs:
        argument.check_unexpected_kwargs(kwargs, **_old_arguments)
        argument.assert_kwargs_empty(kwargs)
    cls = NStepBiLSTM if use_bi_direction else NStepLSTM
    return _apply(cls, n_layers, dropout_ratio, (hx, cx), ws, bs, xs)
