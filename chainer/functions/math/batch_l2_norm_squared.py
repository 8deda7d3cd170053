"""Squared L2 norms of the samples of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.functions._base import Operation, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class BatchL2NormSquared(Operation):
    """Function node of :func:`~chainer.functions.batch_l2_norm_squared`."""

    _kernels = kernels(retain=(0,))

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 2)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        return ((x * x).sum(axis=tuple(range(1, x.ndim))),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (x,) = xs
        return (2 * x * m.reshape(gys[0], (-1,) + (1,) * (x.ndim - 1)),)


def batch_l2_norm_squared(x: VariableLike) -> Variable:
    """Squared Euclidean norm of each sample of a batch.

    .. math:: y_i = \\sum_j x_{ij}^2

    Args:
        x (:class:`~chainer.Variable` or array): Batch, floating point of shape
            :math:`(N, ...)` with at least two axes.

    Returns:
        ~chainer.Variable: Squared norms, of shape :math:`(N,)` and of the dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or has fewer
            than two axes.

    .. admonition:: Example

        >>> F.batch_l2_norm_squared(np.array([[1, 2], [3, 4]], np.float32)).array
        array([ 5., 25.], dtype=float32)

    """
    return BatchL2NormSquared().apply((x,))[0]
