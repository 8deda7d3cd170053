"""Fourier transforms."""

from __future__ import annotations

import numpy as np

from chainer import functions as F

from .. import _values as v
from .._tensors import dtype_of
from ..registry import HOST, operator


def _complex(x):
    """The real and the imaginary part, which the last axis has; the latter may be left out."""
    real = x[..., 0]
    return real, x[..., 1] if x.shape[-1] == 2 else v.array_of(real) * 0


def _transform(real, imaginary, inverse, onesided):
    """Transforms the last axis; a one-sided inverse takes half of a spectrum of real numbers."""
    length = real.shape[-1]
    y = (F.ifft if inverse else F.fft)((real, imaginary))
    if onesided and not inverse:
        y = tuple(each[..., : length // 2 + 1] for each in y)
    return y


@operator('DFT', scalars=(1, 2))
def dft(node, x, length, axis, *, inverse, onesided):
    if axis is None:
        axis = 1 if node.opset < 20 else -2
    # The last axis has the real and the imaginary part.
    axis = v.axis_of(axis, x.ndim)
    if axis == x.ndim - 1:
        raise ValueError(f'axis {axis} has the real and the imaginary part')
    if length is not None and length < 1:
        raise ValueError(f'the length is {length}')
    real, imaginary = (F.moveaxis(each, axis, -1) for each in _complex(x))
    if inverse and onesided:
        length = 2 * (real.shape[-1] - 1) if length is None else length
        real, imaginary = _whole(real, imaginary, length)
    elif length is not None:
        real, imaginary = (_resized(each, length) for each in (real, imaginary))
    real, imaginary = _transform(real, imaginary, inverse, onesided)
    if inverse and onesided:
        return F.expand_dims(F.moveaxis(real, -1, axis), -1)
    return F.stack([F.moveaxis(each, -1, axis) for each in (real, imaginary)], axis=-1)


def _whole(real, imaginary, length):
    """A spectrum of which there is the first half: the other is the conjugate of it."""
    half, rest = slice(length // 2 + 1), slice(length - length // 2 - 1, 0, -1)
    return tuple(
        F.concat((each[..., half], sign * F.identity(each)[..., rest]), axis=-1)
        for each, sign in ((real, 1), (imaginary, -1))
    )


def _resized(x, length):
    """Cuts the last axis, or adds zeros to it."""
    count = x.shape[-1]
    if length <= count:
        return x[..., :length]
    v.checked_size((*x.shape[:-1], length), 8)
    widths = [(0, 0)] * (x.ndim - 1) + [(0, length - count)]
    return F.pad(x, widths, 'constant', constant_values=0)


@operator('STFT', scalars=(1, 3))
def stft(signal, step, window, length, *, onesided):
    length = window.shape[0] if length is None else length
    if step < 1 or not 1 <= length <= signal.shape[1]:
        raise ValueError(f'frames of {length} in steps of {step} do not fit in {signal.shape[1]}')
    count = (signal.shape[1] - length) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(length)
    real, imaginary = _complex(F.get_item(signal, (slice(None), v.like(signal, places))))
    if window is not None:
        real, imaginary = real * window, imaginary * window
    return F.stack(_transform(real, imaginary, False, onesided), axis=-1)


@operator('MelWeightMatrix', takes=HOST, scalars=(0, 1, 2, 3, 4))
def mel_weight_matrix(bins, length, rate, lower, upper, *, output_datatype):
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (lower, upper))
    rows = length // 2 + 1
    v.checked_size((rows, bins + 2), 8)
    mels = np.arange(bins + 2) * ((high - low) / (bins + 2)) + low
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = ((length + 1) * hertz // rate).astype(np.int64)
    places = np.arange(rows)
    y = np.zeros((rows, bins))
    for i, (left, middle, right) in enumerate(zip(edges, edges[1:], edges[2:])):
        rising = (places >= left) & (places <= middle)
        y[rising, i] = (places[rising] - left) / (middle - left) if middle > left else 1
        falling = (places >= middle) & (places < right)
        if right > middle:
            y[falling, i] = (right - places[falling]) / (right - middle)
    return y.astype(dtype_of(output_datatype))
