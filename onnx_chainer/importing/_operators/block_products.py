"""Products with weights of few bits, which have a scale for each block."""

from __future__ import annotations

import numpy as np

import chainer.functions as F
from chainer._core.settings.half import FLOAT_KINDS

from .. import _values as v
from ..registry import operator


def _expect(name, array, *shapes):
    """Raises an error if an array has none of the shapes."""
    if array.shape not in shapes:
        raise ValueError(f'{name} has the shape {array.shape}, not {shapes[0]}')


def _unpacked(packed, bits, count):
    """The first ``count`` integers of each row of bytes, whose lowest bits are the first ones."""
    integers = packed[..., None] >> np.arange(0, 8, bits, dtype=np.uint8) & (2**bits - 1)
    return integers.reshape(len(packed), -1)[:, :count]


def _zeros(zeros, bits, shape):
    columns, blocks = shape
    if zeros is None:
        return np.full(shape, 2 ** (bits - 1), np.float32)
    if zeros.dtype != np.uint8:
        if zeros.dtype.kind not in FLOAT_KINDS:
            raise ValueError(f'zero_points has the dtype {zeros.dtype}, not uint8 or one of floats')
        _expect('zero_points', zeros, shape, (columns * blocks,))
        return zeros.astype(np.float32).reshape(shape)
    width = -(-blocks * bits // 8)
    _expect('zero_points', zeros, (columns, width), (columns * width,))
    return _unpacked(zeros.reshape(columns, width), bits, blocks).astype(np.float32)


def _weights(b, scales, zeros, inner, columns, bits, block):
    """The matrix (columns, inner) as float32."""
    shape = columns, -(-inner // block)
    _expect('B', b, (*shape, block * bits // 8))
    if b.dtype != np.uint8:
        raise ValueError(f'B has the dtype {b.dtype}, not uint8')
    _expect('scales', scales, shape, (columns * shape[1],))
    if scales.dtype.kind not in FLOAT_KINDS:
        raise ValueError(f'scales has the dtype {scales.dtype}, not one of floats')
    w = _unpacked(b.reshape(columns, -1), bits, None).astype(np.float32)
    w = w.reshape(*shape, block) - _zeros(zeros, bits, shape)[..., None]
    w *= scales.astype(np.float32).reshape(*shape, 1)
    return w.reshape(columns, -1)[:, :inner]


@operator('MatMulNBits', host=(1, 2, 3, 4), domain='com.microsoft')
def matmul_n_bits(
    a, b, scales, zeros, order, bias, *, K, N, bits, block_size, weight_prepacked, accuracy_level
):
    if K < 1 or N < 1 or bits not in (2, 4, 8):
        raise ValueError(f'K is {K}, N is {N} and bits is {bits}')
    if block_size < 16 or block_size & (block_size - 1):
        raise ValueError(f'block_size is {block_size}, not a power of two from 16 on')
    if weight_prepacked or order is not None:
        raise ValueError('weights in the layout of a device or another order are not supported')
    if not 0 <= accuracy_level <= 4:
        raise ValueError(f'accuracy_level is {accuracy_level}, not 0 to 4')
    if not v.is_float(a) or a.ndim == 0 or a.shape[-1] != K:
        raise ValueError(f'A has the dtype {a.dtype} and the shape {a.shape}, and K is {K}')
    w = v.like(a, _weights(b, scales, zeros, K, N, bits, block_size))
    rows = F.reshape(v.cast(a, 'f'), (a.size // K, K))
    y = F.linear(rows, w, None if bias is None else v.cast(bias, 'f'))
    return v.cast(F.reshape(y, (*a.shape[:-1], N)), a.dtype)
