"""S-LSTM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.backends import cuda
from chainer.functions.rnn import _cell
from chainer.functions.rnn.lstm import _expect_cell, _extract_gates, _join_gates
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class SLSTM(_cell.Cell):
    """LSTM cell that merges two branches."""

    n_tanh = 2
    chainerx_routine = 'slstm'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('c_prev1', 'c_prev2', 'x1', 'x2'))
        c1_type, c2_type, x1_type, x2_type = in_types
        _expect_cell(c1_type, x1_type)
        type_check.expect(
            c2_type.dtype == c1_type.dtype,
            x2_type.dtype == x1_type.dtype,
            c2_type.shape == c1_type.shape,
            x2_type.shape == x1_type.shape,
            c1_type.shape[0] == x1_type.shape[0],
        )

    def _gates(self, inputs):
        c1, c2, x1, x2 = inputs
        a1, i1, f1, o1 = _extract_gates(x1)
        a2, i2, f2, o2 = _extract_gates(x2)
        return [a1, a2, i1, i2, f1, f2, o1 + o2], (c1, c2)

    def _input_gradients(self, m, inputs, gates, children, gc):
        return (*children, *[_join_gates(m, [*gates[k:6:2], gates[6]]) for k in range(2)])


def slstm(
    c_prev1: VariableLike, c_prev2: VariableLike, x1: VariableLike, x2: VariableLike
) -> tuple[Variable, Variable]:
    """S-LSTM cell, which merges two branches of a tree.

    With :math:`a_k, i_k, f_k, o_k` taken from ``x1`` and ``x2`` as in
    :func:`~chainer.functions.lstm`, the new states are

    .. math::
        c &= \\sum_{k=1,2} \\tanh(a_k) \\sigma(i_k) + c_{prev,k} \\sigma(f_k) \\\\
        h &= \\tanh(c) \\sigma(o_1 + o_2)

    Args:
        c_prev1 (:class:`~chainer.Variable` or array): Cell states of the first branch,
            floating point of shape :math:`(N, U, ...)`.
        c_prev2 (:class:`~chainer.Variable` or array): Cell states of the second branch, of the
            same shape and dtype.
        x1 (:class:`~chainer.Variable` or array): Gates of the first branch, of shape
            :math:`(N, 4 U, ...)` and of the same dtype.
        x2 (:class:`~chainer.Variable` or array): Gates of the second branch, likewise.

    Returns:
        tuple of ~chainer.Variable: New cell states and new hidden states, of the shape and dtype of
        ``c_prev1``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Zhu et al., Long short-term memory over tree structures, ICML 2015.

    .. admonition:: Example

        >>> c1, c2 = np.array([[1]], np.float32), np.array([[2]], np.float32)
        >>> x = np.array([[0, 0, 100, 100]], np.float32)  # keeps the cell states
        >>> c, h = F.slstm(c1, c2, x, x)
        >>> c.array, h.array.round(3)
        (array([[3.]], dtype=float32), array([[0.995]], dtype=float32))

    """
    c, h = SLSTM().apply((c_prev1, c_prev2, x1, x2))
    return c, h


def slstm_grad_grad(
    c_prev1: NdArray,
    a1: NdArray,
    i1: NdArray,
    f1: NdArray,
    c_prev2: NdArray,
    a2: NdArray,
    i2: NdArray,
    f2: NdArray,
    o: NdArray,
    c: NdArray,
    gc: NdArray,
    gh: NdArray,
    ggc_prev1: NdArray,
    gga1: NdArray,
    ggi1: NdArray,
    ggf1: NdArray,
    ggo1: NdArray,
    ggc_prev2: NdArray,
    gga2: NdArray,
    ggi2: NdArray,
    ggf2: NdArray,
    ggo2: NdArray,
) -> tuple[NdArray, ...]:
    """Gradients of the gradients of a cell.

    Inputs are those of the gradient of :func:`slstm` (states, raw gates, the sum ``o`` of the
    output gates, the new cell state and gradients of the new states) and the gradients with
    respect to its outputs.

    Returns:
        Gradients of ``c_prev1, a1, i1, f1, c_prev2, a2, i2, f2, o, c, gc, gh``; ``c`` counts as a
        separate input.

    """
    xp = cuda.get_array_module(c)
    pairs, children, *rest = _cell.grad_grad(
        xp,
        [(a1, i1), (a2, i2)],
        [(c_prev1, f1), (c_prev2, f2)],
        o,
        c,
        gc,
        gh,
        [(gga1, ggi1), (gga2, ggi2)],
        [(ggc_prev1, ggf1), (ggc_prev2, ggf2)],
        ggo1 + ggo2,
    )
    branches = [(g_c, *pair, g_f) for pair, (g_c, g_f) in zip(pairs, children)]
    return (*branches[0], *branches[1], *rest)
