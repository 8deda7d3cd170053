"""Base of stacked recurrent networks over sequences of various lengths, run as one function."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.autograd.array_namespace import arrays_like
from chainer._core.names.namespace import F
from chainer._core.names.set_module import set_module
from chainer._core.reports.fallback import Fallback
from chainer.backends import cuda
from chainer.functions._arrays import draw_like
from chainer.functions._base import Operation, kernels
from chainer.functions.rnn import _n_step_chainerx, _n_step_types
from chainer.utils import argument, type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple


@set_module('chainer.functions.rnn.n_step_rnn')
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
        states, x_type, params = self._unpack(in_types)
        _n_step_types.check_states_and_inputs(states, x_type, self._n_cells, self.lengths)
        size = states[0].shape[2]
        for cell, (ws, bs) in enumerate(params):
            x_size = x_type.shape[1] if cell < self.directions else size * self.directions
            _n_step_types.check_weights(cell, ws, bs, x_size, size)

    # -- layout of the inputs ----------------------------------------------------------------

    def _unpack(self, inputs):
        """Returns states, x, and pairs of weights and biases of all cells."""
        n = self.n_states
        flat, k = inputs[n + 1 :], self.n_weights
        params = [(flat[i : i + k], flat[i + k : i + 2 * k]) for i in range(0, len(flat), 2 * k)]
        return inputs[:n], inputs[n], params

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

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if any([a.dtype != inputs[0].dtype for a in inputs]):
            return Fallback('mixed dtypes')
        states, x, params = self._unpack(inputs)
        if self.dropout_ratio:
            draw = self._masks_of_a_layer(states[0], x.dtype)
            self._masks = [draw_like(x, draw) for _ in range(self.n_layers - 1)]
        return _n_step_chainerx.run(self, states, x, params, self._masks, **self._options())

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
        size = states[0].shape[2]
        shapes = *[s.shape for s in states], (x.shape[0], size * self.directions)
        *gstates, gy = _or_zeros(m, gys, shapes, _compute_dtype(xs), x)
        ginitials, gparams = [None] * self._n_cells, [None] * self._n_cells
        for layer in reversed(range(self.n_layers)):
            gx = None
            for d in range(self.directions):
                cell = layer * self.directions + d
                g, gs = gy[:, d * size : (d + 1) * size], [g[cell] for g in gstates]
                ginitials[cell], g, gparams[cell] = self._run_cell_back(m, g, gs, saved[cell], d)
                if layer and self._masks:
                    g = g * self._masks[layer - 1][d]
                gx = gx + g if d else g
            gy = gx
        gxs = [*[m.stack(parts, axis=0) for parts in zip(*ginitials)], gy]
        for g in gparams:
            gxs += self._unstack(g, size)
        return [m.cast(gxs[i], self.inputs[i].dtype) for i in targets]

    def _run_cell_back(self, m, gy, gstates, saved, reverse):
        """Gradients of the initial states, of the inputs and of the weights of a cell."""
        x, weights, steps = saved
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

    def _options(self):
        """Keyword arguments of ChainerX's routine."""
        return {}


def _compute_dtype(arrays):
    return numpy.result_type(numpy.float32, *[a.dtype for a in arrays])


def _or_zeros(m, gradients, shapes, dtype, x):
    xp = backend.get_array_module(as_array(x))
    return [
        xp.zeros(shape, dtype) if g is None else m.cast(g, dtype)
        for g, shape in zip(gradients, shapes)
    ]


def _split(states, n):
    """States of the first ``n`` sequences, and of the others (``None``: there are no others)."""
    if n == states[0].shape[0]:
        return states, None
    return [s[:n] for s in states], [s[n:] for s in states]


def _join(m, states, rest):
    """Inverse of :func:`_split`."""
    return states if rest is None else [m.vstack(pair) for pair in zip(states, rest)]
