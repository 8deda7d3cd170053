"""The context of work on an array."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer.backends import cuda

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_nothing = contextlib.nullcontext()


def using_device_of(array: Any) -> AbstractContextManager[Any]:
    """Context in which the device of an array is the current one."""
    # NumPy has no current device, and most arrays are its own.
    if isinstance(array, numpy.ndarray):
        return _nothing
    if isinstance(array, cuda.ndarray):
        device: AbstractContextManager[Any] = array.device
        return device
    return backend.using_device(backend.get_device_from_array(array))
