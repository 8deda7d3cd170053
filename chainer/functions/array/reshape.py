"""Reshaping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.functions.array._views import View
from chainer.utils import type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Reshape(View):
    """Changes the shape of an array, without a copy if possible."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape: tuple[int, ...] = tuple(shape)
        self._unknown = sum([n < 0 for n in self.shape])
        assert self._unknown <= 1, f'shape can have at most one -1, got {self.shape}'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        size = 1
        for n in self.shape:
            size *= n if n >= 0 else 1
        if self._unknown:
            known = type_check.make_variable(size, f'known_size(={size})')
            type_check.expect(known != 0)
            type_check.expect(type_check.prod(in_types[0].shape) % known == 0)
        else:
            type_check.expect(type_check.prod(in_types[0].shape) == size)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        return (inputs[0].reshape(self.shape),)

    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (gys[0].reshape(self.inputs[0].shape),)


def reshape(x: VariableLike, shape: Sequence[int]) -> Variable:
    """Changes the shape of an array.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        shape (tuple of int): New shape. At most one length can be ``-1``; the size of ``x``
            then determines it.

    Returns:
        ~chainer.Variable: ``x`` in C order with the shape ``shape``; ``x`` itself if it
        already has that shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If the sizes differ.
        AssertionError: If more than one length is negative.

    .. admonition:: Example

        >>> x = np.arange(6, dtype=np.float32)
        >>> F.reshape(x, (2, -1)).array
        array([[0., 1., 2.],
               [3., 4., 5.]], dtype=float32)

    """
    if x.shape == tuple(shape):
        return as_variable(x)
    return Reshape(shape).apply((x,))[0]
