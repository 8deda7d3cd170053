"""Constants, ranges and random numbers. They are on the host until they meet a device's array."""

from __future__ import annotations

import math

import numpy as np

from .. import _values as v
from .._tensors import dtype_of
from ..registry import HOST, operator, operators


@operator('Constant', takes=HOST)
def constant(
    *,
    value,
    sparse_value,
    value_float,
    value_floats,
    value_int,
    value_ints,
    value_string,
    value_strings,
):
    if value is not None or sparse_value is not None:
        return sparse_value if value is None else value
    for dtype, *numbers in (
        (np.float32, value_float, value_floats),
        (np.int64, value_int, value_ints),
        (object, value_string, value_strings),
    ):
        for number in numbers:
            if number is not None:
                return np.array(number, dtype)
    raise ValueError('it has no value')


@operator('ConstantOfShape', takes=HOST)
def constant_of_shape(shape, *, value):
    return v.full(shape, np.float32(0) if value is None else value)


@operator('EyeLike', takes=HOST)
def eye_like(x, *, dtype, k):
    rows, columns = x.shape
    k = max(min(k, columns), -rows)
    return np.eye(rows, columns, k=k).astype(x.dtype if dtype is None else dtype_of(dtype))


@operator('Range', takes=HOST)
def range_(start, limit, delta):
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


def _drawn(name, shape, dtype, seed, parameters):
    v.checked_size(shape, 8)
    function = getattr(_generator(seed), name)
    return np.asarray(function(*parameters, tuple(shape))).astype(dtype)


def _random(name, first, second):
    """The operators of a distribution with two parameters: of a shape, and like an array."""

    def of_shape(*, shape, dtype, seed, **attributes):
        parameters = attributes[first], attributes[second]
        return _drawn(name, shape, dtype_of(dtype), seed, parameters)

    def like(x, *, dtype, seed, **attributes):
        dtype = x.dtype if dtype is None else dtype_of(dtype)
        return _drawn(name, x.shape, dtype, seed, (attributes[first], attributes[second]))

    title = f'Random{name.title()}'
    operators({title: of_shape, f'{title}Like': like}, takes=HOST)


_random('normal', 'mean', 'scale')
_random('uniform', 'low', 'high')


@operator('Multinomial', takes=HOST)
def multinomial(x, *, dtype, sample_size, seed):
    # The largest of the log probabilities and Gumbel noise.
    shape = (len(x), sample_size, x.shape[1])
    v.checked_size(shape, 8)
    noise = np.asarray(_generator(seed).gumbel(size=shape))
    return np.argmax(x[:, None] + noise, axis=2).astype(dtype_of(dtype))
