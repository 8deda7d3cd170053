"""Choice between two arrays."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend, variable
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backend import using_device
from chainer.backends import cuda
from chainer.functions import _base
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Where(_base.Operation):
    """Chooses elements of two arrays by a condition."""

    condition: Any

    # NumPy is as fast.
    _kernels = NO_KERNELS
    is_elementwise = True

    def __init__(self, condition: VariableLike) -> None:
        self.condition = condition

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'y'))
        condition = type_check.make_variable(self.condition, 'condition')
        type_check.expect(condition.dtype == bool, in_types[0].dtype == in_types[1].dtype)
        type_check.expect_broadcast_shapes(condition.shape, in_types[0].shape, in_types[1].shape)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        condition = self.condition
        if not isinstance(condition, chainerx.ndarray):
            condition = chainerx.array(condition, device=inputs[0].device)
        return _base.call_chainerx('where', condition, *inputs)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        if isinstance(self.condition, chainerx.ndarray):
            self.condition = backend.from_chx(self.condition)
        return (cuda.get_array_module(*inputs).where(self.condition, *inputs),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        zero = gy.dtype.type(0)
        gxs = []
        for i in targets:
            gx = m.where(self.condition, *((gy, zero) if i == 0 else (zero, gy)))
            gxs.append(m.sum_to(gx, self.inputs[i].shape))
        return gxs


def where(condition: VariableLike, x: VariableLike | float, y: VariableLike | float) -> Variable:
    """Chooses elements of two arrays by a condition.

    It broadcasts the three arguments to one shape.

    Args:
        condition (:class:`~chainer.Variable` or array): Booleans; where true, elements come
            from ``x``.
        x (:class:`~chainer.Variable`, array or number): Elements where ``condition`` is true,
            of any dtype.
        y (:class:`~chainer.Variable`, array or number): Elements where it is false, of the dtype
            of ``x``. A number takes the dtype of the other argument.

    Returns:
        ~chainer.Variable: Chosen elements, of the dtype of ``x`` and the common shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``condition`` is not boolean, shapes cannot be
            broadcast or the dtypes of ``x`` and ``y`` differ.

    .. admonition:: Example

        >>> x = np.arange(3, dtype=np.float32)
        >>> F.where(np.array([True, False, True]), x, -x).array
        array([ 0., -1.,  2.], dtype=float32)

    """
    if isinstance(condition, variable.Variable):
        condition = condition.array
    if not hasattr(condition, 'dtype'):
        raise type_check.InvalidType('condition is an array', str(type(condition)))
    arrays: tuple[VariableLike, VariableLike] = _as_arrays(x, y)
    return Where(condition).apply(arrays)[0]


def _as_arrays(x, y):
    """Converts a number to the dtype and device of the other argument."""
    if isinstance(x, numbers.Number) and not isinstance(y, numbers.Number):
        x = _number(x, y)
    elif isinstance(y, numbers.Number) and not isinstance(x, numbers.Number):
        y = _number(y, x)
    return x, y


def _number(value, like):
    array = as_array(like)
    with using_device(backend.get_device_from_array(array)):
        return backend.get_array_module(array).full((), value, dtype=array.dtype)
