"""Constants, ranges and random numbers. They are on the host until they meet a device's array."""

from __future__ import annotations

import math

import numpy as np

from .. import _values as v
from .._tensors import dtype_of
from ..registry import HOST, operator


@operator('Constant', takes=HOST)
def constant(
    node,
    /,
    *,
    value=None,
    sparse_value=None,
    value_float=None,
    value_floats=None,
    value_int=None,
    value_ints=None,
    value_string=None,
    value_strings=None,
):
    for array in (value, sparse_value):
        if array is not None:
            return array
    for number, dtype in (
        (value_float, np.float32),
        (value_floats, np.float32),
        (value_int, np.int64),
        (value_ints, np.int64),
        (value_string, object),
        (value_strings, object),
    ):
        if number is not None:
            return np.array(number, dtype)
    raise ValueError('it has no value')


@operator('ConstantOfShape', takes=HOST)
def constant_of_shape(node, shape, /, *, value=None):
    return v.full(shape, np.float32(0) if value is None else value)


@operator('EyeLike', takes=HOST)
def eye_like(node, x, /, *, dtype=None, k=0):
    rows, columns = x.shape
    k = max(min(k, columns), -rows)
    return np.eye(rows, columns, k=k).astype(x.dtype if dtype is None else dtype_of(dtype))


@operator('Range', takes=HOST)
def range_(node, start, limit, delta, /, *, stash_type=1):
    dtype = start.dtype
    start, limit, delta = (each.reshape(()).item() for each in (start, limit, delta))
    if delta == 0:
        raise ValueError('the step of the range is zero')
    count = max(math.ceil((limit - start) / delta), 0)
    v.checked_size((count,), dtype.itemsize)
    return (start + np.arange(count) * delta).astype(dtype)


def _generator(seed):
    """NumPy's global generator, which programs can seed, or one of the file's seed."""
    return np.random if seed is None else np.random.RandomState(int(seed) % 2**32)


def _normal(shape, dtype, mean, scale, seed):
    v.checked_size(shape, 8)
    return np.asarray(_generator(seed).normal(mean, scale, tuple(shape))).astype(dtype)


def _uniform(shape, dtype, low, high, seed):
    v.checked_size(shape, 8)
    return np.asarray(_generator(seed).uniform(low, high, tuple(shape))).astype(dtype)


@operator('RandomNormal', takes=HOST)
def random_normal(node, /, *, shape, dtype=1, mean=0.0, scale=1.0, seed=None):
    return _normal(shape, dtype_of(dtype), mean, scale, seed)


@operator('RandomNormalLike', takes=HOST)
def random_normal_like(node, x, /, *, dtype=None, mean=0.0, scale=1.0, seed=None):
    return _normal(x.shape, x.dtype if dtype is None else dtype_of(dtype), mean, scale, seed)


@operator('RandomUniform', takes=HOST)
def random_uniform(node, /, *, shape, dtype=1, low=0.0, high=1.0, seed=None):
    return _uniform(shape, dtype_of(dtype), low, high, seed)


@operator('RandomUniformLike', takes=HOST)
def random_uniform_like(node, x, /, *, dtype=None, low=0.0, high=1.0, seed=None):
    return _uniform(x.shape, x.dtype if dtype is None else dtype_of(dtype), low, high, seed)


@operator('Multinomial', takes=HOST)
def multinomial(node, x, /, *, dtype=6, sample_size=1, seed=None):
    # The largest of the log probabilities and Gumbel noise.
    shape = (len(x), sample_size, x.shape[1])
    v.checked_size(shape, 8)
    noise = np.asarray(_generator(seed).gumbel(size=shape))
    return np.argmax(x[:, None] + noise, axis=2).astype(dtype_of(dtype))
