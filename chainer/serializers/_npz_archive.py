"""Arrays of an npz file, each read when it is asked for, with memory for no more than it holds."""

from __future__ import annotations

import contextlib
import io
import math
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy

from chainer.serializers import _none_marker, _storage
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

# Bytes to look for the header of an array in; NumPy writes at most 10,000.
_HEADER_SIZE = 1 << 14
_CHUNK_SIZE = 1 << 18


class NpzArchive(_storage.Archive):
    """Mapping from the names of an npz file to its arrays.

    Args:
        archive (zipfile.ZipFile): The opened file.
        name (str): Name of the file, for messages.

    Raises:
        DamagedFileError: The archive holds other files than arrays.

    """

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self.name = name
        self._infos = {info.filename.removesuffix('.npy'): info for info in archive.infolist()}
        names = archive.namelist()
        if names and not any(name.endswith('.npy') for name in names):
            with self._reading():
                is_torch = any(name.endswith('/data.pkl') for name in names)
                hint = ', but PyTorch wrote it: see chainer.serializers.open_weights'
                raise ValueError('it holds no arrays' + hint * is_torch)
        self._names_checked = False

    def _reading(self):
        return _damaged_file.reading(self.name, 'an npz file')

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def __contains__(self, key: object) -> bool:
        if key in self._infos:
            return True
        self._check_names()
        return False

    def _check_names(self):
        """Compares both copies of each name: an array may be missing because of a flipped bit."""
        if self._names_checked:
            return
        with self._reading():
            for info in self._archive.infolist():
                self._archive.open(info).close()
        self._names_checked = True

    def find(self, key: str) -> _storage.Stored:
        """Returns an array whose data is not read yet.

        Args:
            key (str): Name of the array.

        Raises:
            KeyError: There is no such array.
            DamagedFileError: The header is damaged, its sizes are not those of the entry, or there
                is no such array and names are damaged.
            ValueError: The array holds Python objects other than ``None``.

        """
        if key not in self:
            raise KeyError(key)
        info = self._infos[key]
        with self._reading():
            _check_sizes(info, self._archive.start_dir)
            member = self._archive.open(info)
            head = member.read(_HEADER_SIZE)
            shape, fortran_order, dtype, position = _read_header(head)
            head = head[position:]
            if not dtype.hasobject:
                _check_claim(shape, dtype, info.file_size - position)
        if dtype.hasobject:
            with self._reading():
                pickled = head + member.read(_HEADER_SIZE)
            self._check_none(info, pickled, shape, dtype)
            return _storage.Stored.of(numpy.asarray(None))

        def read():
            with self._reading(), member:
                return _read_data(shape, fortran_order, dtype, head, member)

        return _storage.Stored(shape, dtype, read)

    def _check_none(self, info, pickled, shape, dtype):
        if not (shape == () and dtype.kind == 'O' and _none_marker.is_none_marker(pickled)):
            raise ValueError(
                f"cannot load '{self.name}': '{info.filename}' holds Python objects, which are "
                'not loaded because unpickling them could run any code'
            )


@contextlib.contextmanager
def open_npz(file: str | PathLike[str] | IO[Any]) -> Iterator[NpzArchive]:
    """Opens an npz file.

    Args:
        file (str, path or file-like): File to read.

    Returns:
        NpzArchive: Mapping that is usable until the end of the block.

    Raises:
        DamagedFileError: The file is not an npz file.
        TypeError: ``file`` is something else.

    """
    name = _damaged_file.name_of(file)
    with contextlib.ExitStack() as stack:
        f = stack.enter_context(_storage.opened(file))
        with _damaged_file.reading(name, 'an npz file'):
            archive = stack.enter_context(zipfile.ZipFile(f))
        yield NpzArchive(archive, name)


def _check_sizes(info, archive_size):
    """Checks the sizes of an entry against each other and the archive."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # NumPy and Chainer never write others, and zipfile unpacks them without a limit.
        raise ValueError(f"'{info.filename}' has the unsupported compression {info.compress_type}")
    ratio = 1 if info.compress_type == zipfile.ZIP_STORED else _damaged_file.DEFLATE_RATIO
    if info.compress_size > archive_size or info.file_size > ratio * info.compress_size:
        raise ValueError(
            f"'{info.filename}' claims {info.file_size} bytes from {info.compress_size} bytes in "
            f'an archive of {archive_size} bytes'
        )


def _read_header(head):
    """Returns shape, order, dtype and size of the header."""
    f = io.BytesIO(head)
    version = numpy.lib.format.read_magic(f)
    try:
        if version == (1, 0):
            header = numpy.lib.format.read_array_header_1_0(f)
        elif version in ((2, 0), (3, 0)):
            header = numpy.lib.format.read_array_header_2_0(f)
        else:
            raise ValueError(f'unknown version {version} of the array format')
    except MemoryError:  # nested too deeply for Python's parser
        raise ValueError('the header of an array is too complex') from None
    return *header, f.tell()


def _check_claim(shape, dtype, size):
    if any(n < 0 for n in shape) or dtype.itemsize == 0 or dtype.subdtype is not None:
        raise ValueError(f'no array has shape {shape} and dtype {dtype}')
    if math.prod(shape) * dtype.itemsize != size:
        raise ValueError(
            f'the header claims an array of shape {shape} and dtype {dtype}, but there are '
            f'{size} bytes'
        )


def _read_data(shape, fortran_order, dtype, head, member):
    array = numpy.empty(shape[::-1] if fortran_order else shape, dtype)
    data = memoryview(array.reshape(-1).view(numpy.uint8))
    position = len(head)
    data[:position] = head
    while position < len(data):
        size = member.readinto(data[position : position + _CHUNK_SIZE])
        if size == 0:
            raise EOFError('the data is truncated')
        position += size
    return array.transpose() if fortran_order else array
