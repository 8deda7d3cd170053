"""Rearrangement of channels to space."""

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


def _depth2space(x, r):
    """Works on arrays and variables."""
    n, c, h, w = x.shape
    c //= r**2
    x = x.reshape(n, r, r, c, h, w).transpose(0, 3, 4, 1, 5, 2)
    return x.reshape(n, c, h * r, w * r)


def _space2depth(x, r):
    """Works on arrays and variables."""
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // r, r, w // r, r).transpose(0, 3, 5, 1, 2, 4)
    return x.reshape(n, c * r**2, h // r, w // r)


class Depth2Space(Operation):
    """Rearranges channels to space."""

    _kernels = kernels(least_size=4096)

    def __init__(self, r: int) -> None:
        self.r = r

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('X',))
        square = type_check.make_variable(self.r**2, 'r ** 2')
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 4)
        type_check.expect(in_types[0].shape[1] % square == 0)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (_depth2space(inputs[0], self.r),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (_space2depth(gys[0], self.r),)


def depth2space(X: VariableLike, r: int) -> Variable:
    """Rearranges channels to space, as in sub-pixel convolution.

    The channel ``(i * r + j) * c + k`` contains the pixels at offset ``(i, j)`` of the ``r`` by
    ``r`` blocks of channel ``k``.

    Args:
        X (:class:`~chainer.Variable` or array): Floating point input of shape
            ``(n, r * r * c, h, w)``.
        r (int): Upscaling factor.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c, h * r, w * r)``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``X`` is not four-dimensional and floating
            point, or the number of channels does not fit.

    See: Shi et al., `Real-Time Single Image and Video Super-Resolution Using an Efficient
    Sub-Pixel Convolutional Neural Network <https://arxiv.org/abs/1609.05158>`_, 2016.

    .. admonition:: Example

        >>> X = np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1)
        >>> F.depth2space(X, 2).array[0, 0]
        array([[0., 1.],
               [2., 3.]], dtype=float32)

    """
    return Depth2Space(r).apply((X,))[0]
