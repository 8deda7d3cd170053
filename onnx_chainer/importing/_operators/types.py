"""Changes of element types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from onnx import numpy_helper

from .. import _values as v
from .._tensors import dtype_of
from ..registry import operator

# Floats whose largest values stand for all larger ones.
_SMALL_FLOATS = {
    np.dtype(getattr(ml_dtypes, name))
    for name in (
        'float8_e4m3fn',
        'float8_e4m3fnuz',
        'float8_e5m2',
        'float8_e5m2fnuz',
        'float4_e2m1fn',
    )
}


@operator('Cast', any_dtype=True)
def cast(x, *, to, saturate, round_mode):
    return converted(
        x, dtype_of(to) if isinstance(to, int) else np.dtype(to.lower()), saturate, round_mode
    )


@operator('CastLike', any_dtype=True)
def cast_like(x, target, *, saturate, round_mode):
    return converted(x, target.dtype, saturate, round_mode)


def converted(x, dtype, saturate=True, round_mode='up'):
    """The value in another dtype, which may be strings or small floats."""
    if v.is_number(x.dtype) and v.is_number(dtype):
        return v.cast(x, dtype)
    x = v.on_host(x)
    if dtype.kind == 'O':
        return _to_strings(x)
    if x.dtype.kind in 'OSU':
        return _from_strings(x, dtype)
    if dtype.name == 'float8_e8m0fnu':
        x = x.astype(np.float32)
        return numpy_helper.to_float8e8m0(x, bool(saturate), round_mode).astype(dtype)
    if dtype in _SMALL_FLOATS and saturate:
        return _saturated(x, dtype)
    if _is_int4(dtype):
        return _wrapped(x, dtype)
    if x.dtype.kind == 'V' and dtype.kind in 'iub':
        x = x.astype(np.float64)
    return x.astype(dtype)


def _is_int4(dtype):
    return dtype.name in ('int4', 'uint4', 'int2', 'uint2')


def _wrapped(x, dtype):
    """Integers of few bits, of which the lowest bits stay."""
    if x.dtype.kind not in 'iub' and not _is_int4(x.dtype):
        x = np.trunc(x.astype(np.float64))
    return x.astype(np.int64).astype(dtype)


def _saturated(x, dtype):
    largest = ml_dtypes.finfo(dtype).max.astype(np.float32)
    smallest = ml_dtypes.finfo(dtype).min.astype(np.float32)
    y = x.astype(np.float32)
    return np.where(np.isnan(y), y, np.clip(y, smallest, largest)).astype(dtype)


def _to_strings(x):
    y = np.empty(x.shape, object)
    for i, value in enumerate(x.ravel()):
        y.ravel()[i] = value if isinstance(value, str) else str(value)
    return y


def _from_strings(x, dtype):
    parse = float if dtype.kind not in 'iub' else lambda text: int(float(text))
    y = np.array([parse(text) for text in x.ravel()])
    return y.astype(dtype).reshape(x.shape)


@operator('BitCast', any_dtype=True)
def bit_cast(x, *, to):
    return v.on_host(x).view(dtype_of(to))
