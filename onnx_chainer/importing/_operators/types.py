"""Changes of element types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from onnx import numpy_helper

from .. import _values as v
from .._tensors import dtype_of
from ..registry import operators


def _cast(x, *, to, saturate, round_mode):
    # Opset 1 names types by strings.
    dtype = dtype_of(to) if isinstance(to, int) else np.dtype(to.lower())
    return converted(x, dtype, saturate, round_mode)


def converted(x, dtype, saturate=True, round_mode='up'):
    """The value in another dtype, which may be strings or small floats."""
    if v.is_number(x.dtype) and v.is_number(dtype):
        return v.cast(x, dtype)
    x = v.on_host(x)
    if dtype.kind == 'O':
        return np.array([str(value) for value in x.ravel()], object).reshape(x.shape)
    if x.dtype.kind in 'OSU':
        return _from_strings(x, dtype)
    if dtype.name == 'float8_e8m0fnu':
        x = x.astype(np.float32)
        return numpy_helper.to_float8e8m0(x, bool(saturate), round_mode).astype(dtype)
    if dtype.name.startswith(('float8', 'float4')) and saturate:
        return _saturated(x, dtype)
    if is_short_integer(dtype):
        return _wrapped(x, dtype)
    if x.dtype.kind == 'V' and dtype.kind in 'iub':
        x = x.astype(np.float64)
    return x.astype(dtype)


def is_short_integer(dtype):
    """Whether several elements of an integer dtype share a byte."""
    return dtype.name in ('int4', 'uint4', 'int2', 'uint2')


def _wrapped(x, dtype):
    """Integers of few bits, of which the lowest bits stay."""
    if x.dtype.kind not in 'iub' and not is_short_integer(x.dtype):
        x = np.trunc(x.astype(np.float64))
    return x.astype(np.int64).astype(dtype)


def _saturated(x, dtype):
    """Small floats, whose largest values stand for all larger ones; NaN stays."""
    limits = ml_dtypes.finfo(dtype)
    y = np.clip(x.astype(np.float32), limits.min.astype(np.float32), limits.max.astype(np.float32))
    return y.astype(dtype)


def _from_strings(x, dtype):
    parse = float if dtype.kind not in 'iub' else lambda text: int(float(text))
    y = np.array([parse(text) for text in x.ravel()])
    return y.astype(dtype).reshape(x.shape)


operators(
    {
        'Cast': _cast,
        'CastLike': lambda x, target, **attributes: converted(x, target.dtype, **attributes),
        'BitCast': lambda x, *, to: v.on_host(x).view(dtype_of(to)),
    },
    any_dtype=True,
)
