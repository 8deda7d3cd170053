"""Windows that slide over arrays, for the references of convolution and pooling."""
import itertools

import numpy as np


def each(value, n):
    return tuple(value) if isinstance(value, tuple) else (value,) * n


def windows(x, ksize, stride, pad, dilate=1, cover_all=False, fill=0):
    """For each position of the kernel: the position, and the elements of x below it."""
    n = x.ndim - 2
    stride, pad, dilate = each(stride, n), each(pad, n), each(dilate, n)
    width, spans = [(0, 0), (0, 0)], []
    for size, k, s, p, d in zip(x.shape[2:], ksize, stride, pad, dilate):
        extra = s - 1 if cover_all else 0
        spans.append((size + 2 * p + extra - d * (k - 1) - 1) // s + 1)
        width.append((p, p + extra))
    x = np.pad(x, width, constant_values=fill)
    for place in itertools.product(*map(range, ksize)):
        yield place, x[(..., *[slice(i * d, i * d + s * (span - 1) + 1, s)
                               for i, d, s, span in zip(place, dilate, stride, spans)])]
