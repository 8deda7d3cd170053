"""Files that threads and forked processes read at once.

The position of an open file is shared by all threads, and by all processes that a fork gave it to.
Here each reader has a position of its own and needs no lock, which a fork could copy locked.
"""

from __future__ import annotations

import io
import os
from typing import Any


class PathFile(io.FileIO):
    """File to read. A copy, or what a pickle of it gives, opens the path again.

    A number is refused: it would be a descriptor, which belongs to others.
    """

    def __init__(self, path: Any) -> None:
        super().__init__(os.fspath(path))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return PathFile, (self.name,)

    def __del__(self) -> None:
        self.close()


class Cursor(io.RawIOBase):
    """Reader of an open file with a position of its own.

    Closing it leaves the file open.

    Args:
        file: Object with the method ``fileno`` that raises :exc:`ValueError` if it is closed.
        position (int): Position to start at.

    """

    def __init__(self, file: Any, position: int = 0) -> None:
        self._file = file
        self._position = position

    @property
    def name(self) -> Any:
        return self._file.name  # in messages of those who read

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence == os.SEEK_CUR:
            offset += self._position
        elif whence == os.SEEK_END:
            offset += os.fstat(self._file.fileno()).st_size
        self._position = offset
        return offset

    def readinto(self, buffer: Any, /) -> int:
        n = os.preadv(self._file.fileno(), [buffer], self._position)
        self._position += n
        return n

    def read1(self, size: int, /) -> bytes:
        # What text readers call. They take a chunk at a time, so they need no buffer.
        data = os.pread(self._file.fileno(), size, self._position)
        self._position += len(data)
        return data


def get_file(reader: Any) -> io.FileIO | None:
    """Returns the file under a file object of :func:`open`, ``None`` for other readers."""
    raw = getattr(reader, 'raw', reader)
    return raw if type(raw) in (io.FileIO, PathFile) else None
