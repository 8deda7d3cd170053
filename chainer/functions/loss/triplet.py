"""Triplet loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend, utils
from chainer.functions._arguments import check_reduce
from chainer.functions._arrays import positive_part
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Triplet(Operation):
    """Function node of :func:`~chainer.functions.triplet`."""

    _kernels = kernels(retain=(0, 1, 2))

    def __init__(self, margin: float, reduce: str = 'mean') -> None:
        if margin <= 0:
            raise ValueError(f'margin should be positive value, got {margin}')
        check_reduce(reduce)
        self.margin = margin
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('anchor', 'positive', 'negative'))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim >= 2)
        for in_type in in_types[1:]:
            type_check.expect(
                in_type.dtype == in_types[0].dtype, in_type.shape == in_types[0].shape
            )

    def _violations(self, anchor, positive, negative):
        return ((anchor - positive) ** 2 - (anchor - negative) ** 2).sum(axis=1) + self.margin

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0, 1, 2))
        xp = backend.get_array_module(*inputs)
        loss = positive_part(xp, self._violations(*inputs))
        if self.reduce == 'mean':
            loss = loss.mean()
        return (utils.force_array(loss, inputs[0].dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        anchor, positive, negative = xs
        (gy,) = gys
        violated = self._violations(*[as_array(x) for x in xs]) > 0
        if self.reduce == 'mean':
            gy = gy * (1.0 / violated.size)
        gy = m.expand_dims(gy * violated.astype(gy.dtype) * 2, 1)
        rules = (
            lambda: gy * (negative - positive),
            lambda: gy * (positive - anchor),
            lambda: gy * (anchor - negative),
        )
        return [rules[i]() for i in targets]


def triplet(
    anchor: VariableLike,
    positive: VariableLike,
    negative: VariableLike,
    margin: float = 0.2,
    reduce: str = 'mean',
) -> Variable:
    """Triplet loss, which moves anchors closer to positive than to negative points.

    .. math:: \\max(\\|a - p\\|^2 - \\|a - n\\|^2 + m, 0)

    Args:
        anchor (:class:`~chainer.Variable` or array): Anchors, floating point of shape
            :math:`(N, K, ...)`; distances are along the second axis.
        positive (:class:`~chainer.Variable` or array): Points that should be near, of the
            shape and dtype of ``anchor``.
        negative (:class:`~chainer.Variable` or array): Points that should be far, likewise.
        margin (float): Margin :math:`m`, positive.
        reduce (str): ``'mean'``, or ``'no'`` for the loss of each triplet.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(N, ...)`, of the dtype of ``anchor``.

    Raises:
        ValueError: If ``margin`` is not positive or ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Schroff et al., FaceNet, CVPR 2015.

    .. admonition:: Example

        >>> anchor = np.zeros((2, 1), np.float32)
        >>> positive = np.array([[1], [1]], np.float32)
        >>> negative = np.array([[1], [2]], np.float32)
        >>> F.triplet(anchor, positive, negative, reduce='no').array
        array([0.2, 0. ], dtype=float32)
        >>> F.triplet(anchor, positive, negative).array
        array(0.1, dtype=float32)

    """
    return Triplet(margin, reduce).apply((anchor, positive, negative))[0]
