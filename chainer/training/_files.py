"""Result files that are either complete or absent, even if the program is killed."""

import contextlib
import os

from chainer._core.data import temporary_folder


@contextlib.contextmanager
def atomic_file(path, durable=True):
    """Yields a temporary path; renames the file to ``path`` at the end.

    The file is on disk before the rename, and the new name is on disk before the block ends.
    If the block fails, ``path`` does not change.

    Without ``durable``, the file survives a killed program but maybe not a loss of power.
    Waiting for the disk takes milliseconds, too long for a report in each iteration,
    and resumed training rewrites reports anyway.
    """
    folder, name = os.path.split(os.path.abspath(path))
    with temporary_folder.temporary_folder(folder, name) as temp:
        temp_path = os.path.join(temp, name)
        yield temp_path
        if durable:
            _sync(temp_path)
        os.replace(temp_path, path)
        if durable:
            _sync(folder)


def _sync(path):
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:  # folders cannot be opened on Windows
        return
    try:
        os.fsync(fd)
    except OSError:
        if not os.path.isdir(path):  # some file systems cannot synchronize folders
            raise
    finally:
        os.close(fd)
