"""Broadcasting."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions import _base
from chainer.functions.array._views import View
from chainer.utils import type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Broadcast(_base.Operation):
    """Broadcasts several arrays to one shape."""

    # Outputs are views, as those of View.
    _kernels = NO_KERNELS

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        type_check.expect_broadcast_shapes(*[x.shape for x in in_types])

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        xp = cuda.get_array_module(*inputs)
        return tuple(xp.broadcast_arrays(*inputs))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return tuple(chainerx.broadcast_arrays(*inputs))

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return [None if gys[i] is None else m.sum_to(gys[i], self.inputs[i].shape) for i in targets]


class BroadcastTo(View):
    """Broadcasts an array to a given shape."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = tuple(shape)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        ndim = type_check.make_variable(len(self._shape), 'len(shape)')
        type_check.expect(in_types[0].ndim <= ndim)
        shape = type_check.eval(in_types[0].shape)
        for i in range(-1, -len(shape) - 1, -1):
            n = self._shape[i]
            if shape[i] not in (1, n):
                either = '' if n == 1 else f' or x.shape[{i}] == 1'
                raise type_check.InvalidType(f'x.shape[{i}] == {n}{either}', f'x.shape: {shape}')

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return _base.call_chainerx('broadcast_to', inputs[0], self._shape)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (cuda.get_array_module(x).broadcast_to(x, self._shape),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return (m.sum_to(gys[0], self.inputs[0].shape),)


@overload
def broadcast(x: VariableLike, /) -> Variable: ...


@overload
def broadcast(
    x0: VariableLike, x1: VariableLike, /, *rest: VariableLike
) -> tuple[Variable, ...]: ...


@overload
def broadcast(*args: VariableLike) -> Variable | tuple[Variable, ...]: ...


def broadcast(*args: VariableLike) -> Variable | tuple[Variable, ...]:
    """Broadcasts arrays to their common shape.

    Args:
        args (:class:`~chainer.Variable` or array): Inputs of any dtypes with broadcastable
            shapes.

    Returns:
        tuple of ~chainer.Variable: The inputs in the common shape, each in its dtype; for a
        single input no tuple, but its variable.

    Raises:
        ~chainer.utils.type_check.InvalidType: If there is no input or the shapes do not
            fit.

    .. admonition:: Example

        >>> a, b = F.broadcast(np.zeros((2, 1), np.float32), np.ones(3, np.float32))
        >>> a.shape, b.shape
        ((2, 3), (2, 3))

    """
    if len(args) == 1:
        return as_variable(args[0])
    variables = [as_variable(x) for x in args]
    if variables and all([x.shape == variables[0].shape for x in variables]):
        return tuple(variables)
    return Broadcast().apply(variables)


def broadcast_to(x: VariableLike, shape: tuple[int, ...]) -> Variable:
    """Broadcasts an array to a shape.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        shape (tuple of int): Shape of the output.

    Returns:
        ~chainer.Variable: Read-only view of ``x`` with the shape ``shape``; ``x`` itself if it
        already has that shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` cannot be broadcast to ``shape``.

    .. admonition:: Example

        >>> F.broadcast_to(np.arange(2, dtype=np.float32), (3, 2)).array
        array([[0., 1.],
               [0., 1.],
               [0., 1.]], dtype=float32)

    """
    if x.shape == tuple(shape):
        return as_variable(x)
    return BroadcastTo(shape).apply((x,))[0]
