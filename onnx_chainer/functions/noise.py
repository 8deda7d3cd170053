"""Converters of random functions."""

from __future__ import annotations

from onnx_chainer._builder import Unsupported
from onnx_chainer.functions._declare import converts


@converts()
def convert_Dropout(g, f, x):
    """In training mode: without effect before opset 12. None in test mode."""
    if g.opset < 12:
        return g.Dropout(x, ratio=float(f.dropout_ratio))
    ratio = g.const(f.dropout_ratio, 'f')
    return g.Dropout(x, ratio, g.const(True, bool))


@converts()
def convert_SimplifiedDropconnect(g, f, x, W, b=None):
    """If nothing is dropped."""
    if f.ratio:
        raise Unsupported('weights that are dropped at random')
    n = int(g.shape(1)[1])
    y = g.MatMul(g.reshape(x, [-1, n]), g.Transpose(W, perm=[1, 0]))
    return y if b is None else g.Add(y, b)


@converts()
def convert_Zoneout(g, f, h, x):
    """With the states that were drawn at the export. None in test mode."""
    return g.Where(f.flag_x, x, h)
