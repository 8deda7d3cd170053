"""Permutation of axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.functions.array._views import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class Transpose(View):
    """Permutes the axes of an array."""

    def __init__(self, axes: tuple[int, ...] | None = None) -> None:
        self.axes = axes

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, axes = inputs[0], self.axes
        try:
            return (x.transpose(axes),)
        except ValueError as error:
            if isinstance(axes, tuple) and len(axes) == 2 < x.ndim:
                hint = f'F.swapaxes(x, {axes[0]}, {axes[1]}) exchanges two axes'
                error.args = (f'{error}: transpose() takes all {x.ndim} axes; {hint}',)
            raise

    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        axes = self.axes
        if axes is not None:
            ndim = len(axes)
            inverse = [0] * ndim
            for i, axis in enumerate(axes):
                inverse[axis % ndim] = i
            axes = tuple(inverse)
        return (gys[0].transpose(axes),)


def transpose(x: VariableLike, axes: tuple[int, ...] | None = None) -> Variable:
    """Permutes the axes of an array.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        axes (tuple of int or None): Axis of ``x`` that becomes each axis of the output
            (default: all axes in reverse order).

    Returns:
        ~chainer.Variable: View of ``x`` with permuted axes.

    Raises:
        ValueError: If ``axes`` is not a permutation of the axes of ``x``.

    .. admonition:: Example

        >>> x = np.zeros((2, 3, 4), np.float32)
        >>> F.transpose(x, (2, 0, 1)).shape
        (4, 2, 3)

    """
    return Transpose(axes).apply((x,))[0]
