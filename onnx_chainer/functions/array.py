"""Converters of functions that arrange arrays."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer.functions.array.resize_images import compute_indices_and_weights
from onnx_chainer._axes import Dim
from onnx_chainer._builder import Unsupported
from onnx_chainer.functions import _indexing
from onnx_chainer.functions._convolution import convolution
from onnx_chainer.functions._declare import converts, formulas, one_to_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_chainer.context import Context
    from onnx_chainer.onnx_helper import GraphBuilder


@converts()
def convert_AsStrided(g, f, x):
    """Of arrays in the usual memory layout."""
    geometry = f._geometry
    strides = tuple(math.prod(map(int, g.shape()[i + 1 :])) for i in range(g.ndim()))
    if tuple(geometry.strides) != strides or geometry.storage_offset:
        raise Unsupported('the input must own its memory, in C order')
    offsets = [i * stride for i, stride in zip(numpy.indices(f.shape), f.strides)]
    index = numpy.array(f.storage_offset + sum(offsets), numpy.int64)
    return g.Gather(g.reshape(x, [-1]), index, axis=0)


@converts()
def convert_Diagonal(g, f, x):
    a, b = g.axis(f.axis1), g.axis(f.axis2)
    n, m = (int(g.shape()[i]) for i in (a, b))
    rest = [i for i in range(g.ndim()) if i not in (a, b)]
    index = numpy.arange(n * m, dtype=numpy.int64).reshape(n, m).diagonal(f.offset)
    shape = [g.shape()[i] for i in rest]
    flat = g.reshape(g.Transpose(x, perm=[*rest, a, b]), [*shape, n * m])
    return g.Gather(flat, index, axis=len(rest))


def _stack_along(g, xs, axis, with_axes):
    """Concatenates along an axis, after a function of NumPy added new axes, of length one."""
    shape = with_axes(numpy.empty((2,) * g.ndim())).shape
    axes = [i for i, n in enumerate(shape) if n == 1]
    axis = min(axis, len(shape) - 1) % len(shape)
    return g.Concat(*[g.unsqueeze(x, axes) for x in xs], axis=axis)


def _reverse(g, x, axis):
    if g.opset >= 10:
        return g.slice(x, [-1], [-(2**62)], [axis], [-1])
    return g.Gather(x, numpy.arange(int(g.shape()[axis]))[::-1].astype(numpy.int64), axis=axis)


def get_slice_node(
    gb: GraphBuilder,
    opset_version: int,
    context: Context,
    input_names: Sequence[str],
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int],
) -> Any:
    """Adds a ``Slice`` of the one input to a graph, and returns the name of its output."""
    if opset_version < 10:
        if any(s != 1 for s in steps):
            raise ValueError('a slice with a step needs opset 10 or newer')
        return gb.op('Slice', input_names, axes=axes, starts=starts, ends=ends)
    names = [
        context.add_const(numpy.array(values, numpy.int64), kind)
        for kind, values in zip(('starts', 'ends', 'axes', 'steps'), (starts, ends, axes, steps))
    ]
    return gb.op('Slice', [*input_names, *names])


@converts()
def convert_Im2Col(g, f, x):
    """One-hot weights, a group for each channel."""
    k, c = f.kh * f.kw, int(g.shape()[1])
    weight = numpy.tile(numpy.eye(k, dtype=g.dtype()).reshape(k, 1, f.kh, f.kw), (c, 1, 1, 1))
    stride, pad, dilate = (f.sy, f.sx), (f.ph, f.pw), (f.dy, f.dx)
    return convolution(g, [x, weight], (f.kh, f.kw), stride, pad, dilate, c, f.cover_all)


def _moved(g, x, move, *args):
    """Moves axes as a function of NumPy does it with an array of the shape ``(0, 1, ...)``."""
    labels = numpy.broadcast_to(numpy.zeros(()), tuple(range(g.ndim())))
    return g.Transpose(x, perm=list(move(labels, *args).shape))


@converts()
def convert_Pad(g, f, x):
    keywords, modes = f.keywords, ('constant', 'reflect', 'edge', 'wrap')
    if f.mode not in modes or keywords.get('reflect_type', 'even') != 'even':
        raise Unsupported(f'mode {f.mode!r} with {keywords} has no operator')
    if f.mode == 'wrap':
        g.need(19, "mode 'wrap'")
    widths = numpy.broadcast_to(numpy.asarray(f.pad_width), (g.ndim(), 2))
    pads = [int(p) for p in (*widths[:, 0], *widths[:, 1])]
    if f.mode != 'constant':
        return g.pad(x, pads, f.mode)
    values = numpy.asarray(keywords.get('constant_values', 0))
    if values.size > 1 and (values != values.ravel()[0]).any():
        raise Unsupported('constant_values must be one number')
    return g.pad(x, pads, f.mode, values.ravel()[0].item())


@converts()
def convert_PadSequence(g, f, *xs):
    length = int(g.out_shape()[1])
    rows = []
    for i, x in enumerate(xs):
        rest = [0] * (g.ndim(i) - 1)
        missing = length - int(g.shape(i)[0])
        if missing:
            x = g.pad(x, [0, *rest, missing, *rest], 'constant', f.padding)
        rows.append(g.unsqueeze(x, [0]))
    return g.Concat(*rows, axis=0)


@converts()
def convert_Permutate(g, f, x):
    axis, indices = g.axis(f.axis), f.indices
    if f.inv and g.is_constant(indices):
        indices = numpy.argsort(g.array(indices)).astype(numpy.int64)
    elif f.inv:
        places = g.arange(g.shape()[axis])
        scatter = g.ScatterElements if g.has('ScatterElements') else g.Scatter
        indices = scatter(places, g.cast(g.const(indices), numpy.int64), places, axis=0)
    return g.Gather(x, indices, axis=axis)


@converts()
def convert_Repeat(g, f, x):
    axis = f.axis
    shape = list(g.shape())
    if axis is None:
        x, shape, axis = g.reshape(x, [-1]), [math.prod(shape)], 0
    axis %= len(shape)
    if len(f.repeats) > 1 or not isinstance(shape[axis], Dim):
        index = numpy.repeat(numpy.arange(int(shape[axis])), f.repeats)
        return g.Gather(x, index.astype(numpy.int64), axis=axis)
    (k,) = f.repeats
    y = g.expand(g.unsqueeze(x, [axis + 1]), [*shape[: axis + 1], k, *shape[axis + 1 :]])
    return g.reshape(y, [*shape[:axis], shape[axis] * k, *shape[axis + 1 :]])


@converts()
def convert_ResizeImages(g, f, x):
    """Matrix products before opset 11."""
    sizes = [*g.shape()[:2], f.out_H, f.out_W]
    if g.opset < 11:
        return _resize_by_products(g, f, x)
    places = 'align_corners' if f.align_corners else 'half_pixel'
    options = {'mode': 'linear', 'coordinate_transformation_mode': places}
    if f.mode == 'nearest':
        options = {'mode': 'nearest', 'coordinate_transformation_mode': 'asymmetric'}
        options['nearest_mode'] = 'floor'
    empty = numpy.zeros(0, numpy.float32) if g.opset < 13 else None
    return g.Resize(x, empty, empty, g.ints(sizes), **options)


def _resize_by_products(g, f, x):
    size = f.out_H, f.out_W
    dims = [int(n) for n in g.shape()[2:]]
    v, u, vw, uw = compute_indices_and_weights(size, dims, f.mode, f.align_corners, numpy)
    matrices = []
    for index, weight, n in ((v, vw, dims[0]), (u, uw, dims[1])):
        matrix: Any = numpy.zeros((len(index), n))
        rows = numpy.arange(len(index))
        matrix[rows, index] += 1 - weight
        matrix[rows, numpy.minimum(index + 1, n - 1)] += weight
        matrices.append(matrix.astype(g.dtype()))
    return g.MatMul(g.MatMul(matrices[0], x), matrices[1].T.copy())


@converts()
def convert_Separate(g, f, x):
    axis = g.axis(f.axis)
    return [g.squeeze(y, [axis]) for y in g.split(x, [1] * int(g.shape()[axis]), axis)]


@converts()
def convert_SpatialTransformerGrid(g, f, theta):
    axes = [numpy.linspace(-1, 1, n) for n in f.output_shape]
    points = [a.ravel() for a in numpy.meshgrid(*axes, indexing='ij')[::-1]]
    points.append(numpy.ones_like(points[0]))
    grid = g.MatMul(theta, numpy.stack(points).astype(g.dtype()))
    return g.reshape(grid, g.out_shape(), g.shape())


@converts(16)
def convert_SpatialTransformerSampler(g, f, x, grid):
    if g.ndim() > 4:
        g.need(20, 'a spatial transformer of more than two dimensions')
    mode = 'bilinear' if g.opset < 20 else 'linear'
    order = [0, *range(2, g.ndim()), 1]
    return g.GridSample(
        x, g.Transpose(grid, perm=order), align_corners=1, mode=mode, padding_mode='zeros'
    )


@converts()
def convert_SplitAxis(g, f, x):
    axis = g.axis(f.axis)
    sizes = [g.out_shape(i)[axis] for i in range(g.n_outputs)]
    if g.opset >= 13 or not any(isinstance(n, Dim) for n in sizes):
        return g.split(x, sizes, axis)
    g.need(10, 'a split along a dynamic axis')
    parts, start = [], 0
    for size in sizes:
        parts.append(g.slice(x, [start], [start + size], [axis]))
        start = start + size
    return parts


@converts()
def convert_Squeeze(g, f, x):
    axis = f.axis
    if axis is None:
        axis = [i for i, n in enumerate(g.shape()) if n == 1]
    return g.squeeze(x, sorted(a % g.ndim() for a in axis)) if len(axis) else g.Identity(x)


@converts()
def convert_Tile(g, f, x):
    reps, ndim = list(f.reps), g.ndim()
    x = g.unsqueeze(x, list(range(len(reps) - ndim)))
    return g.Tile(x, g.ints([1] * (ndim - len(reps)) + reps))


@converts()
def convert_TransposeSequence(g, f, *xs):
    parts = [g.split(x, [1] * int(g.shape(i)[0]), 0) for i, x in enumerate(xs)]
    steps = itertools.zip_longest(*parts)
    return [g.Concat(*filter(None, step), axis=0) for step in steps]


formulas(
    Broadcast=lambda g, f, *xs: [g.expand(x, g.out_shape(i)) for i, x in enumerate(xs)],
    Cast=lambda g, f, x: g.cast(x, g.out_dtype()),
    Concat=lambda g, f, *xs: g.Concat(*xs, axis=g.axis(f.axis)),
    Copy=lambda g, f, x: g.Identity(x),
    Depth2Space=lambda g, f, x: g.DepthToSpace(x, blocksize=f.r),
    Dstack=lambda g, f, *xs: _stack_along(g, xs, 2, numpy.atleast_3d),
    ExpandDims=lambda g, f, x: g.unsqueeze(x, [f.axis % (g.ndim() + 1)]),
    Flip=lambda g, f, x: _reverse(g, x, g.axis(f.axis)),
    FlipLR=lambda g, f, x: _reverse(g, x, 1),
    FlipUD=lambda g, f, x: _reverse(g, x, 0),
    GetItem=lambda g, f, x: _indexing.get(g, f.slices, x),
    Hstack=lambda g, f, *xs: _stack_along(g, xs, 1, numpy.atleast_1d),
    Moveaxis=lambda g, f, x: _moved(g, x, numpy.moveaxis, f.source, f.destination),
    Reshape=lambda g, f, x: g.reshape(x, g.out_shape(), g.shape()),
    Rollaxis=lambda g, f, x: _moved(g, x, numpy.rollaxis, f.axis, f.start),
    SelectItem=lambda g, f, x, t: g.at_labels(x, g.cast(t, numpy.int64), g.shape()[1]),
    Space2Depth=lambda g, f, x: g.SpaceToDepth(x, blocksize=f.r),
    Stack=lambda g, f, *xs: _stack_along(g, xs, f.axis, lambda a: numpy.expand_dims(a, f.axis)),
    Swapaxes=lambda g, f, x: _moved(g, x, numpy.swapaxes, f.axis1, f.axis2),
    Transpose=lambda g, f, x: _moved(g, x, numpy.transpose, f.axes),
    Vstack=lambda g, f, *xs: _stack_along(g, xs, 0, numpy.atleast_2d),
    Where=lambda g, f, x, y: g.Where(f.condition, x, y),
)
formulas(13, ScatterAdd=lambda g, f, a, b: _indexing.add(g, f.slices, a, b))
# No function of Chainer gives a shape; programs may wrap one by this name.
one_to_one(Shape='Shape')
