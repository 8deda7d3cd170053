"""Stacked GRU over sequences of various lengths."""

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


def _gru(x, h, c, w, b):
    """One step of one layer; weights are in the order r, z, h."""
    r_x, z_x, h_x = [F.linear(x, w[k], b[k]) for k in range(3)]
    r_h, z_h, h_h = [F.linear(h, w[k], b[k]) for k in range(3, 6)]
    r = F.sigmoid(r_x + r_h)
    z = F.sigmoid(z_x + z_h)
    h_bar = F.tanh(h_x + r * h_h)
    return (1 - z) * h_bar + z * h, None


class NStepGRU(BaseNStepRNN):
    """Stacked GRU."""

    n_weights = 6
    gate_order: tuple[int, ...] = 0, 1, 2  # r, z, h
    chainerx_routine = 'n_step_gru'

    def _step(self, m, x, hidden, h):
        size = h.shape[1]
        rz = sigmoid(m, x[:, : 2 * size] + hidden[:, : 2 * size])
        r, z = rz[:, :size], rz[:, size:]
        h_h = hidden[:, 2 * size :]
        h_bar = m.tanh(x[:, 2 * size :] + r * h_h)
        return (h_bar + z * (h - h_bar),), (h, r, z, h_h, h_bar)

    def _step_back(self, m, gstates, h, r, z, h_h, h_bar):
        (g,) = gstates
        g_bar = g * (1 - z) * (1 - h_bar * h_bar)
        gr = g_bar * h_h * r * (1 - r)
        gz = g * (h - h_bar) * z * (1 - z)
        return m.hstack((gr, gz, g_bar)), m.hstack((gr, gz, g_bar * r)), (g * z,)


class NStepBiGRU(NStepGRU):
    """Stacked bidirectional GRU."""

    directions = 2
    chainerx_routine = 'n_step_bigru'


def n_step_gru(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    **kwargs: Any,
) -> tuple[Variable, tuple[Variable, ...]]:
    """Stacked GRU over sequences of various lengths.

    .. math::
        r_t &= \\sigma(W_0 x_t + W_3 h_{t-1} + b_0 + b_3) \\\\
        z_t &= \\sigma(W_1 x_t + W_4 h_{t-1} + b_1 + b_4) \\\\
        h'_t &= \\tanh(W_2 x_t + b_2 + r_t (W_5 h_{t-1} + b_5)) \\\\
        h_t &= (1 - z_t) h'_t + z_t h_{t-1}

    The input of a layer is the output of the previous layer, after dropout in training.

    Sequences are arranged by time step: ``xs[t]`` has an element for each sequence
    longer than ``t``. Sort sequences by descending length; see
    :func:`~chainer.functions.transpose_sequence`.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial states, floating point of shape
            :math:`(S, B, N)`, for :math:`S` layers, :math:`B` sequences and :math:`N` units.
        ws (list of list): Weights: ``ws[i]`` has the six matrices of layer ``i``, the first three
            of shape :math:`(N, I)`, where :math:`I` is :math:`N` except in the first layer, the
            others of shape :math:`(N, N)`.
        bs (list of list): Biases: ``bs[i]`` has the six vectors of layer ``i``.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step, of shape
            :math:`(B_t, I)` and of the dtype of ``hx``, where :math:`B_t` does not increase.

    Returns:
        tuple: Final states, of the shape of ``hx``, and the tuple of outputs of every time step,
        of shape :math:`(B_t, N)`, all of the dtype of ``hx``.

    Raises:
        IndexError: If the number of layers does not fit or there is no time step.
        ValueError: If the number of weights of a layer does not fit.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Cho et al., Learning phrase representations using RNN encoder-decoder for statistical
    machine translation, EMNLP 2014; the reset gate acts on the product with :math:`W_5`.

    .. seealso:: :class:`~chainer.links.NStepGRU`

    .. admonition:: Example

        >>> xs = [np.ones((n, 3), np.float32) for n in (3, 2, 1)]
        >>> hx = np.zeros((1, 3, 5), np.float32)
        >>> ws = [[np.ones((5, 3 if j < 3 else 5), np.float32) for j in range(6)]]
        >>> bs = [[np.zeros(5, np.float32) for _ in range(6)]]
        >>> hy, ys = F.n_step_gru(1, 0., hx, ws, bs, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((1, 3, 5), [(3, 5), (2, 5), (1, 5)])

    """
    return n_step_gru_base(n_layers, dropout_ratio, hx, ws, bs, xs, False, **kwargs)


def n_step_bigru(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    **kwargs: Any,
) -> tuple[Variable, tuple[Variable, ...]]:
    """Stacked bidirectional GRU over sequences of various lengths.

    Every layer runs forward and backward in time and concatenates the two hidden states
    as its outputs. For the formula see :func:`~chainer.functions.n_step_gru`.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial states, floating point of shape
            :math:`(2 S, B, N)`: forward and backward for each of :math:`S` layers, for :math:`B`
            sequences and :math:`N` units.
        ws (list of list): Weights: two lists of six matrices for each layer, forward and backward,
            as of :func:`~chainer.functions.n_step_gru`. Input weights have the shape
            :math:`(N, 2 N)` except in the first layer.
        bs (list of list): Biases: two lists of six vectors for each layer.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step, of shape
            :math:`(B_t, I)` and of the dtype of ``hx``, where :math:`B_t` does not increase.

    Returns:
        tuple: Final states, and the tuple of outputs of every time step, of shape
        :math:`(B_t, 2 N)`; all of the dtype of ``hx``.

    Raises:
        IndexError: If the number of layers does not fit or there is no time step.
        ValueError: If the number of weights of a layer does not fit.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.NStepBiGRU`

    .. admonition:: Example

        >>> xs = [np.ones((n, 3), np.float32) for n in (3, 2, 1)]
        >>> hx = np.zeros((2, 3, 5), np.float32)
        >>> ws = [[np.ones((5, 3 if j < 3 else 5), np.float32) for j in range(6)]] * 2
        >>> bs = [[np.zeros(5, np.float32) for _ in range(6)]] * 2
        >>> hy, ys = F.n_step_bigru(1, 0., hx, ws, bs, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 3, 5), [(3, 10), (2, 10), (1, 10)])

    """
    return n_step_gru_base(n_layers, dropout_ratio, hx, ws, bs, xs, True, **kwargs)


def n_step_gru_base(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    use_bi_direction: bool,
    **kwargs: Any,
) -> tuple[Variable, tuple[Variable, ...]]:
    """Implementation of :func:`n_step_gru` and :func:`n_step_bigru`."""
    if kwargs:
        argument.parse_kwargs(kwargs, **old_arguments)
    cls = NStepBiGRU if use_bi_direction else NStepGRU
    return apply_network(cls, n_layers, dropout_ratio, (hx,), ws, bs, xs)
