"""What the lines of ``calls`` use: arrays of each kind, and objects that behave badly."""

from __future__ import annotations

import copy
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
