"""Contrastive loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend, utils
from chainer.functions._arguments import check_reduce
from chainer.functions._arrays import norm_of_squared, positive_part
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Contrastive(Operation):
    """Function node of :func:`~chainer.functions.contrastive`."""

    _kernels = kernels(retain=(0, 1, 2))

    def __init__(self, margin: float, reduce: str = 'mean') -> None:
        if margin <= 0:
            raise ValueError(f'margin should be positive value, got {margin}')
        check_reduce(reduce)
        self.margin = margin
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x0', 'x1', 'y'))
        x0_type, x1_type, y_type = in_types
        type_check.expect(
            x0_type.dtype.kind == 'f',
            x0_type.dtype == x1_type.dtype,
            y_type.dtype.kind == 'i',
            x0_type.shape == x1_type.shape,
            x0_type.ndim == 2,
            y_type.ndim == 1,
            x0_type.shape[0] == y_type.shape[0],
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x0, x1, y = inputs
        self.retain_inputs((0, 1, 2))
        xp = backend.get_array_module(x0)
        squared = ((x0 - x1) ** 2).sum(axis=1)
        margin = positive_part(xp, x0.dtype.type(self.margin) - norm_of_squared(xp, squared))
        loss = xp.where(y == 1, squared, margin**2) * x0.dtype.type(0.5)
        if self.reduce == 'mean':
            loss = loss.mean()
        return (utils.force_array(loss, x0.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x0, x1, y = xs
        (gy,) = gys
        if self.reduce == 'mean':
            gy = gy * (1.0 / len(x0))
        difference = x0 - x1
        squared = m.sum(difference * difference, axis=1)
        # Coincident points have no direction: their norm counts as one.
        norm = m.sqrt(squared + (as_array(squared) == 0).astype(x0.dtype))
        margin = m.relu(self.margin - norm)
        is_same: Any = as_array(y) == 1
        same = is_same.astype(x0.dtype)
        factor = gy * (same - (1 - same) * margin / norm)
        gx = m.expand_dims(factor, 1) * difference
        return [(gx, -gx, None)[i] for i in targets]


def contrastive(
    x0: VariableLike, x1: VariableLike, y: VariableLike, margin: float = 1, reduce: str = 'mean'
) -> Variable:
    """Contrastive loss of pairs of points.

    .. math:: \\frac12 \\begin{cases} d^2 & y = 1 \\\\ \\max(m - d, 0)^2 & y = 0 \\end{cases},
        \\qquad d = \\|x_0 - x_1\\|_2

    Args:
        x0 (:class:`~chainer.Variable` or array): Points, floating point of shape
            :math:`(N, K)`.
        x1 (:class:`~chainer.Variable` or array): Points, of the same shape and dtype.
        y (:class:`~chainer.Variable` or array): Integers of shape :math:`(N,)`: one for
            similar pairs, zero for others.
        margin (float): Margin :math:`m`, positive.
        reduce (str): ``'mean'``, or ``'no'`` for the loss of each pair.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(N,)`, of the dtype of ``x0``.

    Raises:
        ValueError: If ``margin`` is not positive or ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Hadsell et al., Dimensionality reduction by learning an invariant mapping, CVPR 2006.

    .. admonition:: Example

        >>> x0 = np.array([[0, 0], [0, 0]], np.float32)
        >>> x1 = np.array([[3, 4], [0, 0.5]], np.float32)
        >>> F.contrastive(x0, x1, np.array([1, 0]), reduce='no').array
        array([12.5  ,  0.125], dtype=float32)

    """
    return Contrastive(margin, reduce).apply((x0, x1, y))[0]
