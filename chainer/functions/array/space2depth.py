"""Rearrangement of space to channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.functions._base import Operation, kernels
from chainer.functions.array.depth2space import _depth2space, _space2depth
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Space2Depth(Operation):
    """Rearranges space to channels."""

    _kernels = kernels(least_size=4096)

    def __init__(self, r: int) -> None:
        self.r = r

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('X',))
        r = type_check.make_variable(self.r, 'r')
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 4)
        type_check.expect(in_types[0].shape[2] % r == 0, in_types[0].shape[3] % r == 0)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (_space2depth(inputs[0], self.r),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (_depth2space(gys[0], self.r),)


def space2depth(X: VariableLike, r: int) -> Variable:
    """Rearranges space to channels: the inverse of :func:`~chainer.functions.depth2space`.

    Args:
        X (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, c, h * r, w * r)``.
        r (int): Downscaling factor.

    Returns:
        ~chainer.Variable: Output of shape ``(n, r * r * c, h, w)``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``X`` is not four-dimensional and floating
            point, or height or width is not a multiple of ``r``.

    See: Shi et al., `Real-Time Single Image and Video Super-Resolution Using an Efficient
    Sub-Pixel Convolutional Neural Network <https://arxiv.org/abs/1609.05158>`_, 2016.

    .. admonition:: Example

        >>> X = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 4)
        >>> F.space2depth(X, 2).array[0, :, 0]
        array([[0., 2.],
               [1., 3.],
               [4., 6.],
               [5., 7.]], dtype=float32)

    """
    return Space2Depth(r).apply((X,))[0]
