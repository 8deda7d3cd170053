"""Code shared by the file formats: conversion of values, safe writing and loading."""

from __future__ import annotations

import contextlib
import math
import numbers
import os
import shutil
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer import backend
from chainer._core.data import temporary_folder
from chainer._core.devices.array_types import get_array_types
from chainer._core.models import saving
from chainer.backends import cuda
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike


class Stored(NamedTuple):
    """An array in a file whose data is not read yet.

    Args:
        shape (tuple of ints): Shape, as the file declares it.
        dtype (numpy.dtype): Type of the elements.
        read (callable): Function that returns the array.

    """

    shape: tuple[int, ...]
    dtype: numpy.dtype
    read: Callable[[], numpy.ndarray]

    @classmethod
    def of(cls, array: numpy.ndarray) -> Stored:
        """Returns an array in memory as such an object."""
        return cls(array.shape, array.dtype, lambda: array)


class Archive(Mapping[str, numpy.ndarray]):
    """Mapping from the names of a file to its arrays, which can tell their shapes before it reads.

    Attributes:
        name (str): Name of the file, for messages.

    """

    name: str

    def find(self, key: str) -> Stored:
        """Returns an array whose data is not read yet, or raises ``KeyError``."""
        raise NotImplementedError

    def __getitem__(self, key: str) -> numpy.ndarray:
        return self.find(key).read()


def to_numpy(value):
    """Converts a value to the NumPy array to store.

    ``None`` becomes a 0-dimensional object array.
    """
    if isinstance(value, Variable):
        value = value.array
    if isinstance(value, get_array_types()):
        return cuda.to_cpu(value)
    array = numpy.asarray(value)
    if array.dtype.kind == 'O' and value is not None:
        raise TypeError(
            f'cannot serialize an object of type {type(value).__name__}; arrays, numbers, '
            'strings and None are supported'
        )
    return array


def without_bfloat16(array):
    """Returns an array of a dtype that NumPy's and HDF5's files have: float32 for bfloat16."""
    return array.astype(numpy.float32) if array.dtype.name == 'bfloat16' else array


def arrays_of(obj: Any, serialize: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Returns what to save of an object, or of a dictionary of arrays, as NumPy arrays."""
    if isinstance(obj, dict):
        return {key: to_numpy(value) for key, value in obj.items()}
    return serialize(obj)


_MAX_NAMES = 8


def not_found(key, name, names, remedy):
    """Makes the error for a value that a file lacks.

    Args:
        key (str): Full name of the value.
        name (str): Name of the file.
        names (iterable of strs): Names of the values in the file.
        remedy (str): How to go on without the value.

    """
    last = key.rpartition('/')[2]
    names = sorted(names, key=lambda name: (name.rpartition('/')[2] != last, name))
    shown = ', '.join(names[:_MAX_NAMES]) or 'nothing'
    if len(names) > _MAX_NAMES:
        shown += f' and {len(names) - _MAX_NAMES} more'
    return KeyError(f"'{key}' is not found in the file: {name} has {shown}. Use {remedy}.")


def restore(key, value, stored, journal):
    """Returns the loaded value for the current value ``value``.

    Reads the data only after its shape and its dtype have proved right.

    Args:
        key (str): Full name, for messages.
        value: Current value. Fills arrays in place.
        stored (Stored): Array to load.
        journal (list or None): Receives a function that undoes the filling.

    """
    if value is None:
        return stored.read()
    if isinstance(value, get_array_types()):
        dtype = numpy.dtype(str(value.dtype))
        _check_array(key, stored, tuple(value.shape), dtype)
        array = stored.read().astype(dtype, copy=False)
        if journal is not None:
            backup = value.copy()
            journal.append(lambda: backend.copyto(value, backup))
        backend.copyto(value, array)
        return value
    return _to_builtin(key, type(value), stored)


def _loses_value(dtype, kind):
    """Returns whether converting a dtype to a number type may lose data such as fractions."""
    if dtype.kind not in 'iufc' or not issubclass(kind, (numbers.Number, numpy.generic)):
        return False
    return not numpy.can_cast(dtype, kind, 'same_kind')


def _check_array(key, stored, shape, dtype):
    if stored.shape != shape:
        raise ValueError(
            f"shape mismatch for '{key}': the stored array has shape {stored.shape}, but "
            f'{shape} is expected'
        )
    if not numpy.can_cast(stored.dtype, dtype, 'same_kind'):
        raise TypeError(
            f"dtype mismatch for '{key}': the stored array has dtype {stored.dtype}, which "
            f'cannot be cast to {dtype}'
        )


def _to_builtin(key, kind, stored):
    if kind in (list, tuple) and stored.shape:
        return kind(stored.read().tolist())
    if math.prod(stored.shape) == 1:
        scalar = stored.read().reshape(())[()]
        if isinstance(scalar, bytes) and kind is str:
            return scalar.decode()
        if _loses_value(stored.dtype, kind):
            raise TypeError(
                f"cannot load '{key}': a number of dtype {stored.dtype} cannot safely become "
                f'{kind.__name__}'
            )
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return kind(scalar)
    raise TypeError(
        f"cannot load '{key}': {kind.__name__} is expected, but an array of shape "
        f'{stored.shape} and dtype {stored.dtype} is stored'
    )


@contextlib.contextmanager
def atomic_path(path):
    """Yields a temporary path that replaces ``path`` when the block succeeds.

    On failure, it removes the temporary file, and ``path`` keeps its old content.
    """
    path = os.path.realpath(os.fsdecode(path))
    if os.path.exists(path) and not os.path.isfile(path):
        yield path  # a device or a pipe cannot be replaced
        return
    folder, name = os.path.split(path)
    with temporary_folder.temporary_folder(folder, name) as temporary:
        new_path = os.path.join(temporary, name)
        yield new_path
        if os.path.exists(path):
            shutil.copymode(path, new_path)
        os.replace(new_path, path)


@contextlib.contextmanager
def opened(file: str | PathLike[str] | IO[Any]) -> Iterator[IO[Any]]:
    """Opens a file to read, given by its path; one that is open already stays so."""
    if isinstance(file, (str, bytes, os.PathLike)):
        with open(file, 'rb') as f:
            yield f
    elif hasattr(file, 'read'):
        yield file
    else:
        raise TypeError(f'file must be a path or a file to read, but is {type(file)}')


def write_file(file: str | PathLike[str] | IO[Any], write: Callable[[IO[Any]], None]) -> None:
    """Writes a file, given by its path or opened; at a path, it is complete or stays the old one.

    Args:
        file (str, path or file-like): Target file.
        write (callable): Function of the opened file.

    """
    if isinstance(file, (str, bytes, os.PathLike)):
        with atomic_path(file) as path, open(path, 'wb') as f:
            write(f)
            f.flush()
            os.fsync(f.fileno())
    else:
        if not hasattr(file, 'write'):
            raise TypeError(f'file must be a path or a file to write to, but is {type(file)}')
        write(file)


def load_all_or_nothing(deserializer, obj):
    """Loads an object; restores the previous state if loading raises.

    It always restores arrays filled in place, NumPy's random state, and the attributes of the
    object itself and of classes that call :func:`chainer._core.models.saving.remember`.
    """
    # Giving data to a parameter without any draws random numbers.
    random_state = numpy.random.get_state()
    journal = deserializer._journal = [lambda: numpy.random.set_state(random_state)]
    if hasattr(obj, '__dict__'):
        saving.remember(deserializer, obj)
    try:
        deserializer.load(obj)
    except BaseException:
        for undo in reversed(journal):
            undo()
        raise
    finally:
        deserializer._journal = None
