"""Convolutions."""

from __future__ import annotations

import itertools

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


def padding(auto_pad, pads, shape, kernel, strides, dilations):
    """Padding before and behind each spatial axis, for an input of this spatial shape."""
    count = len(shape)
    if auto_pad in ('NOTSET', ''):
        pads = spread(pads, 2 * count, 0)
        return list(zip(pads[:count], pads[count:]))
    if auto_pad == 'VALID':
        return [(0, 0)] * count
    if auto_pad not in ('SAME_UPPER', 'SAME_LOWER'):
        raise ValueError(f'auto_pad is {auto_pad!r}')
    out = []
    for n, k, s, d in zip(shape, kernel, strides, dilations):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        less, more = total // 2, total - total // 2
        out.append((less, more) if auto_pad == 'SAME_UPPER' else (more, less))
    return out


def pad_spatial(x, pads, value=0.0):
    """Pads the spatial axes by a constant; negative numbers cut."""
    if any(before < 0 or behind < 0 for before, behind in pads):
        cut = tuple(
            slice(max(-before, 0), n - max(-behind, 0))
            for n, (before, behind) in zip(x.shape[2:], pads)
        )
        x = F.get_item(x, (slice(None), slice(None), *cut))
        pads = [(max(before, 0), max(behind, 0)) for before, behind in pads]
    if not any(map(any, pads)):
        return x
    return F.pad(x, ((0, 0), (0, 0), *pads), 'constant', constant_values=value)


def check_kernel(kernel_shape, w):
    """Checks the attribute that says the shape of a kernel again."""
    if kernel_shape and tuple(kernel_shape) != w.shape[2:]:
        raise ValueError(f'kernel_shape is {kernel_shape}, and the kernel has {w.shape[2:]}')


def convolve(x, w, b, strides, pads, dilations, group):
    """A convolution; ``pads`` has a pair for each spatial axis."""
    if all(before == behind >= 0 for before, behind in pads):
        pad = tuple(before for before, _ in pads)
    else:
        x = pad_spatial(x, pads)
        pad = (0,) * len(pads)
    function = F.convolution_2d if x.ndim == 4 else F.convolution_nd
    return function(x, w, b, stride=strides, pad=pad, dilate=dilations, groups=group)


@operator('Conv')
def conv(
    node,
    x,
    w,
    b=None,
    /,
    *,
    auto_pad='NOTSET',
    dilations=None,
    group=1,
    kernel_shape=None,
    pads=None,
    strides=None,
):
    count = x.ndim - 2
    check_kernel(kernel_shape, w)
    strides, dilations = spread(strides, count), spread(dilations, count)
    pads = padding(auto_pad, pads, x.shape[2:], w.shape[2:], strides, dilations)
    return convolve(x, w, b, strides, pads, dilations, group)


@operator('ConvTranspose')
def conv_transpose(
    node,
    x,
    w,
    b=None,
    /,
    *,
    auto_pad='NOTSET',
    dilations=None,
    group=1,
    kernel_shape=None,
    output_padding=None,
    output_shape=None,
    pads=None,
    strides=None,
):
    count = x.ndim - 2
    strides, dilations = spread(strides, count), spread(dilations, count)
    extra = spread(output_padding, count, 0)
    check_kernel(kernel_shape, w)
    if output_shape and len(output_shape) < count:
        raise ValueError(f'output_shape is {output_shape} for {count} spatial axes')
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    if output_shape:
        shape = tuple(output_shape)[-count:]
    elif auto_pad.startswith('SAME'):
        shape = tuple(n * s for n, s in zip(x.shape[2:], strides))
    else:
        shape = None
    full = [s * (n - 1) + span for n, s, span in zip(x.shape[2:], strides, spans)]
    if shape is None:
        cuts = padding(auto_pad, pads, x.shape[2:], w.shape[2:], strides, dilations)
    else:
        cuts = []
        for n, e, wanted in zip(full, extra, shape):
            total = n + e - wanted
            less, more = total // 2, total - total // 2
            cuts.append((less, more) if auto_pad == 'SAME_UPPER' else (more, less))
    if not any(extra) and all(before == behind >= 0 for before, behind in cuts):
        pad = tuple(before for before, _ in cuts)
        size = tuple(n - 2 * p for n, p in zip(full, pad))
        return _deconvolve(x, w, b, strides, pad, size, dilations, group)
    y = _deconvolve(x, w, None, strides, (0,) * count, tuple(full), dilations, group)
    y = pad_spatial(y, [(-before, e - behind) for (before, behind), e in zip(cuts, extra)])
    return y if b is None else y + F.reshape(b, (-1, *(1,) * count))


