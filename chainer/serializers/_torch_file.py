"""Checkpoints of PyTorch, dictionaries of tensors, without PyTorch and without running code.

Since release 1.6 a checkpoint is a zip file: ``data.pkl`` describes the tensors, ``data/KEY`` holds
the elements of a storage. Before, it is a sequence of five pickles, followed by the storages.
"""

from __future__ import annotations

import math
import os
import struct
import zipfile
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy

from chainer.serializers import _storage, _torch_pickle
from chainer.serializers._safetensors_file import fill, widen
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator

# The pickle of the number that begins an old file
_OLD_MAGIC = b'\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.'
_ZIP_MAGIC = b'PK\x03\x04'
_LOCAL_HEADER = struct.Struct('<26xHH')  # of a member of a zip file; the lengths of name and extra
_Size = struct.Struct('<q')
# As for safetensors: files whose tensors are much smaller than their names are no models.
_FREE_PICKLE, _DATA_PER_PICKLE = 1 << 20, 8
_TOO_LONG = 'the description of the tensors is too long'
_BFLOAT16 = 'torch.BFloat16Storage'
_DTYPES = {
    f'torch.{name}Storage': dtype
    for name, dtype in {
        'Bool': '?', 'Byte': 'u1', 'Char': 'i1', 'Short': 'i2', 'Int': 'i4', 'Long': 'i8',
        'Half': 'f2', 'BFloat16': 'u2', 'Float': 'f4', 'Double': 'f8', 'ComplexFloat': 'c8',
        'ComplexDouble': 'c16',
    }.items()
}  # fmt: skip


def is_torch(file: IO[bytes]) -> bool:
    """Returns whether a file looks like a checkpoint of PyTorch."""
    file.seek(0)
    head = file.read(len(_OLD_MAGIC))
    file.seek(0)
    # The first bytes of a safetensors file are a length, and may be any.
    return head == _OLD_MAGIC or (head.startswith(_ZIP_MAGIC) and head[8:9] != b'{')


