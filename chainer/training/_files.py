"""Result files that are complete or do not exist, whenever the program is stopped."""
import contextlib
import os
import tempfile


@contextlib.contextmanager
def atomic_file(path):
    """Gives a temporary path; what was written there becomes ``path`` at the end.

    The file is on the disk before it gets its name, and the name is on the disk before the
    block ends. If the block fails, ``path`` stays as it was.
    """
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory(prefix='tmp' + name, dir=folder) as temp:
        temp_path = os.path.join(temp, name)
        yield temp_path
        _sync(temp_path)
        os.replace(temp_path, path)
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
