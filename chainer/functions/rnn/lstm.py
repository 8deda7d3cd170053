"""Long short-term memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends import cuda
from chainer.functions.rnn import _cell
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _extract_gates(x):
    """Gates ``a, i, f, o`` of an input of shape (N, 4 * U, ...), interleaved."""
    x = x.reshape(x.shape[0], x.shape[1] // 4, 4, *x.shape[2:])
    return [x[:, :, k] for k in range(4)]


def _join_gates(m, gates):
    """Inverse of :func:`_extract_gates`."""
    x = m.stack(gates, axis=2)
    return x.reshape(x.shape[0], x.shape[1] * 4, *x.shape[3:])


def _expect_cell(c_type, x_type):
    """Type check of the cell states and the gates of a cell with four gates."""
    type_check.expect(
        c_type.dtype.kind == 'f',
        x_type.dtype == c_type.dtype,
        c_type.ndim >= 2,
        x_type.ndim == c_type.ndim,
        x_type.shape[1] == 4 * c_type.shape[1],
    )
    for i in range(2, type_check.eval(c_type.ndim)):
        type_check.expect(x_type.shape[i] == c_type.shape[i])


class LSTM(_cell.Cell):
    """Cell of long short-term memory with a forget gate."""

    chainerx_routine = 'lstm'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('c', 'x'))
        c_type, x_type = in_types
        _expect_cell(c_type, x_type)
        type_check.expect(c_type.shape[0] >= x_type.shape[0])

    def _gates(self, inputs):
        c, x = inputs
        return _extract_gates(x), (c[: x.shape[0]],)

    def _whole_state(self, xp, c, inputs):
        c_prev, x = inputs
        n = x.shape[0]
        return c if n == c_prev.shape[0] else xp.concatenate((c, c_prev[n:]))

    def _input_gradients(self, m, inputs, gates, children, gc):
        (gc_prev,) = children
        c_prev, n = inputs[0], gc_prev.shape[0]
        if n < c_prev.shape[0]:
            rest = _cell.zeros_like(c_prev[n:]) if gc is None else gc[n:]
            gc_prev = m.vstack((gc_prev, rest))
        return gc_prev, _join_gates(m, gates)


def lstm(c_prev: VariableLike, x: VariableLike) -> tuple[Variable, Variable]:
    """Long short-term memory cell.

    With :math:`a, i, f, o` taken from ``x``, the new states are

    .. math::
        c &= \\tanh(a) \\sigma(i) + c_{prev} \\sigma(f) \\\\
        h &= \\tanh(c) \\sigma(o)

    Gates are interleaved: along the second axis of ``x``, the first four elements are ``a``,
    ``i``, ``f`` and ``o`` of the first unit, and so on. If ``x`` has fewer samples than
    ``c_prev``, the last sequences have ended: their cell states are carried over, and ``h`` has
    no rows for them.

    Args:
        c_prev (:class:`~chainer.Variable` or array): Cell states, floating point of shape
            :math:`(N', U, ...)`.
        x (:class:`~chainer.Variable` or array): Gates, of shape :math:`(N, 4 U, ...)` with
            :math:`N \\le N'`, and of the same dtype.

    Returns:
        tuple of ~chainer.Variable: New cell states, of the shape of ``c_prev``, and new hidden
        states, of shape :math:`(N, U, ...)`, both of the dtype of the inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers et al., Learning to
    forget, 2000.

    .. admonition:: Example

        >>> c_prev = np.array([[1]], np.float32)
        >>> x = np.array([[0, 0, 100, 100]], np.float32)  # keeps the cell state, shows it
        >>> c, h = F.lstm(c_prev, x)
        >>> c.array, h.array.round(3)
        (array([[1.]], dtype=float32), array([[0.762]], dtype=float32))

    """
    c, h = LSTM().apply((c_prev, x))
    return c, h


def lstm_grad_grad(
    c_prev: NdArray,
    a: NdArray,
    i: NdArray,
    f: NdArray,
    o: NdArray,
    c: NdArray,
    gc: NdArray,
    gh: NdArray,
    ggc_prev: NdArray,
    gga: NdArray,
    ggi: NdArray,
    ggf: NdArray,
    ggo: NdArray,
    gc_prev: NdArray,
    ga: NdArray,
    gi: NdArray,
    gf: NdArray,
    go: NdArray,
    gc_next: NdArray,
    ggc: NdArray,
    ggh: NdArray,
) -> None:
    """Gradients of the gradients of a cell, written to the last eight arrays.

    Inputs are those of the gradient of :func:`lstm` (states, raw gates, new cell state and
    gradients of the new states) and the gradients with respect to its outputs. ``c`` counts as a
    separate input, whose gradient is ``gc_next``.

    """
    xp = cuda.get_array_module(c)
    ((g_a, g_i),), ((g_c, g_f),), *rest = _cell.grad_grad(
        xp, [(a, i)], [(c_prev, f)], o, c, gc, gh, [(gga, ggi)], [(ggc_prev, ggf)], ggo
    )
    for to, g in zip((gc_prev, ga, gi, gf, go, gc_next, ggc, ggh), (g_c, g_a, g_i, g_f, *rest)):
        to[...] = g
