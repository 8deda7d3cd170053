"""Numbers as integers, ``x = scale (q - zero)``: ONNX's two operators, and both with a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend, functions
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._base import Operation
from chainer.quantization import _packing
from chainer.utils import type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable

#: The least and the largest integer of each kind.
LIMITS = {'uint8': (0, 255), 'int8': (-128, 127), 'int4': (-8, 7)}


def limits_of(dtype: Any) -> tuple[int, int]:
    """The least and the largest integer of a dtype, which may be ``'int4'``."""
    name = dtype if isinstance(dtype, str) else numpy.dtype(dtype).name
    if name not in LIMITS:
        raise ValueError(f'dtype must be one of {", ".join(LIMITS)}, but is {dtype!r}')
    return LIMITS[name]


def aligned(scale: Any, shape: Sequence[int], axis: int, block_size: int = 0) -> Any:
    """Scales or zero points in a shape that broadcasts with ``shape``.

    Args:
        scale: One element, one per index of ``axis``, or one per block of ``axis``.
        shape: Shape of the numbers.
        axis: Axis of the scales.
        block_size: Length of blocks, or zero.

    """
    if scale.ndim == 0:
        return scale
    if not block_size:
        return scale.reshape((-1,) + (1,) * (len(shape) - 1 - axis % len(shape)))
    xp = backend.get_array_module(scale)
    blocks = xp.repeat(scale, block_size, axis)
    return blocks[tuple([slice(n) for n in shape])]


class QuantizeLinear(Operation):
    """Integers of numbers, like the operator of ONNX."""

    _kernels = NO_KERNELS

    def __init__(self, axis: int = 1) -> None:
        self.axis = axis

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'scale', 'zero_point'))
        x, scale, zero = in_types
        type_check.expect(
            x.dtype.kind == 'f', scale.dtype == x.dtype, scale.ndim <= 1, zero.shape == scale.shape
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, scale, zero = inputs
        xp = backend.get_array_module(x)
        low, high = limits_of(zero.dtype)
        y: Any = xp.rint(x / aligned(scale, x.shape, self.axis))
        y = y + aligned(zero, x.shape, self.axis).astype(x.dtype)
        return (xp.clip(y, low, high).astype(zero.dtype),)

    forward_chainerx = forward


class DequantizeLinear(Operation):
    """Numbers of integers, like the operator of ONNX."""

    _kernels = NO_KERNELS

    def __init__(
        self, axis: int = 1, block_size: int = 0, int4_shape: tuple[int, ...] | None = None
    ) -> None:
        self.axis = axis
        self.block_size = block_size
        self.int4_shape = int4_shape

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        type_check.expect(in_types[1].dtype.kind == 'f')
        if n_in == 3:
            type_check.expect(in_types[2].dtype == in_types[0].dtype)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        q, scale, *zero = inputs
        if self.int4_shape is not None:
            q = _packing.unpack(q, self.int4_shape)
        wide = numpy.promote_types(scale.dtype, numpy.float32)
        y: Any = q.astype(wide)
        if zero:
            y = y - aligned(zero[0], q.shape, self.axis).astype(wide)
        y = y * aligned(scale, q.shape, self.axis, self.block_size).astype(wide)
        return (y.astype(scale.dtype, copy=False),)

    forward_chainerx = forward


class Round(Operation):
    """Integers next to numbers, half to even, with the gradient of the identity."""

    _kernels = NO_KERNELS

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        self.retain_inputs(())
        y: Any = backend.get_array_module(x).rint(x)
        return (numpy.asarray(y) if numpy.isscalar(y) else y,)

    def forward_chainerx(self, inputs: tuple[chainerx.ndarray, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        return (x + (chainerx.rint(x) - x).as_grad_stopped(),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return gys


def quantize_linear(
    x: VariableLike, scale: NdArray, zero_point: NdArray, axis: int = 1
) -> Variable:
    r"""Integers of numbers, as ONNX's ``QuantizeLinear``.

    .. math:: q = \min(\max(\mathrm{round}(x / s) + z, q_{min}), q_{max})

    It rounds half to even, and has no gradient.

    Args:
        x (~chainer.Variable or :ref:`ndarray`): Numbers.
        scale (:ref:`ndarray`): :math:`s` of the dtype of ``x``: one number without axes, or a
            vector with one number for each index of ``axis``.
        zero_point (:ref:`ndarray`): :math:`z` of the shape of ``scale``, of int8 or uint8, which
            is the dtype of the result.
        axis (int): Axis of the scales.

    Returns:
        ~chainer.Variable: Integers of the shape of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: Dtypes or shapes do not fit.

    .. admonition:: Example

        >>> from chainer.quantization import quantize_linear
        >>> x = np.array([-1, 0, 0.25, 100], np.float32)
        >>> quantize_linear(x, np.array(0.5, np.float32), np.array(10, np.uint8)).array
        array([  8,  10,  10, 210], dtype=uint8)

    """
    return QuantizeLinear(axis).apply((x, scale, zero_point))[0]


def dequantize_linear(
    x: VariableLike, scale: NdArray, zero_point: NdArray | None = None, axis: int = 1
) -> Variable:
    """Numbers of integers, as ONNX's ``DequantizeLinear``: :math:`s (q - z)`.

    Args:
        x (~chainer.Variable or :ref:`ndarray`): Integers.
        scale (:ref:`ndarray`): Floats: one number without axes, or a vector with one number for
            each index of ``axis``. Its dtype is that of the result.
        zero_point (:ref:`ndarray`): Zero points of the dtype of ``x``, or ``None`` for zero.
        axis (int): Axis of the scales.

    Returns:
        ~chainer.Variable: Numbers of the shape of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: Dtypes do not fit.

    .. admonition:: Example

        >>> from chainer.quantization import dequantize_linear
        >>> q = np.array([[8, 10], [10, 14]], np.uint8)
        >>> scale, zero = np.array([0.5, 2], np.float32), np.array([10, 10], np.uint8)
        >>> dequantize_linear(q, scale, zero, axis=0).array
        array([[-1.,  0.],
               [ 0.,  8.]], dtype=float32)

    """
    inputs = (x, scale) if zero_point is None else (x, scale, zero_point)
    return DequantizeLinear(axis).apply(inputs)[0]


def fake_quantize(
    x: VariableLike, scale: VariableLike, zero_point: int = 0, dtype: Any = 'int8', axis: int = 0
) -> Variable:
    r"""Numbers rounded to those that integers can hold, for training.

    .. math::

        y = s\,\mathrm{round}(\mathrm{clip}(x / s, q_{min} - z, q_{max} - z))

    The value is that of :func:`quantize_linear` and :func:`dequantize_linear`. The gradient takes
    the rounding for the identity (straight through): it is one for ``x`` within the limits and
    zero outside, and that of the scale is as in S. Esser et al., `Learned Step Size Quantization
    <https://arxiv.org/abs/1902.08153>`_. Both have gradients themselves.

    Args:
        x (~chainer.Variable or :ref:`ndarray`): Numbers.
        scale (~chainer.Variable or :ref:`ndarray`): :math:`s`: one number without axes, or a
            vector with one number for each index of ``axis``, of the dtype of ``x``.
        zero_point (int): :math:`z`.
        dtype: Dtype of the integers: int8, uint8, or ``'int4'``.
        axis (int): Axis of the scales.

    Returns:
        ~chainer.Variable: Numbers of the shape and dtype of ``x``.

    Raises:
        ValueError: There is no such dtype, or ``zero_point`` is not within its limits.

    .. admonition:: Example

        >>> from chainer.quantization import fake_quantize
        >>> x = chainer.Variable(np.array([-100, 0.7, 1.6], np.float32))
        >>> y = fake_quantize(x, np.array(0.5, np.float32))
        >>> y.array
        array([-64. ,   0.5,   1.5], dtype=float32)
        >>> F.sum(y).backward()
        >>> x.grad
        array([0., 1., 1.], dtype=float32)

    """
    low, high = limits_of(dtype)
    if not low <= zero_point <= high:
        raise ValueError(f'zero_point must be from {low} to {high}, but is {zero_point}')
    if scale.ndim:
        tail = (1,) * (x.ndim - 1 - axis % x.ndim)
        scale = functions.reshape(scale, (len(scale), *tail))
    y = functions.clip(as_variable(x) / scale, low - zero_point, high - zero_point)
    return rounded(y) * scale


def rounded(x: VariableLike) -> Variable:
    """Integers next to numbers, half to even, with the gradient of the identity."""
    return Round().apply((x,))[0]
