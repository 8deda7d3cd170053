"""Casts, and quantized numbers, which are plain arrays on the host, without gradients."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from onnx import numpy_helper

import chainerx
from chainer import backend
from chainerx import _internal

from .. import _values as v
from .._tensors import dtype_of
from ..registry import HOST, operator, operators
from .convolutions import convolve, windows_of


def _cast(x, *, to, saturate, round_mode):
    # Opset 1 names types by strings.
    dtype = dtype_of(to) if isinstance(to, int) else np.dtype(to.lower())
    return _converted(x, dtype, saturate, round_mode)


def _converted(x, dtype, saturate=True, round_mode='up'):
    """The value in another dtype, which may be strings or small floats."""
    if v.is_number(x.dtype) and v.is_number(dtype):
        return v.cast(x, dtype)
    x = v.on_host(x)
    if dtype.kind == 'O':
        return np.array([str(value) for value in x.ravel()], object).reshape(x.shape)
    if x.dtype.kind in 'OSU':
        parse = float if dtype.kind not in 'iub' else lambda text: int(float(text))
        return np.array([parse(text) for text in x.ravel()]).astype(dtype).reshape(x.shape)
    if dtype.name == 'float8_e8m0fnu':
        x = x.astype(np.float32)
        return numpy_helper.to_float8e8m0(x, bool(saturate), round_mode).astype(dtype)
    if dtype.name.startswith(('float8', 'float4')) and saturate:
        return _saturated(x, dtype)
    if _is_short_integer(dtype):
        return _wrapped(x, dtype)
    if x.dtype.kind == 'V' and dtype.kind in 'iub':
        x = x.astype(np.float64)
    return x.astype(dtype)


def _is_short_integer(dtype):
    """Whether several elements of an integer dtype share a byte."""
    return dtype.name in ('int4', 'uint4', 'int2', 'uint2')


def _wrapped(x, dtype):
    """Integers of few bits, of which the lowest bits stay."""
    if x.dtype.kind not in 'iub' and not _is_short_integer(x.dtype):
        x = np.trunc(x.astype(np.float64))
    return x.astype(np.int64).astype(dtype)


def _saturated(x, dtype):
    """Small floats, whose largest values stand for all larger ones; NaN stays."""
    limits = ml_dtypes.finfo(dtype)
    y = np.clip(x.astype(np.float32), limits.min.astype(np.float32), limits.max.astype(np.float32))
    return y.astype(dtype)


operators(
    {
        'Cast': _cast,
        'CastLike': lambda x, target, **attributes: _converted(x, target.dtype, **attributes),
        'BitCast': lambda x, *, to: v.on_host(x).view(dtype_of(to)),
    },
    any_dtype=True,
)


# -- quantized numbers


def _aligned(parameter, x, axis, block_size):
    """A scale or zero point in a shape that is broadcast with ``x``."""
    if parameter.size == 1:
        return parameter.reshape(())
    axis = v.axis_of(axis, x.ndim)
    if block_size:
        blocks = np.repeat(parameter, block_size, axis=axis)
        return blocks[tuple(slice(n) for n in x.shape)]
    return v.along_axis(parameter, axis, x.ndim)


def quantize(x, scale, zero_point, dtype, saturate=1):
    """``x / scale + zero_point`` rounded half to even, within the limits of the dtype."""
    y = x / scale
    if dtype.kind not in 'iu' and not _is_short_integer(dtype):
        return _converted(y.astype(np.float32), dtype, saturate)
    y = np.rint(y.astype(np.float64)) + np.asarray(zero_point).astype(np.float64)
    limits = ml_dtypes.iinfo(dtype)
    return np.clip(y, int(limits.min), int(limits.max)).astype(np.int64).astype(dtype)


@operator('QuantizeLinear', takes=HOST)
def quantize_linear(x, scale, zero_point, *, axis, block_size, output_dtype, precision, saturate):
    if zero_point is None:
        zero_point = np.zeros((), dtype_of(output_dtype) if output_dtype else np.uint8)
    if precision:
        x, scale = x.astype(dtype_of(precision)), scale.astype(dtype_of(precision))
    x = x.astype(scale.dtype) if x.dtype.kind in 'iu' else x
    scale, zero = (_aligned(each, x, axis, block_size) for each in (scale, zero_point))
    return quantize(x, scale, zero, zero.dtype, saturate)


@operator('DequantizeLinear', takes=HOST)
def dequantize_linear(x, scale, zero_point, *, axis, block_size, output_dtype):
    dtype = dtype_of(output_dtype) if output_dtype else scale.dtype
    y = x.astype(np.float32)
    if zero_point is not None:
        y = y - _aligned(zero_point, x, axis, block_size).astype(np.float32)
    return (y * _aligned(scale, x, axis, block_size).astype(np.float32)).astype(dtype)


def _centered(x, zero_point, axis):
    """Integers less their zero point, as float64, which holds their products exactly."""
    x = x.astype(np.float64)
    if zero_point is None:
        return x
    if zero_point.ndim == 1 and zero_point.size > 1:
        zero_point = v.along_axis(zero_point, axis, x.ndim)
    return x - zero_point.astype(np.float64)


def _run_natively(function, arrays, *options):
    """A function of ChainerX with NumPy arrays, whose memory it shares."""
    return backend.from_chx(function(*backend.to_chx(arrays), *options))


@operator('DynamicQuantizeLinear', takes=HOST)
def dynamic_quantize_linear(x):
    if chainerx.is_available():
        return tuple(_run_natively(_internal.quantize_dynamically, (x,)))
    low, high = np.float32(min(x.min(initial=0), 0)), np.float32(max(x.max(initial=0), 0))
    scale = (high - low) / np.float32(255)
    scale = np.float32(1) if scale == 0 else scale
    zero = np.rint(np.clip(-low / scale, 0, 255)).astype(np.uint8)
    return quantize(x, scale, zero, zero.dtype), scale, zero


@operator('MatMulInteger', takes=HOST)
def matmul_integer(a, b, a_zero, b_zero):
    if chainerx.is_available():
        return _run_natively(_internal.integer_matmul, (a, b, a_zero, b_zero))
    return np.matmul(_centered(a, a_zero, -2), _centered(b, b_zero, -1)).astype(np.int32)


@operator('QLinearMatMul', takes=HOST)
def qlinear_matmul(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    y = matmul_integer(a, b, a_zero, b_zero)
    if a_scale.ndim == 1 and a_scale.size > 1:
        a_scale = a_scale[:, None]
    return _rescaled(y, a_scale, b_scale, y_scale, y_zero)


def _rescaled(y, first, second, scale, zero):
    """Sums of products of integers of two scales, as integers of another one."""
    y = y * (first.astype(np.float64) * second.astype(np.float64))
    return quantize(y, scale.astype(np.float64), zero, zero.dtype)


@operator('ConvInteger', takes=HOST)
def conv_integer(x, w, x_zero, w_zero, *, group, kernel_shape, **attributes):
    """Convolution of integers less their zero points, as int32."""
    windows = windows_of(x, w, kernel_shape, attributes)
    if chainerx.is_available():
        before, behind = zip(*windows.pads) if windows.pads else ((), ())
        options = windows.strides, before, behind, windows.dilations, group
        return _run_natively(_internal.integer_conv, (x, w, x_zero, w_zero), *options)
    x, w = _centered(x, x_zero, 0), _centered(w, w_zero, 0)
    return v.array_of(convolve(x, w, None, windows, group)).astype(np.int32)


@operator('QLinearConv', takes=HOST)
def qlinear_conv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias, **attributes):
    y = conv_integer(x, w, x_zero, w_zero, **attributes)
    if bias is not None:
        y = y + v.along_axis(bias, 1, y.ndim)
    return _rescaled(y, x_scale, _aligned(w_scale, y, 1, 0), y_scale, y_zero)
