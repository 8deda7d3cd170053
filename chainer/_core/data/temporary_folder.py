"""Folders for incomplete files that do not stay when a process is killed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = re.compile(r'\.(.+)\.[0-9a-f]{8}\.tmp', re.DOTALL)


@contextlib.contextmanager
def temporary_folder(folder: str, name: str) -> Iterator[str]:
    """Makes a folder in which a file becomes complete, and removes it at the end.

    It also removes what processes that were killed left of files of this name. The system frees
    the locks of killed processes, so a lock tells the folders in use.

    Args:
        folder (str): Folder of the complete file.
        name (str): Name of the complete file.

    """
    remove_leftovers(folder, name)
    path, lock = _make(folder, name)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        lock.close()


def remove_leftovers(folder: str, name: str | None = None) -> None:
    """Removes the temporary folders of processes that were killed.

    Args:
        folder (str): Folder of the complete files.
        name (str): Name of a file; ``None`` for all.

    """
    if fcntl is None:
        return
    prefix = '.' if name is None else f'.{name}.'
    for found in os.listdir(folder):
        if found.startswith(prefix) and (match := _NAME.fullmatch(found)):
            if name in (None, match[1]):
                with contextlib.suppress(OSError):  # in use, of another user, or removed meanwhile
                    _remove_leftover(os.path.join(folder, found))


def _remove_leftover(path: str) -> None:
    with contextlib.closing(_Lock(path)) as lock:
        lock.acquire_alone()
        shutil.rmtree(path)


def _make(folder: str, name: str) -> tuple[str, _Lock]:
    """Makes a folder; returns its path and its lock."""
    while True:
        path = os.path.join(folder, f'.{name}.{os.urandom(4).hex()}.tmp')
        # Open until it has its lock: chainermn.run looks there for what a killed rank has made.
        with contextlib.closing(_Lock(os.path.join(folder, '.'))):
            os.mkdir(path, 0o700)
            try:
                lock = _Lock(path)
            except FileNotFoundError:
                continue  # another process took it for a leftover
        with contextlib.suppress(OSError):  # some file systems have no locks
            lock.share()
        if os.path.isdir(path):
            return path, lock
        lock.close()


class _Lock:
    """Lock of a folder, where the system has locks.

    An interrupt may keep any code from closing it. Then the end of the object does, so that this
    process, too, can take the folder for a leftover.
    """

    _file: int | None = None

    def __init__(self, path: str) -> None:
        if fcntl is not None:
            self._file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)

    def share(self) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_SH)

    def acquire_alone(self) -> None:
        """Raises an error if another lock of the folder exists."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    __del__ = close
