"""Converters of the functions of :mod:`chainer.quantization`."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy

from chainer.quantization import _packing
from onnx_chainer import onnx_helper
from onnx_chainer._known import Unsupported
from onnx_chainer.functions._declare import converts
from onnx_chainer.functions.connection import no_bias


def _attributes(g, axis, block_size=0, scale=1):
    """Where the scales are, if there are several. ``scale`` is the number of the input."""
    if g.dtype(scale) == numpy.float64:
        raise Unsupported('ONNX has no scales of float64; use float32')
    if g.dtype(scale) != numpy.float32:
        g.need(19, f'a scale of {g.dtype(scale)}')
    if not g.ndim(scale):
        return {}
    g.need(13, 'scales along an axis')
    if not block_size:
        return {'axis': int(axis)}
    g.need(21, 'scales of blocks')
    return {'axis': int(axis), 'block_size': int(block_size)}


@converts(10)
def convert_QuantizeLinear(g, f, x, scale, zero_point):
    return g.QuantizeLinear(x, scale, zero_point, **_attributes(g, f.axis))


@converts(10)
def convert_DequantizeLinear(g, f, x, scale, *zero_point):
    """Of int4, two of which are in a byte, from opset 21 on."""
    if f.int4_shape is not None:
        g.need(21, 'int4')
        packed = g.context.parameters[x]
        g.context.parameters[x] = _packing.unpack(packed, f.int4_shape).astype(ml_dtypes.int4)
    elif not zero_point:
        # ONNX Runtime up to 1.23 fails without them where it fuses Gemm.
        zero_point = (numpy.zeros(g.shape(1), g.dtype()),)
    return g.DequantizeLinear(x, scale, *zero_point, **_attributes(g, f.axis, f.block_size))


@converts(10)
def convert_QuantizedLinear(g, f, x, packed, scale, *rest):
    """Dequantizes int4 or int8; numbers of other integers are constants."""
    is_integer = f.dtype in ('int4', 'int8') and not f.has_zero and packed in g.context.parameters
    is_integer = is_integer and (g.ndim(2) == 2 or f.block_size >= int(g.shape()[-1]))
    W = _integers(g, f, packed, scale) if is_integer else f.decode(g.arrays()).astype(g.dtype())
    b = rest[f.has_zero :]
    if g.ndim() == 2:
        return g.Gemm(x, W, *(b or no_bias(g)), transB=1)
    y = g.MatMul(x, g.Transpose(W, perm=[1, 0]))
    return g.Add(y, *b) if b else y


def _integers(g, f, packed, scale):
    """``DequantizeLinear`` of the matrix of integers, which replaces the packed one."""
    parameters = g.context.parameters
    inner = int(g.shape()[-1])
    blocks = -(-inner // f.block_size)
    outputs = math.prod(g.shape(2)) // blocks
    rows = onnx_helper.as_numpy(parameters[packed]).reshape(outputs, -1)
    q = _packing.unpack_rows(rows, f.dtype, inner)
    zero: tuple[Any, ...] = ()
    if f.dtype == 'int4':
        g.need(21, 'int4')
        parameters[packed] = q.astype(ml_dtypes.int4)
    else:
        parameters[packed] = q.astype(numpy.int8)
        # ONNX Runtime up to 1.23 fails without them where it fuses Gemm.
        zero = (numpy.zeros(g.shape(2), numpy.int8),)
    # The scales are those of rows, or of blocks of rows.
    axis, block_size = (0, 0) if g.ndim(2) == 1 else (1, f.block_size)
    attributes = _attributes(g, axis, block_size, scale=2)
    return g.DequantizeLinear(packed, scale, *zero, **attributes)