def _deconvolve(x, w, b, strides, pad, size, dilations, group):
    function = F.deconvolution_2d if x.ndim == 4 else F.deconvolution_nd
    return function(x, w, b, stride=strides, pad=pad, outsize=size, dilate=dilations, groups=group)


@operator('Col2Im', host=(1, 2))
def col2im(node, x, image_shape, block_shape, /, *, dilations=None, pads=None, strides=None):
    image, block = v.ints(image_shape), v.ints(block_shape)
    count = len(image)
    strides, dilations = spread(strides, count), spread(dilations, count)
    pads = padding('NOTSET', pads, image, block, strides, dilations)
    full = [n + sum(pair) for n, pair in zip(image, pads)]
    steps = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(full, block, strides, dilations)]
    batch = x.shape[0]
    blocks = F.reshape(x, (batch, -1, int(np.prod(block)), *steps))
    y = None
    for i, offset in enumerate(itertools.product(*map(range, block))):
        # Puts zeros between the columns of one element of the block, and moves them to its place.
        part = blocks[:, :, i]
        for axis, (o, d, s, n, step) in enumerate(zip(offset, dilations, strides, full, steps), 2):
            part = _dilate(part, axis, s, step)
            before = o * d
            part = F.pad(
                part,
                [
                    (before, n - before - part.shape[axis]) if j == axis else (0, 0)
                    for j in range(part.ndim)
                ],
                'constant',
                constant_values=0,
            )
        y = part if y is None else y + part
    cut = tuple(slice(before, before + n) for n, (before, _) in zip(image, pads))
    return y[(slice(None), slice(None), *cut)]


def _dilate(x, axis, stride, steps):
    """Puts ``stride - 1`` zeros between elements along an axis."""
    if stride == 1:
        return x
    wide = F.expand_dims(x, axis + 1)
    pad = [(0, 0)] * wide.ndim
    pad[axis + 1] = (0, stride - 1)
    wide = F.pad(wide, pad, 'constant', constant_values=0)
    wide = F.reshape(wide, (*x.shape[:axis], stride * steps, *x.shape[axis + 1 :]))
    return wide[(slice(None),) * axis + (slice(0, stride * (steps - 1) + 1),)]


@operator('DeformConv')
def deform_conv(
    node,
    x,
    w,
    offset,
    b=None,
    mask=None,
    /,
    *,
    dilations=None,
    group=1,
    kernel_shape=None,
    offset_group=1,
    pads=None,
    strides=None,
):
    count = x.ndim - 2
    kernel = w.shape[2:]
    strides, dilations = spread(strides, count), spread(dilations, count)
    check_kernel(kernel_shape, w)
    pads = padding('NOTSET', pads, x.shape[2:], kernel, strides, dilations)
    steps = offset.shape[2:]
    for n, k, s, d, (before, behind), step in zip(
        x.shape[2:], kernel, strides, dilations, pads, steps
    ):
        if (n + before + behind - (k - 1) * d - 1) // s + 1 != step:
            raise ValueError(f'the offsets have the spatial shape {steps}, not that of the output')
    taps = int(np.prod(kernel))
    batch, channels = x.shape[:2]
    offset = F.reshape(offset, (batch, offset_group, taps, count, *steps))
    places = [np.arange(n) * s - before for n, s, (before, _) in zip(steps, strides, pads)]
    groups = []
    for g in range(offset_group):
        part = x[:, g * channels // offset_group : (g + 1) * channels // offset_group]
        columns = []
        for tap, index in enumerate(np.ndindex(*kernel)):
            coordinates = []
            for axis in range(count):
                place = places[axis] + index[axis] * dilations[axis]
                place = place.reshape((-1,) + (1,) * (count - 1 - axis)).astype(x.dtype)
                moved = offset[:, g, tap, axis]
                coordinates.append(moved + v.like(x, np.broadcast_to(place, steps).copy()))
            column = sample_linear(part, coordinates)
            if mask is not None:
                column = column * F.expand_dims(mask[:, g * taps + tap], 1)
            columns.append(column)
        groups.append(F.stack(columns, axis=2))
    # (batch, channels, taps, *steps) times (out, channels of the group, taps)
    columns = F.concat(groups, axis=1)
    columns = F.reshape(columns, (batch, group, channels // group * taps, -1))
    kernels = F.reshape(w, (1, group, w.shape[0] // group, -1))
    kernels = F.broadcast_to(kernels, (batch, *kernels.shape[1:]))
    y = F.reshape(F.matmul(kernels, columns), (batch, w.shape[0], *steps))
    return y if b is None else y + F.reshape(b, (-1, *(1,) * count))