class _Limited:
    """File whose pickles may have so many bytes; they may ask for any number."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._left = size

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ValueError(_TOO_LONG)

    def read(self, size: int) -> bytes:
        self._take(size)
        return self._file.read(size)

    def readline(self) -> bytes:
        line = self._file.readline(self._left + 1)
        self._take(len(line))
        return line


class TorchFile(_storage.Archive):
    """Mapping from the names of a checkpoint to its tensors, as NumPy arrays.

    Attributes:
        name (str): Name of the file, for messages.

    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.name = name
        self._file = file
        self._file_size = file.seek(0, os.SEEK_END)
        with self._reading():
            file.seek(0)
            is_old = file.read(len(_OLD_MAGIC)) == _OLD_MAGIC
            described, self._places, self._order = (self._read_old if is_old else self._read_zip)()
            self._tensors = _check_tensors(described)
            for tensor in self._tensors.values():
                self._check_storage(tensor.storage)

    def _reading(self):
        return _damaged_file.reading(self.name, 'a checkpoint of PyTorch')

    def _read_zip(self) -> tuple[Any, dict[str, tuple[int, int]], Literal['<', '>']]:
        """Returns the described object, where storages begin and end, and the order of bytes."""
        with zipfile.ZipFile(self._file) as archive:
            members = {info.filename: info for info in archive.infolist()}
            (pickle,) = [name for name in members if name.rpartition('/')[2] == 'data.pkl']
            if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
                raise ValueError('it is compressed')
            if members[pickle].file_size > self._pickle_limit():
                raise ValueError(_TOO_LONG)
            described = _torch_pickle.load(archive.read(pickle))
            root = pickle.removesuffix('data.pkl')
            order = root + 'byteorder'
            is_big = order in members and archive.read(order) == b'big'
        places = {
            name.removeprefix(f'{root}data/'): self._place(info)
            for name, info in members.items()
            if name.startswith(f'{root}data/')
        }
        return described, places, '>' if is_big else '<'

    def _place(self, info: zipfile.ZipInfo) -> tuple[int, int]:
        self._file.seek(info.header_offset)
        lengths = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
        begin = self._file.tell() + sum(lengths)
        return begin, begin + info.file_size

    def _read_old(self) -> tuple[Any, dict[str, tuple[int, int]], Literal['<', '>']]:
        limited: Any = _Limited(self._file, self._pickle_limit())
        _protocol, system, described, keys = [_torch_pickle.load(limited) for _ in range(4)]
        storages = {
            tensor.storage.key: tensor.storage for tensor in _check_tensors(described).values()
        }
        places = {}
        for key in map(str, keys):
            (size,) = _Size.unpack(self._file.read(_Size.size))
            if key not in storages or size != storages[key].size:
                raise ValueError(f'the storage {key} has {size} elements')
            begin = self._file.tell()
            end = self._file.seek(size * _dtype(storages[key]).itemsize, os.SEEK_CUR)
            places[key] = begin, end
        return described, places, '<' if system['little_endian'] else '>'

    def _pickle_limit(self) -> int:
        return max(_FREE_PICKLE, self._file_size // _DATA_PER_PICKLE)

    def _check_storage(self, storage: _torch_pickle.Storage) -> None:
        begin, end = self._places[storage.key]
        size = storage.size * _dtype(storage).itemsize
        if size > end - begin or end > self._file_size:
            raise ValueError(f'the storage {storage.key} has less than {size} bytes')

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def find(self, key: str) -> _storage.Stored:
        """Returns a tensor whose data is not read yet.

        Args:
            key (str): Name of the tensor.

        Raises:
            KeyError: There is no such tensor.

        """
        tensor = self._tensors[key]
        is_bfloat16 = tensor.storage.kind == _BFLOAT16
        dtype = _dtype(tensor.storage)

        def read() -> numpy.ndarray:
            array = self._read(tensor, dtype.newbyteorder(self._order))
            return widen(array) if is_bfloat16 else array.astype(dtype, copy=False)

        return _storage.Stored(tensor.shape, numpy.dtype('f') if is_bfloat16 else dtype, read)

    def _read(self, tensor: _torch_pickle.Tensor, dtype: numpy.dtype) -> numpy.ndarray:
        block = numpy.empty(_extent(tensor), dtype)
        with self._reading():
            begin, _ = self._places[tensor.storage.key]
            self._file.seek(begin + tensor.offset * dtype.itemsize)
            fill(block, self._file)
        strides = [stride * dtype.itemsize for stride in tensor.strides]
        view = numpy.lib.stride_tricks.as_strided(block, tensor.shape, strides)
        return numpy.ascontiguousarray(view).reshape(tensor.shape)


def _dtype(storage: _torch_pickle.Storage) -> numpy.dtype:
    if storage.kind not in _DTYPES:
        raise ValueError(f'it holds an object of {storage.kind}, not only tensors')
    return numpy.dtype(_DTYPES[storage.kind])


def _extent(tensor: _torch_pickle.Tensor) -> int:
    """Returns how many elements of a storage, behind the offset, a tensor spans."""
    if 0 in tensor.shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides))


def _check_tensors(described: Any) -> dict[str, _torch_pickle.Tensor]:
    """Returns the described tensors; an object of anything else is refused."""
    if not isinstance(described, dict):
        raise ValueError(f'it holds a {type(described).__name__}, not a dictionary of tensors')
    for name, tensor in described.items():
        if not isinstance(name, str) or not isinstance(tensor, _torch_pickle.Tensor):
            raise ValueError(f'{name!r} is no name of a tensor')
        room = tensor.storage.size - tensor.offset
        if _extent(tensor) > room or math.prod(tensor.shape) > tensor.storage.size:
            raise ValueError(f'{name!r} is larger than its storage')
    return described
