"""Products with weights of few bits, which have a scale for each block."""

from __future__ import annotations

import numpy as np

from chainer._core.settings.half import FLOAT_KINDS
from chainer.quantization import quantized_linear

from .. import _values as v
from ..registry import operator


def _expect(name, array, *shapes):
    """Raises an error if an array has none of the shapes."""
    if array.shape not in shapes:
        raise ValueError(f'{name} has the shape {array.shape}, not {shapes[0]}')


def _float_zeros(zeros, bits, shape):
    """Zero points as numbers, or ``None`` for the middle of the range."""
    columns, blocks = shape
    if zeros is None:
        return None
    if zeros.dtype != np.uint8:
        if zeros.dtype.kind not in FLOAT_KINDS:
            raise ValueError(f'zero_points has the dtype {zeros.dtype}, not uint8 or one of floats')
        _expect('zero_points', zeros, shape, (columns * blocks,))
        return zeros.reshape(shape)
    width = -(-blocks * bits // 8)
    _expect('zero_points', zeros, (columns, width), (columns * width,))
    integers = zeros.reshape(columns, width, 1) >> np.arange(0, 8, bits, dtype=np.uint8)
    return (integers & (2**bits - 1)).reshape(columns, -1)[:, :blocks]


def _check_weights(b, scales, columns, blocks, row_bytes):
    _expect('B', b, (columns, blocks, row_bytes))
    if b.dtype != np.uint8:
        raise ValueError(f'B has the dtype {b.dtype}, not uint8')
    _expect('scales', scales, (columns, blocks), (columns * blocks,))
    if scales.dtype.kind not in FLOAT_KINDS:
        raise ValueError(f'scales has the dtype {scales.dtype}, not one of floats')


@operator('MatMulNBits', host=(3, 4), domain='com.microsoft')
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
    blocks = -(-K // block_size)
    _check_weights(b, scales, N, blocks, block_size * bits // 8)
    zero = _float_zeros(zeros, bits, (N, blocks))
    return quantized_linear(
        a,
        v.array_of(b),
        v.array_of(scales),
        None if zero is None else v.like(a, zero),
        None if bias is None else v.cast(bias, a.dtype),
        dtype=f'uint{bits}',
        block_size=block_size,
    )
