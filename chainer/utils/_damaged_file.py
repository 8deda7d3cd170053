"""One error for whatever a library raises about a damaged file."""

from __future__ import annotations

import contextlib
import errno
import os
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


# Deflate, the compression of zip, gzip and HDF5 files, makes at most four matches of 258 bytes each
# from one byte.
DEFLATE_RATIO = 4 * 258


class DamagedFileError(ValueError, OSError, zipfile.BadZipFile):
    """Chainer 7 raises one or another of the base classes, depending on the damage."""


@contextlib.contextmanager
def reading(file: Any, kind: str, keep: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turns the errors of a block into :class:`DamagedFileError`.

    The block should hold nothing but calls of the library that reads the file: such libraries
    raise any exception on bad data. Trouble with the disk, exhausted memory and warnings stay what
    they are.

    Args:
        file: Path or file object, for the message.
        kind (str): What the file should be, such as ``'an npz file'``.
        keep (tuple of types): Errors that stay what they are, too.

    Raises:
        DamagedFileError: The block raised an error about the content.

    """
    try:
        yield
    except Exception as e:
        if isinstance(e, (DamagedFileError, MemoryError, Warning, *keep)):
            raise
        # An offset beyond the file is an invalid argument for the operating system.
        if isinstance(e, OSError) and e.errno not in (None, errno.EINVAL):
            raise
        raise DamagedFileError(
            f"cannot load '{name_of(file)}': it is damaged, truncated or not {kind} "
            f'({str(e) or type(e).__name__})'
        ) from e


def name_of(file: Any) -> str:
    """Returns the name of a file given by its path or as an object."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return os.fsdecode(file)
    return getattr(file, 'name', 'the given file')
