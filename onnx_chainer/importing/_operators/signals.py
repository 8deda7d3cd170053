"""Fourier transforms."""

from __future__ import annotations

import numpy as np

from chainer import functions as F

from .. import _values as v
from .._tensors import dtype_of
from ..registry import HOST, operator


def _transform(real, imaginary, inverse, onesided):
    """Transforms the last axis; a one-sided inverse takes half of a spectrum of real numbers."""
    length = real.shape[-1]
    y = (F.ifft if inverse else F.fft)((real, imaginary))
    if onesided and not inverse:
        y = tuple(each[..., : length // 2 + 1] for each in y)
    return y


@operator('DFT', host=(1, 2))
def dft(node, x, length, axis, *, inverse, onesided):
    if axis is None:
        axis = 1 if node.opset < 20 else -2
    # The last axis has the real and the imaginary part.
    axis = v.axis_of(v.scalar(np.asarray(axis)), x.ndim)
    if axis == x.ndim - 1:
        raise ValueError(f'axis {axis} has the real and the imaginary part')
    if length is not None and v.scalar(length) < 1:
        raise ValueError(f'the length is {v.scalar(length)}')
    real = F.moveaxis(x[..., 0], axis, -1)
    imaginary = F.moveaxis(x[..., 1], axis, -1) if x.shape[-1] == 2 else v.array_of(real) * 0
    if inverse and onesided:
        # The missing half is the conjugate of the first.
        count = real.shape[-1]
        length = 2 * (count - 1) if length is None else v.scalar(length)
        rest = slice(length - length // 2 - 1, 0, -1)
        real = F.concat((real[..., : length // 2 + 1], real[..., rest]), axis=-1)
        imaginary = F.concat(
            (imaginary[..., : length // 2 + 1], -F.identity(imaginary)[..., rest]), axis=-1
        )
    elif length is not None:
        real, imaginary = (_resized(each, v.scalar(length)) for each in (real, imaginary))
    real, imaginary = _transform(real, imaginary, inverse, onesided)
    if inverse and onesided:
        return F.expand_dims(F.moveaxis(real, -1, axis), -1)
    return F.stack([F.moveaxis(each, -1, axis) for each in (real, imaginary)], axis=-1)


def _resized(x, length):
    """Cuts the last axis, or adds zeros to it."""
    count = x.shape[-1]
    if length <= count:
        return x[..., :length]
    v.checked_size((*x.shape[:-1], length), 8)
    widths = [(0, 0)] * (x.ndim - 1) + [(0, length - count)]
    return F.pad(x, widths, 'constant', constant_values=0)


@operator('STFT', host=(1, 3))
def stft(signal, step, window, length, *, onesided):
    step = v.scalar(step)
    length = v.scalar(length) if length is not None else window.shape[0]
    if step < 1 or not 1 <= length <= signal.shape[1]:
        raise ValueError(f'frames of {length} in steps of {step} do not fit in {signal.shape[1]}')
    count = (signal.shape[1] - length) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(length)
    frames = F.get_item(signal, (slice(None), v.like(signal, places)))
    real = frames[..., 0]
    imaginary = frames[..., 1] if signal.shape[-1] == 2 else v.array_of(real) * 0
    if window is not None:
        real, imaginary = real * window, imaginary * window
    return F.stack(_transform(real, imaginary, False, onesided), axis=-1)


@operator('MelWeightMatrix', takes=HOST)
def mel_weight_matrix(bins, length, rate, lower, upper, *, output_datatype):
    bins, length, rate = (int(v.scalar(x)) for x in (bins, length, rate))
    lower, upper = float(v.scalar(lower)), float(v.scalar(upper))
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (lower, upper))
    rows = length // 2 + 1
    v.checked_size((rows, bins + 2), 8)
    mels = np.arange(bins + 2) * ((high - low) / (bins + 2)) + low
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = ((length + 1) * hertz // rate).astype(np.int64)
    places = np.arange(rows)
    y = np.zeros((rows, bins))
    for i, (left, middle, right) in enumerate(zip(edges, edges[1:], edges[2:])):
        if middle == left:
            if middle < rows:
                y[middle, i] = 1
        else:
            rising = (places >= left) & (places <= middle)
            y[rising, i] = (places[rising] - left) / (middle - left)
        falling = (places >= middle) & (places < right)
        if right > middle:
            y[falling, i] = (right - places[falling]) / (right - middle)
    return y.astype(dtype_of(output_datatype))
