"""Values between nodes: variables, arrays of any device, strings, lists, maps and ``None``.

A map is a dictionary of keys and numbers or strings, which stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

import chainer
import chainerx
from chainer import Variable, backend

from ._tensors import checked_size

Value = Any

# NumPy's own dtypes: some floats of ml_dtypes are of the kind 'f', too.
_FLOATS = 'efd'
_NUMBERS = '?bBhHiIlLqQ' + _FLOATS


def array_of(x: Value) -> Value:
    """The array of a variable, or the value itself."""
    return x.array if isinstance(x, Variable) else x


def xp_of(*xs: Value) -> Any:
    """The module of arrays: NumPy, CuPy or ChainerX."""
    return backend.get_array_module(*xs)


def on_host(x: Value) -> Value:
    """The value as a NumPy array; lists likewise."""
    if isinstance(x, list):
        return [on_host(each) for each in x]
    x = array_of(x)
    if x is None or isinstance(x, (np.ndarray, dict)):
        return x
    return backend.CpuDevice().send(x)


def is_float(x: Value) -> bool:
    """Whether :mod:`chainer.functions` can compute with it."""
    return x.dtype.char in _FLOATS


def is_number(dtype: Any) -> bool:
    """Whether a dtype is one of NumPy's real numbers."""
    return dtype.char in _NUMBERS


def is_on_host(x: Value) -> bool:
    """Whether the value is in NumPy's memory, or has none."""
    if isinstance(x, list):
        return all(map(is_on_host, x))
    return x is None or isinstance(array_of(x), (np.ndarray, dict))


def fits(x: Value, device: Any) -> bool:
    """Whether a device has the dtype of an array."""
    if isinstance(device, backend.ChainerxDevice):
        return x.dtype.type in chainerx.all_dtypes
    return is_number(x.dtype)


def send(x: Value, device: Any) -> Value:
    """The value on a device, if that has its dtype; lists likewise."""
    if isinstance(x, list):
        return [send(each, device) for each in x]
    array = array_of(x)
    if array is None or isinstance(array, dict) or not fits(array, device):
        return x
    if backend.get_device_from_array(array) == device:
        return x
    moved = device.send(array)
    return Variable(moved, requires_grad=False) if isinstance(x, Variable) else moved


def like(x: Value, array: np.ndarray[Any, Any]) -> Value:
    """A NumPy array on the device of ``x``."""
    device = backend.get_device_from_array(array_of(x))
    return array if isinstance(device, backend.CpuDevice) else device.send(array)


def calling_arrays(function: Callable[..., Any], *xs: Value, **keywords: Any) -> Any:
    """``function`` of the arrays of variables; those of ChainerX pass as NumPy's or CuPy's."""
    arrays = [array_of(x) for x in xs]
    if not any(isinstance(x, chainerx.ndarray) for x in arrays):
        return as_arrays(function(*arrays, **keywords))
    out = function(*[backend.from_chx(x) for x in arrays], **keywords)
    return _to_chainerx(as_arrays(out))


def _to_chainerx(y: Any) -> Any:
    if isinstance(y, (list, tuple)):
        return type(y)(map(_to_chainerx, y))
    if y is None or isinstance(y, dict) or y.dtype.type not in chainerx.all_dtypes:
        return y
    return backend.to_chx(y)


def as_arrays(y: Any) -> Any:
    """Results with NumPy's scalars as arrays of no dimension."""
    if isinstance(y, (list, tuple)):
        return type(y)(map(as_arrays, y))
    return np.asarray(y) if isinstance(y, np.generic) else y


def array_function(name: str) -> Callable[..., Any]:
    """The function of NumPy or CuPy of this name, for the arrays of values."""
    return lambda *xs: calling_arrays(lambda *arrays: getattr(xp_of(*arrays), name)(*arrays), *xs)


def along_axis(x: Value, axis: int, ndim: int) -> Value:
    """A vector in the shape in which it is broadcast along an axis of ``ndim`` axes."""
    return x.reshape((-1,) + (1,) * (ndim - 1 - axis % ndim))


def random(seed: float | None) -> Any:
    """NumPy's global generator, which programs can seed, or one of the seed of a file."""
    return np.random if seed is None else np.random.RandomState(int(seed) % 2**32)


def full(shape: Any, value: Any) -> np.ndarray[Any, Any]:
    """An array filled with a scalar array, after a check of its size."""
    value = np.asarray(value)
    shape = tuple(int(n) for n in shape)
    checked_size(shape, value.dtype.itemsize)
    return np.full(shape, value.reshape(()), value.dtype)


def scalar(x: Value) -> Any:
    """The one element of an array of size one, as a Python number."""
    x = on_host(x)
    if x.size != 1:
        raise ValueError(f'expected one element, and the shape is {x.shape}')
    return x.reshape(()).item()


def axis_of(axis: Any, ndim: int) -> int:
    """An axis that may count from the end, counted from the first of ``ndim`` axes."""
    axis = int(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(f'there is no axis {axis} among {ndim}')
    return axis % ndim


def axes_of(axes: Value, ndim: int) -> tuple[int, ...] | None:
    """Axes that may count from the end, counted from the first of ``ndim``; ``None`` stays."""
    axes = ints(axes)
    return None if axes is None else tuple(axis_of(axis, ndim) for axis in axes)


def cut(x: Value, pads: Any) -> tuple[Value, list[tuple[int, int]]]:
    """``x`` less what negative widths of padding cut off its axes, and the other widths."""
    if all(before >= 0 and behind >= 0 for before, behind in pads):
        return x, pads
    # A width that cuts more than there is takes the rest from the padding of the other side.
    pads = [
        (max(a, -n) + min(b + n, 0), max(b, -n) + min(a + n, 0)) for n, (a, b) in zip(x.shape, pads)
    ]
    index = (slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, pads))
    x = chainer.functions.get_item(x, tuple(index))
    return x, [(max(before, 0), max(behind, 0)) for before, behind in pads]


@overload
def ints(x: None) -> None: ...


@overload
def ints(x: Value) -> list[int]: ...


def ints(x: Value) -> list[int] | None:
    """The elements of an array or a list as Python ints; ``None`` stays."""
    return None if x is None else [int(i) for i in np.ravel(on_host(x))]


def cast(x: Value, dtype: Any) -> Value:
    """The value in another dtype; the gradient passes between dtypes of floats."""
    dtype = np.dtype(dtype)
    if x.dtype == dtype:
        return x
    if is_float(x) and dtype.char in _FLOATS:
        return chainer.functions.cast(x, dtype)
    return calling_arrays(lambda array: array.astype(dtype), x)
