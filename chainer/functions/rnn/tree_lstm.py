"""Tree-LSTM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._base import CallableFunction
from chainer.functions.rnn import _cell
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _extract_gates(x, n_split=5):
    """Consecutive parts of equal size along the second axis."""
    x = x.reshape(x.shape[0], n_split, x.shape[1] // n_split, *x.shape[2:])
    return [x[:, k] for k in range(n_split)]


class TreeLSTM(CallableFunction, _cell.Cell):
    """LSTM cell with any number of children."""

    chainerx_routine = 'tree_lstm'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() >= 2)
        n = type_check.eval(in_types.size()) - 1
        x_type = in_types[n]
        c_type = in_types[0]
        type_check.expect(
            c_type.dtype.kind == 'f',
            x_type.dtype == c_type.dtype,
            c_type.ndim >= 2,
            x_type.ndim == c_type.ndim,
            x_type.shape[0] == c_type.shape[0],
            x_type.shape[1] == c_type.shape[1] * (n + 3),
        )
        for i in range(1, n):
            type_check.expect(in_types[i].dtype == c_type.dtype, in_types[i].shape == c_type.shape)
        for i in range(2, type_check.eval(c_type.ndim)):
            type_check.expect(x_type.shape[i] == c_type.shape[i])

    def _gates(self, inputs):
        *cs, x = inputs
        a, i, o, *f = _extract_gates(x, len(cs) + 3)
        return [a, i, *f, o], cs

    def _input_gradients(self, m, inputs, gates, children, gc):
        a, i, *f, o = gates
        gx = m.stack([a, i, o, *f], axis=1)
        return (*children, gx.reshape(inputs[-1].shape))


def tree_lstm(*inputs: VariableLike) -> tuple[Variable, Variable]:
    """Tree-LSTM cell.

    With :math:`a, i, o, f_1, \\ldots, f_N` taken from the last input, the new states are

    .. math::
        c &= \\tanh(a) \\sigma(i) + \\sum_k c_k \\sigma(f_k) \\\\
        h &= \\tanh(c) \\sigma(o)

    Args:
        inputs (sequence of :class:`~chainer.Variable` or array): Cell states
            :math:`c_1, \\ldots, c_N` of the children, floating point of shape
            :math:`(B, U, ...)`, and the gates in that order, of the same dtype and of shape
            :math:`(B, (N + 3) U, ...)`; each gate is a block of :math:`U` consecutive elements.

    Returns:
        tuple of ~chainer.Variable: New cell states and new hidden states, of the shape and dtype of
        :math:`c_1`.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Tai et al., Improved semantic representations from tree-structured long short-term
    memory networks, ACL 2015.

    .. admonition:: Example

        >>> c1, c2 = np.array([[1]], np.float32), np.array([[2]], np.float32)
        >>> gates = np.array([[0, 0, 100, 100, 100]], np.float32)  # a, i, o, f1, f2
        >>> c, h = F.tree_lstm(c1, c2, gates)
        >>> c.array, h.array.round(3)
        (array([[3.]], dtype=float32), array([[0.995]], dtype=float32))

    """
    c, h = TreeLSTM().apply(inputs)
    return c, h
