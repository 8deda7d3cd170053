"""Convolution, position by position of the window."""
import itertools

import numpy as np

from chainerx import DimensionError
from op_table.bench import Bench, backward
from op_table.inputs import In
from op_table.row import Row, zeros
from op_table.windows import each, windows


def _bias(y, b):
    return y if b is None else y + b.reshape(-1, *[1] * (y.ndim - 2))


def _split(x, axis, groups):
    return x.reshape(*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1:])


def _conv(x, w, b=None, stride=1, pad=0, cover_all=False, groups=1, dilate=1):
    w = _split(w, 0, groups)
    y = sum(np.einsum('ngc...,goc->ngo...', _split(part, 1, groups), w[(..., *place)])
            for place, part in windows(x, w.shape[3:], stride, pad, dilate, cover_all))
    return _bias(y.reshape(len(x), w.shape[0] * w.shape[1], *y.shape[3:]), b)


def _conv_transpose(x, w, b=None, stride=1, pad=0, outsize=None, groups=1, dilate=1):
    n, ksize = x.ndim - 2, w.shape[2:]
    stride, pad, dilate = each(stride, n), each(pad, n), each(dilate, n)
    reach = [s * (size - 1) + d * (k - 1) + 1
             for size, k, s, d in zip(x.shape[2:], ksize, stride, dilate)]
    if outsize is None:
        outsize = [r - 2 * p for r, p in zip(reach, pad)]
    full = [max(r, o + 2 * p) for r, o, p in zip(reach, outsize, pad)]
    y = np.zeros((len(x), groups, w.shape[1], *full), x.dtype)
    x, w = _split(x, 1, groups), _split(w, 0, groups)
    for place in itertools.product(*map(range, ksize)):
        below = tuple(slice(i * d, i * d + s * (size - 1) + 1, s)
                      for i, d, s, size in zip(place, dilate, stride, x.shape[3:]))
        y[(..., *below)] += np.einsum('ngc...,gco->ngo...', x, w[(..., *place)])
    y = y.reshape(len(x), w.shape[0] * w.shape[2], *full)
    return _bias(y[(..., *[slice(p, p + o) for p, o in zip(pad, outsize)])], b)


def timed(batch, channels, size, out_channels, kernel, stride, wanted='xw'):
    """The forward pass, and the backward pass by each of ``wanted``."""
    pad = kernel // 2
    out = (size + 2 * pad - kernel) // stride + 1
    label = f'conv {kernel}x{kernel}/{stride} {channels}-{out_channels}, {size}x{size}, batch {batch}'
    sources = f'F.conv2d(x, w, None, {stride}, {pad})', f'xp.conv(x, w, None, {stride}, {pad})'
    arrays = {'x': (batch, channels, size, size), 'w': (out_channels, channels, kernel, kernel)}
    gy = batch, out_channels, out, out
    return [Bench(None, *sources, label=f'{label} forward', **arrays), *[backward(*sources, by, label, gy=gy, **arrays) for by in wanted]]


_TIMED = [
    # ResNet-18 on 64x64 images, whose first layers do not shrink them
    *timed(8, 64, 64, 64, 3, 1), *timed(8, 64, 64, 128, 3, 2), *timed(8, 64, 64, 128, 1, 2), *timed(8, 128, 32, 128, 3, 1),
    *timed(8, 128, 32, 256, 3, 2), *timed(8, 256, 16, 256, 3, 1), *timed(8, 256, 16, 512, 3, 2), *timed(8, 512, 8, 512, 3, 1),
    *timed(8, 256, 16, 512, 1, 2),
    # ResNet-18 on 224x224 images
    *timed(1, 64, 56, 64, 3, 1), *timed(1, 512, 7, 512, 3, 1),
    # First layers
    *timed(4, 3, 224, 64, 7, 2, 'w'), *timed(32, 3, 32, 32, 3, 1, 'w'),
]

ROWS = [
    Row('conv', _conv,
        [[In(2, 3, 5, 6), In(4, 3, 3, 3), In(4), {'pad': 1}],
         [In(2, 3, 6, 5), In(2, 3, 3, 2), {'stride': (2, 1), 'pad': (1, 2)}],
         [In(1, 2, 6), In(3, 2, 3), {'stride': 2, 'cover_all': True}],
         [In(2, 4, 5, 5), In(6, 2, 3, 3), {'pad': 2, 'groups': 2, 'dilate': 2}],
         [In(1, 2, 3, 4, 3), In(2, 2, 2, 2, 2)], [In(2, 3, 4, 4), In(2, 3, 1, 1)], [In(0, 2, 3), In(4, 2, 2)]],
        tolerance=40, bench=_TIMED,
        wrong=[(DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 3, 1))),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1, 1))),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), zeros(3))),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 4))),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), stride=0)),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), pad=-1)),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(3, 1, 1), groups=2)),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), dilate=0)),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(4, 2, 1), pad=(1, 1)))]),
    Row('conv_transpose', _conv_transpose,
        [[In(2, 3, 4, 3), In(3, 2, 3, 3), In(2), {'stride': 2, 'pad': 1}],
         [In(1, 2, 2, 3), In(2, 2, 3, 3), {'stride': 2, 'outsize': (6, 7)}],
         [In(1, 4, 3), In(4, 3, 2), {'groups': 2, 'dilate': 2}],
         [In(1, 2, 2, 2, 2), In(2, 3, 2, 1, 2)], [In(0, 2, 3), In(2, 3, 2)]],
        tolerance=40,
        wrong=[(DimensionError, lambda f: f(zeros(1, 2, 3), zeros(3, 2, 3))),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(2, 2, 3), outsize=(9,))),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(2, 2, 3), zeros(3))),
               (DimensionError, lambda f: f(zeros(1, 2, 3), zeros(2, 2, 3), groups=0))]),
]
