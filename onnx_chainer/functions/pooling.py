"""Converters of pooling."""

from __future__ import annotations

import numpy

from onnx_chainer._axes import Dim
from onnx_chainer._builder import Unsupported
from onnx_chainer.functions._convolution import padding_behind, transposed_convolution
from onnx_chainer.functions._declare import converts, formulas


def _is_whole(g, f):
    """Whether one window covers all."""
    return tuple(f.ksize) == tuple(g.shape()[2:]) and not any(f.pad)


def _windows(f):
    return {'kernel_shape': [int(k) for k in f.ksize], 'strides': [int(s) for s in f.stride]}


def _average(g, f, x):
    if _is_whole(g, f):
        return g.GlobalAveragePool(x)
    counts = int(f.pad_value is not None)
    return g.AveragePool(x, pads=[*f.pad, *f.pad], count_include_pad=counts, **_windows(f))


def _max(g, f, x):
    if _is_whole(g, f):
        return g.GlobalMaxPool(x)
    dims, windows = g.shape()[2:], _windows(f)
    if any(isinstance(n, Dim) for n in dims):
        if f.cover_all:
            g.need(10, 'max pooling that covers all of a dynamic axis')
        return g.MaxPool(x, pads=[*f.pad, *f.pad], ceil_mode=int(f.cover_all) or None, **windows)
    after = padding_behind(dims, f.ksize, f.stride, f.pad, [1] * len(dims), f.cover_all)
    # ONNX has no windows that are padding only.
    empty = [int(p >= k) for p, k in zip(after, f.ksize)]
    after = [max(p - s * e, 0) for p, s, e in zip(after, f.stride, empty)]
    y = g.MaxPool(x, pads=[*f.pad, *after], **windows)
    if any(empty):
        y = g.pad(y, [0] * (2 + len(empty)) + [0, 0, *empty], 'constant', -numpy.inf)
    return y


@converts(10)
def convert_ROIAverageAlign2D(g, f, x, rois, indices):
    ratio = f.sampling_ratio
    if ratio[0] != ratio[1]:
        raise Unsupported('sampling_ratio differs for height and width')
    # Chainer has y before x.
    order = numpy.array([1, 0, 3, 2])
    options = {} if g.opset < 16 else {'coordinate_transformation_mode': 'output_half_pixel'}
    return g.RoiAlign(
        x,
        g.Gather(rois, order, axis=1),
        g.cast(indices, numpy.int64),
        mode='avg',
        output_height=f.outh,
        output_width=f.outw,
        sampling_ratio=ratio[0] or 0,
        spatial_scale=float(f.spatial_scale),
        **options,
    )


def _spread(g, f, x):
    """Repeats elements; a transposed convolution adds them where windows overlap."""
    dims, outs = g.shape()[2:], g.out_shape()[2:]
    if any(f.pad) or tuple(f.ksize) != tuple(f.stride):
        # Overlapping windows add: a transposed convolution with ones, a group for each channel.
        c = int(g.shape()[1])
        ones = numpy.ones((c, 1, *f.ksize), g.dtype())
        return transposed_convolution(g, [x, ones], f.ksize, f.stride, f.pad, None, c)
    shape = list(g.shape())
    for axis, (n, k) in enumerate(zip(dims, f.ksize), 2):
        x = g.unsqueeze(x, [axis + 1])
        x = g.expand(x, [*shape[: axis + 1], k, *shape[axis + 1 :]])
        shape[axis] = n * k
        x = g.reshape(x, shape)
    axes = [2 + i for i, (n, out) in enumerate(zip(shape[2:], outs)) if n != out]
    return g.slice(x, [0] * len(axes), [outs[a - 2] for a in axes], axes) if axes else x


@converts(11)
def convert_Upsampling2D(g, f, x):
    """To given positions, where windows do not overlap."""
    if any(s < k for s, k in zip(f.stride, f.ksize)):
        raise Unsupported('windows that overlap')
    indexes = g.array(f.indexes)
    out_h, out_w = (int(n) for n in g.out_shape()[2:])
    n, c, h, w = indexes.shape
    row = indexes // f.ksize[1] + (numpy.arange(h) * f.stride[0] - f.pad[0])[:, None]
    column = indexes % f.ksize[1] + numpy.arange(w) * f.stride[1] - f.pad[1]
    places = (row * out_w + column).reshape(n, c, h * w).astype(numpy.int64)
    zeros = numpy.zeros((n, c, out_h * out_w), g.dtype())
    y = g.ScatterElements(zeros, places, g.reshape(x, [n, c, h * w]), axis=2)
    return g.reshape(y, [n, c, out_h, out_w])


formulas(
    AveragePooling2D=_average,
    AveragePoolingND=_average,
    MaxPooling2D=_max,  # of programs: functions of Chainer are MaxPoolingND
    MaxPoolingND=_max,
    ROIPooling2D=lambda g, f, x, rois: g.MaxRoiPool(
        x, rois, pooled_shape=[f.outh, f.outw], spatial_scale=float(f.spatial_scale)
    ),
    Unpooling2D=_spread,
    UnpoolingND=_spread,
)
