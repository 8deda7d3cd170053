"""Operators on bytes that ONNX Runtime adds to those of ONNX.

What their numbers mean is computed in float32, and rounded to bytes again. Scales and zero points
have one element, but for products with weights of few bits, which have a scale for each block.
"""

from __future__ import annotations

import numpy as np

import chainer.functions as F
from chainer._core.settings.half import FLOAT_KINDS
from chainer.quantization import quantized_linear

from .. import _values as v
from ..registry import HOST, operator, operators
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
        'QLinearAveragePool': _unary(
            lambda x, channels_last, **attributes: average_pool(x, **attributes)
        ),
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


# -- products with weights of few bits


def _expect(name, array, *shapes):
    """Raises an error if an array has none of the shapes."""
    if array.shape not in shapes:
        raise ValueError(f'{name} has the shape {array.shape}, not {shapes[0]}')


def _float_zeros(zeros, bits, shape):
    """Zero points as numbers, or ``None`` for the middle of the range."""
    columns, blocks = shape
    if zeros is None:
        return None
    if zeros.dtype != np.uint8:
        if zeros.dtype.kind not in FLOAT_KINDS:
            raise ValueError(f'zero_points has the dtype {zeros.dtype}, not uint8 or one of floats')
        _expect('zero_points', zeros, shape, (columns * blocks,))
        return zeros.reshape(shape)
    width = -(-blocks * bits // 8)
    _expect('zero_points', zeros, (columns, width), (columns * width,))
    integers = zeros.reshape(columns, width, 1) >> np.arange(0, 8, bits, dtype=np.uint8)
    return (integers & (2**bits - 1)).reshape(columns, -1)[:, :blocks]


def _check_weights(b, scales, columns, blocks, row_bytes):
    _expect('B', b, (columns, blocks, row_bytes))
    if b.dtype != np.uint8:
        raise ValueError(f'B has the dtype {b.dtype}, not uint8')
    _expect('scales', scales, (columns, blocks), (columns * blocks,))
    if scales.dtype.kind not in FLOAT_KINDS:
        raise ValueError(f'scales has the dtype {scales.dtype}, not one of floats')


@operator('MatMulNBits', host=(3, 4), domain='com.microsoft')
def matmul_n_bits(
    a, b, scales, zeros, order, bias, *, K, N, bits, block_size, weight_prepacked, accuracy_level
):
    if bits not in (2, 4, 8):
        raise ValueError(f'bits is {bits}, not 2, 4 or 8')
    if block_size < 16 or block_size & (block_size - 1):
        raise ValueError(f'block_size is {block_size}, not a power of two from 16 on')
    if weight_prepacked or order is not None:
        raise ValueError('weights in the layout of a device or another order are not supported')
    if not v.is_float(a) or a.ndim == 0 or a.shape[-1] != K:
        raise ValueError(f'A has the dtype {a.dtype} and the shape {a.shape}, and K is {K}')
    blocks = -(-K // block_size)
    _check_weights(b, scales, N, blocks, block_size * bits // 8)
    zero = _float_zeros(zeros, bits, (N, blocks))
    return quantized_linear(
        a,
        v.array_of(b),
        v.array_of(scales),
        None if zero is None else v.like(a, zero),
        None if bias is None else v.cast(bias, a.dtype),
        dtype=f'uint{bits}',
        block_size=block_size,
    )
