"""Convolutions."""

from __future__ import annotations

import math

import numpy as np

from chainer import functions as F

from .. import _values as v
from ..registry import operator
from .images import sample_linear


def spread(value, count, default=1):
    """A list attribute for each spatial axis."""
    if not value:
        return (default,) * count
    if len(value) != count:
        raise ValueError(f'an attribute has {len(value)} values for {count} spatial axes')
    return tuple(value)


def pad_spatial(x, pads, value=0.0):
    """Pads the spatial axes by a constant; negative numbers cut."""
    x, pads = v.cut(x, [(0, 0), (0, 0), *pads])
    return F.pad(x, pads, 'constant', constant_values=value) if any(map(any, pads)) else x


class Windows:
    """The windows of a convolution or pooling on an input of a spatial shape.

    Its attributes are lists with an item for each spatial axis: the sizes of the ``kernel``,
    ``strides``, ``dilations``, the ``spans`` of dilated kernels, and ``pads`` before and behind.
    """

    def __init__(self, shape, kernel, strides=None, dilations=None, pads=None, auto_pad='NOTSET'):
        count = len(shape)
        self.shape = shape
        self.kernel = spread(kernel, count)
        self.strides = spread(strides, count)
        self.dilations = spread(dilations, count)
        self.spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations)]
        pads = spread(pads if auto_pad in ('NOTSET', '') else None, 2 * count, 0)
        self.pads = list(zip(pads[:count], pads[count:]))
        if auto_pad.startswith('SAME'):
            axes = zip(shape, self.strides, self.spans)
            totals = [max((-(-n // s) - 1) * s + span - n, 0) for n, s, span in axes]
            self.pads = halves(totals, auto_pad)

    @property
    def symmetric(self):
        """The padding that is the same before and behind, or ``None``."""
        if all(before == behind >= 0 for before, behind in self.pads):
            return tuple(before for before, _ in self.pads)
        return None

    @property
    def outs(self):
        """How many windows there are."""
        return tuple(
            (n + sum(pair) - span) // s + 1
            for n, pair, span, s in zip(self.shape, self.pads, self.spans, self.strides)
        )


def halves(totals, auto_pad):
    """Totals of padding as pairs, of which one is larger by one where the total is odd."""
    pairs = [(n // 2, n - n // 2) for n in totals]
    return pairs if auto_pad == 'SAME_UPPER' else [pair[::-1] for pair in pairs]


def windows_of(x, w, kernel_shape, attributes):
    """The windows of a kernel, whose shape an attribute may say again."""
    if kernel_shape and tuple(kernel_shape) != w.shape[2:]:
        raise ValueError(f'kernel_shape is {kernel_shape}, and the kernel has {w.shape[2:]}')
    return Windows(x.shape[2:], w.shape[2:], **attributes)


def _with_bias(y, b):
    return y if b is None else y + v.along_axis(b, 1, y.ndim)


def convolve(x, w, b, windows, group):
    """A convolution."""
    pad = windows.symmetric
    if pad is None:
        x = pad_spatial(x, windows.pads)
        pad = (0,) * len(windows.pads)
    function = F.convolution_2d if x.ndim == 4 else F.convolution_nd
    strides, dilations = windows.strides, windows.dilations
    return function(x, w, b, stride=strides, pad=pad, dilate=dilations, groups=group)


@operator('Conv')
def conv(x, w, b, *, group, kernel_shape, **attributes):
    return convolve(x, w, b, windows_of(x, w, kernel_shape, attributes), group)


@operator('ConvTranspose')
def conv_transpose(
    x, w, b, *, group, kernel_shape, output_padding, output_shape, auto_pad, **attributes
):
    windows = windows_of(x, w, kernel_shape, attributes | {'auto_pad': auto_pad})
    count = x.ndim - 2
    extra = spread(output_padding, count, 0)
    full = [s * (n - 1) + k for n, s, k in zip(x.shape[2:], windows.strides, windows.spans)]
    if output_shape and len(output_shape) < count:
        raise ValueError(f'output_shape is {output_shape} for {count} spatial axes')
    wanted = output_shape[-count:] if output_shape else None
    if not output_shape and auto_pad.startswith('SAME'):
        wanted = [n * s for n, s in zip(x.shape[2:], windows.strides)]
    if wanted:
        windows.pads = halves([n + e - m for n, e, m in zip(full, extra, wanted)], auto_pad)
    pad = None if any(extra) else windows.symmetric
    if pad is not None:
        return _deconvolve(x, w, b, windows, pad, [n - 2 * p for n, p in zip(full, pad)], group)
    y = _deconvolve(x, w, None, windows, (0,) * count, full, group)
    pads = [(-before, e - behind) for (before, behind), e in zip(windows.pads, extra)]
    return _with_bias(pad_spatial(y, pads), b)


def _deconvolve(x, w, b, windows, pad, size, group):
    function = F.deconvolution_2d if x.ndim == 4 else F.deconvolution_nd
    strides, dilations, size = windows.strides, windows.dilations, tuple(size)
    return function(x, w, b, stride=strides, pad=pad, outsize=size, dilate=dilations, groups=group)


@operator('Col2Im', host=(1, 2))
def col2im(x, image_shape, block_shape, **attributes):
    windows = Windows(v.ints(image_shape), v.ints(block_shape), **attributes)
    full = [n + sum(pair) for n, pair in zip(windows.shape, windows.pads)]
    taps = math.prod(windows.kernel)
    v.checked_size((taps, taps), x.dtype.itemsize)
    # The adjoint of gathering windows: a deconvolution, with ones where a channel meets its tap.
    columns = F.reshape(x, (-1, taps, *windows.outs))
    ones = v.like(x, np.eye(taps, dtype=x.dtype).reshape(taps, 1, *windows.kernel))
    y = _deconvolve(columns, ones, None, windows, (0,) * len(full), full, 1)
    y = pad_spatial(y, [(-before, -behind) for before, behind in windows.pads])
    return F.reshape(y, (x.shape[0], -1, *windows.shape))


@operator('DeformConv')
def deform_conv(x, w, offset, b, mask, *, group, kernel_shape, offset_group, **attributes):
    windows = windows_of(x, w, kernel_shape, attributes)
    steps = offset.shape[2:]
    if windows.outs != steps:
        raise ValueError(f'the offsets have the spatial shape {steps}, not that of the output')
    taps = math.prod(windows.kernel)
    batch, channels = x.shape[:2]
    offset = F.reshape(offset, (batch, offset_group, taps, len(steps), *steps))
    groups = []
    for g in range(offset_group):
        part = x[:, g * channels // offset_group : (g + 1) * channels // offset_group]
        columns = sample_linear(part, _moved(windows, offset[:, g]))
        if mask is not None:
            columns = columns * F.expand_dims(mask[:, g * taps : (g + 1) * taps], 1)
        groups.append(columns)
    # (batch, channels, taps, *steps) times (out, channels of the group, taps)
    matrix = F.concat(groups, axis=1)
    matrix = F.reshape(matrix, (batch, group, channels // group * taps, -1))
    kernels = F.reshape(w, (1, group, w.shape[0] // group, -1))
    return _with_bias(F.reshape(F.matmul(kernels, matrix), (batch, w.shape[0], *steps)), b)


def _moved(windows, offset):
    """The coordinates (batch, taps, *steps) of all elements of windows, which offsets move."""
    coordinates, steps = [], offset.shape[3:]
    taps = np.indices(windows.kernel).reshape(len(steps), -1)
    for axis, (n, (before, _)) in enumerate(zip(steps, windows.pads)):
        first = v.along_axis(np.arange(n) * windows.strides[axis] - before, axis, len(steps))
        tap = v.along_axis(taps[axis] * windows.dilations[axis], 0, len(steps) + 1)
        coordinates.append(offset[:, :, axis] + v.like(offset, (first + tap).astype(offset.dtype)))
    return coordinates


@operator('CausalConvWithState')
def causal_conv_with_state(x, w, b, past, *, activation):
    count = w.shape[2] - 1
    x = pad_spatial(x, [(count, 0)]) if past is None else F.concat((past, x), axis=2)
    y = F.convolution_nd(x, w, b, groups=x.shape[1])
    if activation in ('silu', 'swish'):
        y = y * F.sigmoid(y)
    return y, F.get_item(x, (slice(None), slice(None), slice(x.shape[2] - count, None)))
