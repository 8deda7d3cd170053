"""What the lines of ``calls`` use: arrays of each kind, and objects that behave badly."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import pickle
import sys
import weakref
from typing import Any

import numpy as np

import chainer
import chainerx as xp

__all__ = ['chainer', 'copy', 'gc', 'np', 'pickle', 'weakref', 'xp']


class Raises:
    """Raises whatever is asked."""

    def __getattr__(self, name):
        raise KeyError(name)

    def __index__(self, *args):
        raise KeyError

    __float__ = __iter__ = __len__ = __bool__ = __array__ = __repr__ = __index__


class Lies:
    """Has other lengths and contents than it says."""

    def __len__(self):
        return 1000

    def __getitem__(self, i):
        gc.collect(0)
        if i > 2:
            raise IndexError
        return i

    def __array__(self, *args, **kwargs):
        return 3


class Changes(list):
    """A list that gets shorter while it is read, and an index that does it."""

    def __init__(self) -> None:
        super().__init__([self] * 5)

    def __index__(self):
        self.clear()
        gc.collect(0)
        return 1

    __hash__ = object.__hash__


class Dies:
    """Uses arrays when it dies, which may be in the middle of something."""

    def __index__(self):
        return 2

    def __del__(self):
        x = xp.ones(3) if xp.is_available() else np.ones(3)
        (x + x).sum()
        gc.collect(0)


# A default context that only this list keeps.
SCOPES: list[Any] = []


def enter_scope() -> None:
    """Enters a context that an instance of :class:`EndsContext` ends."""
    SCOPES.append(xp.context_scope(xp.Context()))
    SCOPES[-1].__enter__()


class EndsContext:
    """Ends the default context while it is asked."""

    def __index__(self):
        SCOPES.clear()
        gc.collect(0)
        return 1

    def __float__(self):
        return float(self.__index__())

    def __array__(self, *args, **kwargs):
        return np.full(3, self.__index__())

    def __iter__(self):
        return iter([self, self.__index__()])

    def __len__(self):
        return 1 + self.__index__()

    def __getitem__(self, i):
        return [self.__index__(), self][i]


class Capsule:
    """Gives a capsule of DLPack, of which a 32-bit word is overwritten."""

    def __init__(self, word: int = -1, value: int = 0) -> None:
        self.x = xp.arange(4.0)
        self.word, self.value = word, value

    def __dlpack__(self, **kwargs):
        made = self.x.__dlpack__(max_version=(1, 0))
        if self.word >= 0:
            get = ctypes.pythonapi.PyCapsule_GetPointer
            get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
            words = (ctypes.c_int32 * 20).from_address(get(made, b'dltensor_versioned'))
            words[self.word] = self.value
        return made


def delete_all(x: Any) -> None:
    """Deletes the attributes that can be deleted."""
    for name in dir(x):
        with contextlib.suppress(AttributeError, TypeError):
            delattr(x, name)


def nested() -> list[Any]:
    """Returns a list that contains itself."""
    items: list[Any] = [1]
    items.append(items)
    return items


def deep() -> tuple[Any, ...]:
    """Returns tuples in tuples, deeper than any recursion may go."""
    items: tuple[Any, ...] = ()
    for _ in range(2 * sys.getrecursionlimit()):
        items = (items,)
    return items


def new(cls: type) -> Any:
    """Returns an instance that nothing has initialized."""
    return cls.__new__(cls)


def derived(cls: type) -> Any:
    """Returns an instance of a class derived from another, without what that initializes."""
    return type('Derived', (cls,), {'__init__': lambda self: None})()


def array(shape: tuple[int, ...], dtype: str, seed: int, change: str) -> Any:
    """Returns an array of ChainerX, or of NumPy if ``change`` says so or nothing else is there."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) * rng.choice([1, 3, 1e30])
    if dtype.startswith('f'):
        if seed % 4 == 0:
            odd = rng.choice([np.nan, np.inf, -np.inf, 5e-324], shape)
            values = np.where(values < 0, odd, values)
    else:
        values = np.clip(values, 0, 100)
    x = np.asarray(values).astype(dtype)
    if change == 'numpy' or not xp.is_available():
        return x
    x = xp.array(x)
    if change == 'reversed':
        return x[(slice(None, None, -1),) * x.ndim]
    if change == 'broadcast' and x.ndim < 16:
        return xp.broadcast_to(x, (2, *x.shape))
    if change == 'graph' and dtype.startswith('f'):
        return x.require_grad() * 2
    if change == 'device':
        return x.to_device('native:1')
    return x.T if change == 'transposed' else x
