"""Files that a model names: opened once, beneath its folder."""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

# Opening a pipe would wait for its other end.
_READ = os.O_RDONLY | getattr(os, 'O_CLOEXEC', 0) | getattr(os, 'O_NONBLOCK', 0)


def open_beneath(folder: Path, location: str) -> io.FileIO:
    """Opens a regular file beneath a folder.

    Links are not followed on the way, and the file must have no other name, which could be outside
    of the folder. Whatever becomes of its name, the open file is the one that was checked.

    Raises:
        ModelError: There is no such file.
    """
    names = [name for name in location.split('/') if name not in ('', '.')]
    if location.startswith('/') or '..' in names or '\0' in location:
        raise ModelError(f'its data is in {location!r}, outside of the folder of the model')
    try:
        file = io.FileIO(_descend(folder, names))
    except OSError as error:
        raise ModelError(
            f'its data is in {location!r}, which is not a file beside the model (links do not '
            'count)'
        ) from error
    status = os.fstat(file.fileno())
    if status.st_nlink != 1:
        file.close()
        raise ModelError(
            f'its data is in {location!r}, a file of {status.st_nlink} names, which may be outside '
            'of the folder: copy it'
        )
    return file


def _descend(folder, names):
    """A descriptor of the regular file that names lead to from a folder."""
    descriptor = os.open(folder, _READ | os.O_DIRECTORY)
    try:
        for i, name in enumerate(names, 1):
            kind = os.O_DIRECTORY if i < len(names) else 0
            inner = os.open(name, _READ | os.O_NOFOLLOW | kind, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def read(file: io.FileIO, offset: int, length: int) -> np.ndarray[Any, Any]:
    """Bytes of a file. Holes take no time, and no memory until something writes there."""
    out = np.zeros(length, np.uint8)
    at, end = offset, offset + length
    while at < end:
        at = _seek(file, at, end, 'SEEK_DATA', at)
        hole = _seek(file, at, end, 'SEEK_HOLE', end) if at < end else end
        file.seek(at)
        while at < hole:
            count = file.readinto(out.data[at - offset : hole - offset])
            if not count:
                raise ModelError('the file of its data was cut')
            at += count
    return out


def _seek(file, at, end, what, otherwise):
    """The next place of data or of a hole; ``otherwise`` if the system does not say."""
    if not hasattr(os, what):
        return otherwise
    try:
        return min(os.lseek(file.fileno(), at, getattr(os, what)), end)
    except OSError as error:
        if error.errno == errno.ENXIO and os.fstat(file.fileno()).st_size >= end:
            return end  # nothing but a hole is left
        return otherwise
