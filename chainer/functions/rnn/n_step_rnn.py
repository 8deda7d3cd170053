"""Stacked recurrent networks of simple cells over sequences of various lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.names.namespace import F
from chainer.functions.rnn._n_step import BaseNStepRNN as BaseNStepRNN
from chainer.functions.rnn._n_step_call import apply_network, old_arguments
from chainer.utils import argument
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class _SimpleRNN(BaseNStepRNN):
    """Cells of one gate."""

    activation: str

    def _step(self, m, x, hidden, h):
        y = self._activation(m, x + hidden)
        return (y,), (y,)

    def _step_back(self, m, gstates, y):
        g = gstates[0] * self._slope(y)
        return g, g, (None,)

    def _activation(self, m, x):
        raise NotImplementedError

    def _slope(self, y):
        raise NotImplementedError

    def _options(self):
        return {'activation': self.activation}


class NStepRNNTanh(_SimpleRNN):
    """Stacked recurrent network with tanh."""

    activation = 'tanh'
    chainerx_routine = 'n_step_rnn'

    def _activation(self, m, x):
        return m.tanh(x)

    def _slope(self, y):
        return 1 - y * y


class NStepRNNReLU(_SimpleRNN):
    """Stacked recurrent network with rectified linear units."""

    activation = 'relu'
    chainerx_routine = 'n_step_rnn'

    def _activation(self, m, x):
        return m.relu(x)

    def _slope(self, y):
        return (as_array(y) > 0).astype(y.dtype)


class NStepBiRNNTanh(NStepRNNTanh):
    """Stacked bidirectional recurrent network with tanh."""

    directions = 2
    chainerx_routine = 'n_step_birnn'


class NStepBiRNNReLU(NStepRNNReLU):
    """Stacked bidirectional recurrent network with rectified linear units."""

    directions = 2
    chainerx_routine = 'n_step_birnn'


def n_step_rnn_impl(
    f: Callable[..., Any],
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    cx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    use_bi_direction: bool,
) -> tuple[Variable, Variable | None, tuple[Variable, ...]]:
    """Runs a stacked recurrent network with any cell, step by step.

    Args:
        f (callable): Cell: ``f(x, h, c, w, b)`` returns the new ``h`` and ``c``, from the input
            of one step, the states, and the weights and biases of a layer and direction.
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial hidden states, of shape
            (layers * directions, B, H).
        cx (:class:`~chainer.Variable`, array or None): Initial cell states.
        ws (list): Weights of every layer and direction.
        bs (list): Biases of every layer and direction.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step.
        use_bi_direction (bool): Whether layers are bidirectional.

    Returns:
        tuple: Final hidden states, final cell states (``None`` if ``cx`` is), and the tuple of
        outputs of every time step.

    .. admonition:: Example

        >>> cell = lambda x, h, c, w, b: (x + h, None)
        >>> xs = [np.array([[1]], np.float32), np.array([[2]], np.float32)]
        >>> hy, cy, ys = n_step_rnn_impl(
        ...     cell, 1, 0., np.zeros((1, 1, 1), np.float32), None, [None], [None], xs, False)
        >>> [y.array.tolist() for y in ys]
        [[[1.0]], [[3.0]]]

    """
    directions = 2 if use_bi_direction else 1
    hs = F.separate(hx)
    cs: Sequence[Any] = [None] * len(hs) if cx is None else F.separate(cx)
    hy, cy = [], []
    steps: Sequence[Any] = xs
    for layer in range(n_layers):
        outputs = []
        for d in range(directions):
            cell = layer * directions + d
            h, c = hs[cell], cs[cell]
            inputs = [F.dropout(x, dropout_ratio) for x in steps] if layer else steps
            ys, h, c = _run_steps(f, inputs[::-1] if d else inputs, h, c, (ws[cell], bs[cell]))
            outputs.append(ys[::-1] if d else ys)
            hy.append(h)
            cy.append(c)
        steps = [F.concat(y, axis=1) for y in zip(*outputs)] if directions == 2 else outputs[0]
    return F.stack(hy), None if cy[0] is None else F.stack(cy), tuple(steps)


def _run_steps(f, xs, h, c, params):
    """Runs a cell over time steps; returns all hidden states, and the last states."""
    ys = []
    for x in xs:
        n, rest, c_rest = x.shape[0], None, None
        # Sequences that have ended keep what they had.
        if n < h.shape[0]:
            h, rest = F.split_axis(h, [n], 0)
            if c is not None:
                c, c_rest = F.split_axis(c, [n], 0)
        h, c = f(x, h, c, *params)
        ys.append(h)
        if rest is not None:
            h = F.concat((h, rest), axis=0)
            if c is not None:
                c = F.concat((c, c_rest), axis=0)
    return ys, h, c


def n_step_rnn(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    activation: str = 'tanh',
    **kwargs: Any,
) -> tuple[Variable, tuple[Variable, ...]]:
    """Stacked recurrent network over sequences of various lengths.

    .. math:: h_t = f(W_0 x_t + W_1 h_{t-1} + b_0 + b_1)

    The input of a layer is the output of the previous layer, after dropout in training.

    Sequences are arranged by time step: ``xs[t]`` has an element for each sequence
    longer than ``t``. Sort sequences by descending length; see
    :func:`~chainer.functions.transpose_sequence`.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial states, floating point of shape
            :math:`(S, B, N)`, for :math:`S` layers, :math:`B` sequences and :math:`N` units.
        ws (list of list): Weights: ``ws[i]`` has the two matrices of layer ``i``, of shapes
            :math:`(N, I)` and :math:`(N, N)`; :math:`I` is :math:`N` except in the first layer.
        bs (list of list): Biases: ``bs[i]`` has the two vectors of layer ``i``.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step, of shape
            :math:`(B_t, I)` and of the dtype of ``hx``, where :math:`B_t` does not increase.
        activation (str): ``'tanh'`` or ``'relu'``.

    Returns:
        tuple: Final states, of the shape of ``hx``, and the tuple of outputs of every time step,
        of shape :math:`(B_t, N)`, all of the dtype of ``hx``.

    Raises:
        ValueError: If ``activation`` is unknown, the number of weights does not fit, or there is no
            time step.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.NStepRNNTanh`, :class:`~chainer.links.NStepRNNReLU`

    .. admonition:: Example

        >>> xs = [np.ones((n, 3), np.float32) for n in (3, 2, 1)]
        >>> hx = np.zeros((1, 3, 5), np.float32)
        >>> ws = [[np.ones((5, 3 if j < 1 else 5), np.float32) for j in range(2)]]
        >>> bs = [[np.zeros(5, np.float32) for _ in range(2)]]
        >>> hy, ys = F.n_step_rnn(1, 0., hx, ws, bs, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((1, 3, 5), [(3, 5), (2, 5), (1, 5)])

    """
    return n_step_rnn_base(n_layers, dropout_ratio, hx, ws, bs, xs, activation, False, **kwargs)


def n_step_birnn(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    activation: str = 'tanh',
    **kwargs: Any,
) -> tuple[Variable, tuple[Variable, ...]]:
    """Stacked bidirectional recurrent network over sequences of various lengths.

    Every layer runs forward and backward in time and concatenates the two hidden states
    as its outputs. For the formula see :func:`~chainer.functions.n_step_rnn`.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Ratio of dropout between layers.
        hx (:class:`~chainer.Variable` or array): Initial states, floating point of shape
            :math:`(2 S, B, N)`: forward and backward for each of :math:`S` layers, for :math:`B`
            sequences and :math:`N` units.
        ws (list of list): Weights: two lists of two matrices for each layer, forward and backward,
            as of :func:`~chainer.functions.n_step_rnn`. Input weights have the shape
            :math:`(N, 2 N)` except in the first layer.
        bs (list of list): Biases: two lists of two vectors for each layer.
        xs (list of :class:`~chainer.Variable` or array): Inputs of every time step, of shape
            :math:`(B_t, I)` and of the dtype of ``hx``, where :math:`B_t` does not increase.
        activation (str): ``'tanh'`` or ``'relu'``.

    Returns:
        tuple: Final states, and the tuple of outputs of every time step, of shape
        :math:`(B_t, 2 N)`; all of the dtype of ``hx``.

    Raises:
        ValueError: If ``activation`` is unknown, the number of weights does not fit, or there is no
            time step.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.NStepBiRNNTanh`, :class:`~chainer.links.NStepBiRNNReLU`

    .. admonition:: Example

        >>> xs = [np.ones((n, 3), np.float32) for n in (3, 2, 1)]
        >>> hx = np.zeros((2, 3, 5), np.float32)
        >>> ws = [[np.ones((5, 3 if j < 1 else 5), np.float32) for j in range(2)]] * 2
        >>> bs = [[np.zeros(5, np.float32) for _ in range(2)]] * 2
        >>> hy, ys = F.n_step_birnn(1, 0., hx, ws, bs, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 3, 5), [(3, 10), (2, 10), (1, 10)])

    """
    return n_step_rnn_base(n_layers, dropout_ratio, hx, ws, bs, xs, activation, True, **kwargs)


def n_step_rnn_base(
    n_layers: int,
    dropout_ratio: float,
    hx: VariableLike | None,
    ws: Sequence[Sequence[VariableLike]],
    bs: Sequence[Sequence[VariableLike]],
    xs: Sequence[VariableLike],
    activation: str,
    use_bi_direction: bool,
    **kwargs: Any,
) -> tuple[Variable, tuple[Variable, ...]]:
    """Implementation of :func:`n_step_rnn` and :func:`n_step_birnn`."""
    if kwargs:
        argument.parse_kwargs(
            kwargs,
            use_bi_direction='use_bi_direction is not supported as a keyword argument',
            **old_arguments,
        )
    classes = {'tanh': (NStepRNNTanh, NStepBiRNNTanh), 'relu': (NStepRNNReLU, NStepBiRNNReLU)}
    if activation not in classes:
        candidates = ', '.join(map(repr, classes))
        raise ValueError(f'Invalid activation: {activation!r}. Please select from [{candidates}]')
    cls = classes[activation][bool(use_bi_direction)]
    return apply_network(cls, n_layers, dropout_ratio, (hx,), ws, bs, xs)
