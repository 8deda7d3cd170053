"""Operators on bytes that ONNX Runtime adds to those of ONNX.

What their numbers mean is computed in float32, and rounded to bytes again. Scales and zero points
have one element.
"""

from __future__ import annotations

import numpy as np

import chainer.functions as F

from .. import _values as v
from ..registry import HOST, operators
from .activations import along
from .pooling import average_pool
from .quantization import matmul_integer, quantize


def _single(parameter):
    if parameter.size != 1:
        raise ValueError(f'a scale or zero point has the shape {parameter.shape}')
    return parameter.reshape(())


def _numbers(x, scale, zero):
    y = x.astype(np.float32)
    if zero is not None:
        if zero.dtype != x.dtype:
            raise ValueError(f'a zero point has the dtype {zero.dtype}, not {x.dtype}')
        y = y - _single(zero).astype(np.float32)
    return y * _single(scale)


def _rounded(y, scale, zero, like):
    zero = np.zeros((), like.dtype) if zero is None else _single(zero)
    return quantize(v.array_of(y), _single(scale), zero, zero.dtype)


def _unary(function):
    """An operator of one quantized input, whose attributes the function takes."""

    def call(x, x_scale, x_zero, scale, zero, **attributes):
        return _rounded(function(_numbers(x, x_scale, x_zero), **attributes), scale, zero, x)

    return call


def _binary(function):
    def call(a, a_scale, a_zero, b, b_scale, b_zero, scale, zero):
        y = function(_numbers(a, a_scale, a_zero), _numbers(b, b_scale, b_zero))
        return _rounded(y, scale, zero, a)

    return call


def _global_average_pool(x, channels_last):
    first = 1 if channels_last else 2
    return x.mean(tuple(range(first, first + x.ndim - 2)), keepdims=True)


def _average_pool(x, auto_pad, channels_last, **attributes):
    if channels_last or auto_pad not in ('NOTSET', 'VALID'):
        raise ValueError(f'channels_last and auto_pad {auto_pad!r} are not supported')
    return average_pool(None, x, auto_pad=auto_pad, dilations=None, **attributes)


def _concat(scale, zero, *inputs, axis):
    if len(inputs) % 3:
        raise ValueError(f'it has {len(inputs) + 2} inputs')
    parts = [_numbers(*inputs[i : i + 3]) for i in range(0, len(inputs), 3)]
    return _rounded(np.concatenate(parts, v.axis_of(axis, parts[0].ndim)), scale, zero, zero)


def _where(condition, x, x_scale, x_zero, y, y_scale, y_zero, scale, zero):
    numbers = np.where(condition, _numbers(x, x_scale, x_zero), _numbers(y, y_scale, y_zero))
    return _rounded(numbers, scale, zero, x)


def _gemm(a, a_scale, a_zero, b, b_scale, b_zero, c, scale, zero, *, alpha, transA, transB):
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError(f'the shapes are {a.shape} and {b.shape}')
    y = matmul_integer(a.T if transA else a, b.T if transB else b, a_zero, b_zero)
    if c is not None:
        y = y + np.broadcast_to(c, y.shape)
    unit = _single(a_scale) * b_scale * np.float32(alpha)
    if scale is None:
        return y.astype(np.float32) * unit
    return _rounded(y.astype(np.float32) * (unit / _single(scale)), np.float32(1)[None], zero, a)


operators(
    {
        'QLinearAdd': _binary(np.add),
        'QLinearMul': _binary(np.multiply),
        'QLinearSigmoid': _unary(F.sigmoid),
        'QLinearLeakyRelu': _unary(lambda x, alpha: F.leaky_relu(x, alpha)),
        'QLinearGlobalAveragePool': _unary(_global_average_pool),
        'QLinearAveragePool': _unary(_average_pool),
        'QLinearSoftmax': _unary(
            lambda x, axis, opset: along(F.softmax, x, v.axis_of(axis, x.ndim), opset)
        ),
        'QLinearConcat': _concat,
        'QLinearWhere': _where,
        'QGemm': _gemm,
    },
    takes=HOST,
    domain='com.microsoft',
)
