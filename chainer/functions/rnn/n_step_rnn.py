"""Base of stacked recurrent networks over sequences of various lengths; simple networks."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd.array_namespace import arrays_like
from chainer._core.names.namespace import F
from chainer._core.reports.fallback import Fallback
from chainer.backends import cuda
from chainer.configuration import config
from chainer.functions._base import Operation, draw_like, kernels
from chainer.utils import argument, type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable

_old_arguments = {
    'train': 'train argument is not supported anymore. Use chainer.using_config',
    'use_cudnn': 'use_cudnn argument is not supported anymore. Use chainer.using_config',
}


def _stack_weight(ws):
    """Interleaves the rows of weights, as :func:`~chainer.functions.lstm` expects."""
    w = F.stack(ws, axis=1)
    return w.reshape(w.shape[0] * w.shape[1], *w.shape[2:])


class BaseNStepRNN(Operation):
    """Base of stacked recurrent networks, run as one function.

    Inputs are the initial states, of shape (layers * directions, B, H) each, then the inputs of
    all time steps one after the other, of shape (total, I), then weights and biases of every
    layer and direction. Outputs are the final states and the outputs of all time steps.

    The input part of a layer is one matrix product for all time steps, and so are the gradients
    of weights; only what depends on the previous step is done step by step.

    Subclasses of a kind of cell give :attr:`n_states`, :attr:`n_weights`, :attr:`gate_order`,
    :meth:`_step` and :meth:`_step_back`.

    Args:
        n_layers (int): Number of layers.
        states (float): Ratio of dropout between layers (zero: none).
        lengths (sequence of int): Batch size of every time step, not increasing.

    """

    n_states = 1
    n_weights = 2
    directions = 1
    chainerx_routine: str
    #: Gates of the cell in the order in which their weights are stacked.
    gate_order: tuple[int, ...] = (0,)
    _kernels = kernels(retain=None, check=True)

    def __init__(self, n_layers: int, states: float, lengths: Sequence[int], **kwargs: Any) -> None:
        argument.assert_kwargs_empty(kwargs)
        self.n_layers = n_layers
        self.dropout_ratio: float = states or 0.0
        if not 0.0 <= self.dropout_ratio < 1.0:
            raise ValueError(f'dropout_ratio must be in the range [0, 1), got {states}')
        self.lengths: list[int] = list(lengths)
        ends = list(itertools.accumulate(self.lengths))
        self._steps = [slice(end - n, end) for n, end in zip(self.lengths, ends)]
        self._masks: list[Any] | None = None

    @property
    def _n_cells(self):
        return self.n_layers * self.directions

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = self.n_states + 1 + 2 * self.n_weights * self._n_cells
        type_check.expect(in_types.size() == n_in)
        names = ('hx', 'cx')[: self.n_states] + ('x',)
        type_check._argname(in_types[: len(names)], names)
        h_type, x_type = in_types[0], in_types[self.n_states]
        type_check.expect(
            h_type.dtype.kind == 'f',
            h_type.ndim == 3,
            h_type.shape[0] == self._n_cells,
            x_type.dtype == h_type.dtype,
            x_type.ndim == 2,
            x_type.shape[0] == sum(self.lengths),
        )
        if self.n_states == 2:
            type_check.expect(in_types[1].dtype == h_type.dtype, in_types[1].shape == h_type.shape)
        batch = h_type.shape[1]
        for t, n in enumerate(self.lengths):
            n = type_check.make_variable(n, f'lengths[{t}]')
            type_check.expect(n <= batch)
            batch = n
        size = h_type.shape[2]
        half = self.n_weights // 2
        index = self.n_states + 1
        for cell in range(self._n_cells):
            layer = cell // self.directions
            in_size = size * self.directions if layer else x_type.shape[1]
            for j in range(self.n_weights):
                w_type, b_type = in_types[index + j], in_types[index + self.n_weights + j]
                type_check._argname((w_type, b_type), (f'ws[{cell}][{j}]', f'bs[{cell}][{j}]'))
                type_check.expect(
                    w_type.dtype.kind == 'f',
                    w_type.ndim == 2,
                    w_type.shape[0] == size,
                    w_type.shape[1] == (in_size if j < half else size),
                    b_type.dtype.kind == 'f',
                    b_type.ndim == 1,
                    b_type.shape[0] == size,
                )
            index += 2 * self.n_weights

    # -- layout of the inputs ----------------------------------------------------------------

    def _unpack(self, inputs):
        """Returns states, x, and pairs of weights and biases of all cells."""
        n = self.n_states
        flat, k = inputs[n + 1 :], self.n_weights
        params = [(flat[i : i + k], flat[i + k : i + 2 * k]) for i in range(0, len(flat), 2 * k)]
        return inputs[:n], inputs[n], params

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if any([a.dtype != inputs[0].dtype for a in inputs]):
            return Fallback('mixed dtypes')
        states, x, params = self._unpack(inputs)
        if not self.dropout_ratio:
            return self._run_chainerx(self.chainerx_routine, self.n_layers, states, x, params)
        # Dropout is between layers and differs between directions, so they run one by one.
        draw = self._masks_of_a_layer(states[0], x.dtype)
        masks = self._masks = [draw_like(x, draw) for _ in range(self.n_layers - 1)]
        finals = []
        for layer in range(self.n_layers):
            ys = []
            for d in range(self.directions):
                cell = slice(layer * self.directions + d, layer * self.directions + d + 1)
                masked = x * masks[layer - 1][d] if layer else x
                *final, y = self._run_direction(d, [s[cell] for s in states], masked, params[cell])
                ys.append(y)
                finals.append(final)
            x = chainerx.concatenate(ys, 1)
        return (*[chainerx.concatenate(parts, 0) for parts in zip(*finals)], x)

    def _run_direction(self, reverse, states, x, params):
        """Runs one layer in one direction with ChainerX's routine."""
        routine = self.chainerx_routine.replace('step_bi', 'step_')
        if not reverse:
            return self._run_chainerx(routine, 1, states, x, params)
        rows = chainerx.array(self._reversed_rows(), device=x.device)
        *final, y = self._run_chainerx(routine, 1, states, x.take(rows, 0), params)
        return (*final, y.take(rows, 0))

    def _reversed_rows(self):
        """Rows of the time steps, one after the other, with each sequence reversed."""
        counts = numpy.array(self.lengths)
        starts = counts.cumsum() - counts
        ends = numpy.array([(counts > i).sum() for i in range(counts[0])])
        rows = [starts[ends[:n] - 1 - t] + numpy.arange(n) for t, n in enumerate(self.lengths)]
        return numpy.concatenate(rows)

    def _run_chainerx(self, routine, n_layers, states, x, params):
        """Runs layers with a routine of ChainerX; returns the final states and the outputs."""
        routine = getattr(chainerx, routine)
        xs = chainerx.split(x, [s.stop for s in self._steps[:-1]], 0)
        *states, ys = routine(
            n_layers,
            *states,
            [list(ws) for ws, _ in params],
            [list(bs) for _, bs in params],
            xs,
            **self._chainerx_options(),
        )
        return (*states, chainerx.concatenate(ys, 0))

    def _chainerx_options(self):
        return {}

    # -- forward and backward ----------------------------------------------------------------

    def _masks_of_a_layer(self, state, dtype):
        """Returns what draws the dropout masks for the directions of a layer but the first."""
        ratio = self.dropout_ratio
        scale = dtype.type(1 / (1 - ratio))
        shape = self._mask_shape(state)
        return lambda xp: (xp.random.rand(*shape) >= ratio) * scale

    def _mask_shape(self, state):
        return self.directions, sum(self.lengths), state.shape[2] * self.directions

    def skip_masks(self, state: NdArray) -> None:
        """Draws the random numbers of masks that drop nothing, as Chainer 7 does.

        Args:
            state (array): Initial or final hidden states.

        """
        shape = self._mask_shape(state)
        for _ in range(self.n_layers - 1):
            draw_like(state, lambda xp: xp.random.rand(*shape)[:0])

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs(range(len(inputs)))
        states, x, _ = self._unpack(inputs)
        if self._masks is None and self.dropout_ratio:
            draw = self._masks_of_a_layer(states[0], _compute_dtype(inputs))
            xp = cuda.get_array_module(x)
            self._masks = [draw(xp) for _ in range(self.n_layers - 1)]
        outputs, self._saved = self._run(arrays_like(x), inputs)
        return tuple([y.astype(x.dtype, copy=False) for y in outputs])

    def _run(self, m, inputs):
        """Runs all layers; returns the outputs, and what the backward needs of every cell."""
        dtype = _compute_dtype(inputs)
        states, x, params = self._unpack([m.cast(a, dtype) for a in inputs])
        finals, saved = [], []
        for layer in range(self.n_layers):
            ys = []
            for d in range(self.directions):
                cell = layer * self.directions + d
                weights = self._stack(m, *params[cell])
                masked = x * self._masks[layer - 1][d] if layer and self._masks else x
                final, y, steps = self._run_cell(m, masked, [s[cell] for s in states], weights, d)
                ys.append(y)
                finals.append(final)
                saved.append((masked, weights, steps))
            x = m.hstack(ys) if self.directions == 2 else y
        return (*[m.stack(parts, axis=0) for parts in zip(*finals)], x), saved

    def _run_cell(self, m, x, states, weights, reverse):
        """Runs one layer in one direction.

        Returns:
            The final states, the outputs of all steps, and for each step in the order of the
            recurrence the previous hidden state and what :meth:`_step` saves.

        """
        wx, wh, bx, bh = weights
        gates = m.matmul(x, wx, transb=True) + bx
        ys, steps = [], []
        for s in self._steps[::-1] if reverse else self._steps:
            now, rest = _split(states, s.stop - s.start)
            hidden = m.matmul(now[0], wh, transb=True) + bh
            new, saved = self._step(m, gates[s], hidden, *now)
            # Sequences that have ended keep what they had.
            states = _join(m, new, rest)
            ys.append(new[0])
            steps.append((now[0], saved))
        return states, m.vstack(ys[::-1] if reverse else ys), steps

    def gradients(
        self,
        m: Any,
        targets: Sequence[int],
        xs: Sequence[VariableLike],
        ys: Sequence[Any],
        gys: Sequence[Any],
    ) -> Sequence[Any]:
        # Second gradients depend on what was saved.
        saved = self._run(m, xs)[1] if m is F else self._saved
        states, x, params = self._unpack(xs)
        dtype, size = _compute_dtype(xs), states[0].shape[2]
        xp = backend.get_array_module(as_array(x))
        *gstates, gy = [
            xp.zeros(shape, dtype) if g is None else m.cast(g, dtype)
            for g, shape in zip(
                gys, [*[s.shape for s in states], (x.shape[0], size * self.directions)]
            )
        ]
        ginitials, gparams = [None] * self._n_cells, [None] * self._n_cells
        for layer in reversed(range(self.n_layers)):
            gx = None
            for d in range(self.directions):
                cell = layer * self.directions + d
                run: Callable[..., Any] = self._run_cell_back
                ginitials[cell], g, gparams[cell] = run(
                    m,
                    gy[:, d * size : (d + 1) * size],
                    [g[cell] for g in gstates],
                    *saved[cell],
                    d,
                )
                if layer and self._masks:
                    g = g * self._masks[layer - 1][d]
                gx = gx + g if d else g
            gy = gx
        gxs = [*[m.stack(parts, axis=0) for parts in zip(*ginitials)], gy]
        for g in gparams:
            gxs += self._unstack(g, size)
        return [m.cast(gxs[i], self.inputs[i].dtype) for i in targets]

    def _run_cell_back(self, m, gy, gstates, x, weights, steps, reverse):
        """Gradients of the initial states, of ``x`` and of the weights of a cell."""
        wx, wh = weights[:2]
        ggates, ghiddens = [], []
        order = self._steps if reverse else self._steps[::-1]
        for s, (_, saved) in zip(order, reversed(steps)):
            (gh, *gcs), rest = _split(gstates, s.stop - s.start)
            ggate, ghidden, direct = self._step_back(m, (gy[s] + gh, *gcs), *saved)
            g = m.matmul(ghidden, wh)
            new = [g if direct[0] is None else g + direct[0], *direct[1:]]
            gstates = _join(m, new, rest)
            ggates.append(ggate)
            ghiddens.append(ghidden)
        ggates = m.vstack(ggates if reverse else ggates[::-1])
        ghiddens = m.vstack(ghiddens[::-1])
        previous = m.vstack([h for h, _ in steps])
        gweights = (
            m.matmul(ggates, x, transa=True),
            m.matmul(ghiddens, previous, transa=True),
            m.sum(ggates, axis=0),
            m.sum(ghiddens, axis=0),
        )
        return gstates, m.matmul(ggates, wx), gweights

    def _stack(self, m, ws, bs):
        """Weights of input and state, and their biases, all gates stacked."""
        half = self.n_weights // 2
        return [
            join([arrays[k] for k in self.gate_order])
            for join, arrays in (
                (m.vstack, ws[:half]),
                (m.vstack, ws[half:]),
                (m.hstack, bs[:half]),
                (m.hstack, bs[half:]),
            )
        ]

    def _unstack(self, gradients, size):
        """Inverse of :meth:`_stack` for gradients."""
        starts = [size * self.gate_order.index(k) for k in range(self.n_weights // 2)]
        return [g[start : start + size] for g in gradients for start in starts]

    # -- cells -------------------------------------------------------------------------------

    def _step(self, m, x, hidden, *states):
        """One step of a cell, on arrays or variables.

        Args:
            m: Namespace of functions.
            x: What the gates get from the input.
            hidden: What the gates get from the previous hidden state.
            states: Previous states.

        Returns:
            Tuple of the new states, and a tuple of what :meth:`_step_back` needs.

        """
        raise NotImplementedError

    def _step_back(self, m, gstates, *saved):
        """Gradients of ``x``, of ``hidden`` and, not by way of these, of the previous states."""
        raise NotImplementedError


def _compute_dtype(arrays):
    return numpy.result_type(numpy.float32, *[a.dtype for a in arrays])


def _split(states, n):
    """States of the first ``n`` sequences, and of the others (``None``: there are no others)."""
    if n == states[0].shape[0]:
        return states, None
    return [s[:n] for s in states], [s[n:] for s in states]


def _join(m, states, rest):
    """Inverse of :func:`_split`."""
    return states if rest is None else [m.vstack(pair) for pair in zip(states, rest)]


class _SimpleRNN(BaseNStepRNN):
    """Cells of one gate."""

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

    def _chainerx_options(self):
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


def _apply(cls, n_layers, dropout_ratio, states, ws, bs, xs):
    """Applies a stacked network; returns the final states and the tuple of outputs."""
    n_cells = n_layers * cls.directions
    for name, values in (('ws', ws), ('bs', bs)):
        if len(values) != n_cells:
            raise IndexError(
                f'{name} must have {n_cells} lists, one for each layer and '
                f'direction, got {len(values)}'
            )
        for i, value in enumerate(values):
            if len(value) != cls.n_weights:
                raise ValueError(f'{name}[{i}] must have {cls.n_weights} arrays, got {len(value)}')
    if not xs:
        raise IndexError('xs must have at least one time step')
    lengths = [x.shape[0] for x in xs]
    flat = [a for w, b in zip(ws, bs) for a in (*w, *b)]
    func = cls(n_layers, dropout_ratio if config.train else 0.0, lengths)
    x = F.concat(xs, axis=0) if len(xs) > 1 else xs[0]
    *states, y = func.apply((*states, x, *flat))
    if config.train and not dropout_ratio:
        func.skip_masks(states[0].array)
    stops = [s.stop for s in func._steps]
    return (*states, F.split_axis(y, stops[:-1], 0, force_tuple=True))


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
            ys = []
            inputs = [F.dropout(x, dropout_ratio) for x in steps] if layer else steps
            for x in reversed(inputs) if d else inputs:
                n, rest, c_rest = x.shape[0], None, None
                if n < h.shape[0]:
                    h, rest = F.split_axis(h, [n], 0)
                    if c is not None:
                        c, c_rest = F.split_axis(c, [n], 0)
                h, c = f(x, h, c, ws[cell], bs[cell])
                ys.append(h)
                if rest is not None:
                    h = F.concat((h, rest), axis=0)
                    if c is not None:
                        c = F.concat((c, c_rest), axis=0)
            outputs.append(ys[::-1] if d else ys)
            hy.append(h)
            cy.append(c)
        steps = [F.concat(y, axis=1) for y in zip(*outputs)] if directions == 2 else outputs[0]
    return F.stack(hy), None if cy[0] is None else F.stack(cy), tuple(steps)


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
        argument.check_unexpected_kwargs(
            kwargs,
            use_bi_direction='use_bi_direction is not supported as a keyword argument',
            **_old_arguments,
        )
        argument.assert_kwargs_empty(kwargs)
    classes = {'tanh': (NStepRNNTanh, NStepBiRNNTanh), 'relu': (NStepRNNReLU, NStepBiRNNReLU)}
    if activation not in classes:
        candidates = ', '.join(map(repr, classes))
        raise ValueError(f'Invalid activation: {activation!r}. Please select from [{candidates}]')
    cls = classes[activation][bool(use_bi_direction)]
    return _apply(cls, n_layers, dropout_ratio, (hx,), ws, bs, xs)
