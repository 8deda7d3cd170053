"""States of update rules in files that are mapped into memory."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend

if TYPE_CHECKING:
    from collections.abc import MutableMapping

#: Least bytes of an array in a file of its own. Smaller ones do not pay for the system calls, and
#: updates join them.
LEAST = 1 << 16


def check_folder(folder: str | os.PathLike[str] | None) -> str | None:
    """Returns the path of a folder in which files can be made, or ``None`` for ``None``.

    Raises:
        TypeError: If ``folder`` is no path.
        OSError: If no files can be made there.

    """
    if folder is None:
        return None
    path = os.fspath(folder)
    if not isinstance(path, str):
        raise TypeError(f'folder must be a path as a str, not {type(path).__name__}')
    with _open_file(path):
        return os.path.abspath(path)


def place(state: MutableMapping[str, Any], folder: str | None) -> None:
    """Moves the large arrays of a state on the host to files, or back to memory.

    Args:
        state: Arrays by name.
        folder: Where files are made; ``None`` for memory.

    Raises:
        OSError: If there is no room. The state has its values then, wherever they are.

    """
    for name, value in state.items():
        state[name] = moved(value, folder)


def moved(value: Any, folder: str | None) -> Any:
    """Returns a copy of an array in a file, or in memory; what is small or on a GPU, as it is."""
    is_chainerx = isinstance(value, chainerx.ndarray)
    if is_chainerx and value.device.name != 'native:0':
        return value
    array = backend.from_chx(value)
    if not isinstance(array, numpy.ndarray) or array.nbytes < LEAST:
        return value
    copy = array.copy() if folder is None else _map(array, folder)
    return backend.to_chx(copy) if is_chainerx else copy


def _open_file(folder: str) -> IO[bytes]:
    # Most programs need no files, and would wait for the import.
    import tempfile

    # It has no name: however the process ends, nothing is left.
    return tempfile.TemporaryFile(dir=folder)


def _map(array: numpy.ndarray[Any, Any], folder: str) -> numpy.ndarray[Any, Any]:
    import mmap

    with _open_file(folder) as file:
        try:
            _allocate(file.fileno(), array.nbytes)
        except OSError as error:
            text = f'{error.strerror}: a state of {array.nbytes} bytes needs room in the folder'
            raise OSError(error.errno, text, folder) from None
        memory = mmap.mmap(file.fileno(), array.nbytes)
    result = numpy.frombuffer(memory, array.dtype).reshape(array.shape)
    result[...] = array
    return result


def _allocate(file: int, n_bytes: int) -> None:
    # A write to a mapped page for which the disk has no room would end the process.
    if hasattr(os, 'posix_fallocate'):
        os.posix_fallocate(file, 0, n_bytes)
        return
    block = bytes(1 << 20)
    for start in range(0, n_bytes, len(block)):
        os.write(file, block[: n_bytes - start])
