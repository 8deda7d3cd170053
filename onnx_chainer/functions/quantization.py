"""Converters of the functions of :mod:`chainer.quantization`."""

from __future__ import annotations

import ml_dtypes
import numpy

from chainer.quantization import _int4
from onnx_chainer._known import Unsupported
from onnx_chainer.functions._declare import converts


def _attributes(g, f):
    """Where the scales are, if there are several."""
    if g.dtype(1) == numpy.float64:
        raise Unsupported('ONNX has no scales of float64; use float32')
    if g.dtype(1) != numpy.float32:
        g.need(19, f'a scale of {g.dtype(1)}')
    if not g.ndim(1):
        return {}
    g.need(13, 'scales along an axis')
    axis = {'axis': int(f.axis)}
    if not getattr(f, 'block_size', 0):
        return axis
    g.need(21, 'scales of blocks')
    return {**axis, 'block_size': int(f.block_size)}


@converts('QuantizeLinear', since=10)
def convert_QuantizeLinear(g, f, x, scale, zero_point):
    """``QuantizeLinear``."""
    return g.QuantizeLinear(x, scale, zero_point, **_attributes(g, f))


@converts('DequantizeLinear', since=10)
def convert_DequantizeLinear(g, f, x, scale, *zero_point):
    """``DequantizeLinear``; of int4, two of which are in a byte, from opset 21 on."""
    if f.int4_shape is not None:
        g.need(21, 'int4')
        packed = g.context.parameters[x]
        g.context.parameters[x] = _int4.unpack(packed, f.int4_shape).astype(ml_dtypes.int4)
    elif not zero_point:
        # ONNX Runtime up to 1.23 fails without them where it fuses Gemm.
        zero_point = (g.const(numpy.zeros(g.shape(1), g.dtype())),)
    return g.DequantizeLinear(x, scale, *zero_point, **_attributes(g, f))
