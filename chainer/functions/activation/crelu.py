"""Concatenated rectified linear unit."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import chainerx
from chainer.backends import cuda
from chainer.functions import _arguments, _base
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class CReLU(_base.Operation):
    """Concatenates the rectified input and the rectified negative input."""

    _kernels = _base.kernels(retain=(0,))

    def __init__(self, axis: int = 1) -> None:
        if not isinstance(axis, numbers.Integral):
            raise TypeError(f'axis must be an integer value, not {axis!r}')
        self.axis: int = int(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))
        type_check.expect(in_types[0].dtype.kind == 'f')
        _arguments.expect_axis(in_types[0], (self.axis,))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (chainerx.crelu(inputs[0], axis=self.axis),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        xp = cuda.get_array_module(x)
        return (xp.concatenate((xp.maximum(x, 0), xp.maximum(-x, 0)), axis=self.axis),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x = as_array(xs[0])
        (gy,) = gys
        before = (slice(None),) * (self.axis % x.ndim)
        n = x.shape[self.axis]
        return ((gy[before + (slice(n),)] * (x > 0) - gy[before + (slice(n, None),)] * (x < 0)),)


def crelu(x: VariableLike, axis: int = 1) -> Variable:
    """Concatenated rectified linear unit.

    .. math:: f(x) = (\\max(0, x), \\max(0, -x))

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values.
        axis (int): Axis to concatenate the parts along.

    Returns:
        ~chainer.Variable: Output of the dtype and shape of ``x``, but twice as long along ``axis``.

    Raises:
        TypeError: If ``axis`` is not an int.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or has no such
            axis.

    See: Shang et al., `Understanding and Improving Convolutional Neural Networks via
    Concatenated Rectified Linear Units <https://arxiv.org/abs/1603.05201>`_, 2016.

    .. admonition:: Example

        >>> F.crelu(np.array([[-1, 2]], np.float32)).array
        array([[0., 2., 1., 0.]], dtype=float32)

    """
    return CReLU(axis).apply((x,))[0]
