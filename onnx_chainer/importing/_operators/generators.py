"""Constants, ranges and random numbers. They are on the host until they meet a device's array."""

from __future__ import annotations

import math

import numpy as np

from .. import _values as v
from .._tensors import dtype_of
from ..registry import HOST, operator

_DTYPES = {'float': np.float32, 'int': np.int64, 'string': object}


@operator('Constant', takes=HOST)
def constant(**values):
    for name, value in values.items():
        if value is not None:
            _, _, kind = name.partition('value_')
            return np.array(value, _DTYPES[kind.rstrip('s')]) if kind else value
    raise ValueError('it has no value')


@operator('ConstantOfShape', takes=HOST)
def constant_of_shape(shape, *, value):
    return v.full(shape, np.float32(0) if value is None else value)


@operator('EyeLike', takes=HOST)
def eye_like(x, *, dtype, k):
    rows, columns = x.shape
    k = max(min(k, columns), -rows)
    return np.eye(rows, columns, k=k).astype(x.dtype if dtype is None else dtype_of(dtype))


@operator('Range', takes=HOST, scalars=(1, 2))
def range_(first, limit, delta):
    start = v.scalar(first)
    if delta == 0:
        raise ValueError('the step of the range is zero')
    count = max(math.ceil((limit - start) / delta), 0)
    v.checked_size((count,), first.dtype.itemsize)
    return (start + np.arange(count) * delta).astype(first.dtype)


def _random(name, first, second):
    """The operators of a distribution with two parameters: of a shape, and like an array."""
    title = f'Random{name.title()}'

    @operator(title, f'{title}Like', takes=HOST)
    def draw(*like, dtype, seed, shape=None, **attributes):
        shape = like[0].shape if like else tuple(shape)
        v.checked_size(shape, 8)
        function = getattr(v.random(seed), name)
        y = np.asarray(function(attributes[first], attributes[second], shape))
        return y.astype(like[0].dtype if dtype is None else dtype_of(dtype))


_random('normal', 'mean', 'scale')
_random('uniform', 'low', 'high')


@operator('Multinomial', takes=HOST)
def multinomial(x, *, dtype, sample_size, seed):
    # The largest of the log probabilities and Gumbel noise.
    shape = (len(x), sample_size, x.shape[1])
    v.checked_size(shape, 8)
    noise = np.asarray(v.random(seed).gumbel(size=shape))
    return np.argmax(x[:, None] + noise, axis=2).astype(dtype_of(dtype))
