"""Stacked LSTM over sequences of various lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.names.namespace import F
from chainer.functions.rnn._cell import sigmoid
from chainer.functions.rnn._n_step import BaseNStepRNN
from chainer.functions.rnn._n_step_call import apply_network, old_arguments
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


def _stack_weight(ws):
    """Interleaves the rows of weights, as :func:`~chainer.functions.lstm` expects."""
    w = F.stack(ws, axis=1)
    return w.reshape(w.shape[0] * w.shape[1], *w.shape[2:])


def _lstm(x, h, c, w, b):
    """One step of one layer; weights are in the order i, f, a, o."""
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
    gate_order: tuple[int, ...] = 2, 0, 1, 3  # a, i, f, o
    chainerx_routine = 'n_step_lstm'

    def __init__(self, n_layers: int, states: Any, lengths: Sequence[int]) -> None:
        super().__init__(n_layers, states, lengths)

    def _step(self, m, x, hidden, h, c):
        size = h.shape[1]
        gates = x + hidden
        a, ifo = m.tanh(gates[:, :size]), sigmoid(m, gates[:, size:])
        i, f, o = [ifo[:, k * size : (k + 1) * size] for k in range(3)]
        c_next = f * c + i * a
        tanh_c = m.tanh(c_next)
        return (o * tanh_c, c_next), (c, a, i, f, o, tanh_c)

    def _step_back(self, m, gstates, c, a, i, f, o, tanh_c):
        gh, gc = gstates
        gc = gc + gh * o * (1 - tanh_c * tanh_c)
        g = m.hstack(
            (
                gc * i * (1 - a * a),
                gc * a * i * (1 - i),
                gc * c * f * (1 - f),
                gh * tanh_c * o * (1 - o),
            )
        )
        return g, g, (None, gc * f)


class NStepBiLSTM(NStepLSTM):
    """Stacked bidirectional LSTM."""

    directions = 2
    chainerx_routine = 'n_step_bilstm'


def n_step_lstm(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    cx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    **kwargs: Any,
) -> tuple[Variable, Variable, tuple[Variable, ...]]:
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
        IndexError: If the number of layers does not fit or there is no time step.
        ValueError: If the number of weights of a layer does not fit.
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


def n_step_bilstm(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    cx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    **kwargs: Any,
) -> tuple[Variable, Variable, tuple[Variable, ...]]:
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
        IndexError: If the number of layers does not fit or there is no time step.
        ValueError: If the number of weights of a layer does not fit.
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


def n_step_lstm_base(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    cx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    use_bi_direction: bool,
    **kwargs: Any,
) -> tuple[Variable, Variable, tuple[Variable, ...]]:
    """Implementation of :func:`n_step_lstm` and :func:`n_step_bilstm`."""
    if kwargs:
        argument.parse_kwargs(kwargs, **old_arguments)
    cls = NStepBiLSTM if use_bi_direction else NStepLSTM
    return apply_network(cls, n_layers, dropout_ratio, (hx, cx), ws, bs, xs)
