"""The safetensors format: a header in JSON, then the bytes of all tensors without a gap.

See https://github.com/huggingface/safetensors for the format.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import struct
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy

from chainer.serializers import _storage
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

METADATA = '__metadata__'
_MAX_HEADER = 100_000_000  # that of the format
# A parsed header takes several times its size. Files whose tensors are much smaller than their
# names are no models.
_FREE_HEADER, _DATA_PER_HEADER = 1 << 20, 8
_DTYPES = {
    'BOOL': '?', 'U8': 'u1', 'I8': 'i1', 'U16': '<u2', 'I16': '<i2', 'U32': '<u4', 'I32': '<i4',
    'U64': '<u8', 'I64': '<i8', 'F16': '<f2', 'F32': '<f4', 'F64': '<f8', 'C64': '<c8',
    'BF16': '<u2',
}  # fmt: skip
_NAMES = {numpy.dtype(char): name for name, char in _DTYPES.items() if name != 'BF16'}
_Size = struct.Struct('<Q')


class _Entry(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class SafetensorsFile(_storage.Archive):
    """Mapping from the names of a safetensors file to its tensors, as NumPy arrays.

    Each access reads its tensor. Those of bfloat16 become float32, which holds the same values.

    Attributes:
        name (str): Name of the file, for messages.
        metadata (dict): Texts by name, which the author of the file added.

    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.name = name
        self._file = file
        with self._reading():
            self._start, self._entries, self.metadata = _read_header(file)

    def _reading(self) -> contextlib.AbstractContextManager[None]:
        return _damaged_file.reading(self.name, 'a safetensors file')

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: str) -> _storage.Stored:
        """Returns a tensor whose data is not read yet.

        Args:
            key (str): Name of the tensor.

        Raises:
            KeyError: There is no such tensor.
            TypeError: It has a dtype that NumPy lacks.

        """
        entry = self._entries[key]
        if entry.dtype not in _DTYPES:
            raise TypeError(f"cannot load '{key}': NumPy has no dtype like {entry.dtype}")
        is_bfloat16 = entry.dtype == 'BF16'
        dtype = numpy.dtype(_DTYPES[entry.dtype])

        def read() -> numpy.ndarray:
            array = numpy.empty(entry.shape, dtype)
            with self._reading():
                self._file.seek(self._start + entry.begin)
                fill(array, self._file)
            return widen(array) if is_bfloat16 else array

        return _storage.Stored(entry.shape, numpy.dtype('f') if is_bfloat16 else dtype, read)


def widen(bits: numpy.ndarray) -> numpy.ndarray:
    """Makes float32 of the bits of bfloat16, in uint16."""
    wide = bits.astype('<u4')
    numpy.left_shift(wide, numpy.uint32(16), out=wide)
    return wide.view('<f4')


def fill(array: numpy.ndarray, file: IO[bytes]) -> None:
    """Reads the bytes of a contiguous array from where a file is."""
    data = memoryview(array.reshape(-1).view(numpy.uint8))
    position = 0
    while position < len(data):
        if isinstance(file, (io.RawIOBase, io.BufferedIOBase)):
            size = file.readinto(data[position:]) or 0
        else:
            chunk = file.read(min(len(data) - position, 1 << 20))
            size = len(chunk)
            data[position : position + size] = chunk
        if size == 0:
            raise EOFError('the data is truncated')
        position += size


def _read_header(file: IO[bytes]) -> tuple[int, dict[str, _Entry], dict[str, str]]:
    """Returns where the data begins, the tensors, and the metadata."""
    file_size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(_Size.size)
    if len(head) < _Size.size:
        raise ValueError('it is shorter than the length of a header')
    (size,) = _Size.unpack(head)
    data_size = file_size - _Size.size - size
    if size > _MAX_HEADER or data_size < 0:
        raise ValueError(f'a header of {size} bytes in a file of {file_size} bytes')
    if size > _FREE_HEADER and size * _DATA_PER_HEADER > data_size:
        raise ValueError(f'a header of {size} bytes describes no more than {data_size} bytes')
    text = file.read(size)
    if text[:1] != b'{':
        raise ValueError('the header does not begin with a brace')
    try:
        header = json.loads(
            text.decode(), object_pairs_hook=_parse_object, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError('the header is nested too deeply') from None
    metadata = header.pop(METADATA, {})
    if not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError(f'{METADATA} holds more than texts')
    _check_layout(header, data_size)
    return _Size.size + size, header, metadata


def _refuse_constant(text: str) -> None:
    raise ValueError(f'{text} in the header')


def _parse_object(pairs: list[tuple[str, Any]]) -> Any:
    """Turns an object of the header into a dictionary, or into an entry, which is smaller."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError('a name stands twice in the header')
    if found.keys() != {'dtype', 'shape', 'data_offsets'} or not isinstance(found['shape'], list):
        return found
    shape, offsets = found['shape'], found['data_offsets']
    if not isinstance(found['dtype'], str) or not isinstance(offsets, list) or len(offsets) != 2:
        raise ValueError(f'the header has an entry {found}')
    for number in (*shape, *offsets):
        if type(number) is not int or number < 0:
            raise ValueError(f'{number!r} is no size')
    return _Entry(found['dtype'], tuple(shape), *offsets)


def _check_layout(header: dict[str, Any], data_size: int) -> None:
    """Checks that the tensors follow each other and fill the data."""
    for key, entry in header.items():
        if not isinstance(entry, _Entry):
            raise ValueError(f"'{key}' is no entry of a tensor")
        if entry.dtype in _DTYPES:
            size = math.prod(entry.shape) * numpy.dtype(_DTYPES[entry.dtype]).itemsize
            if size != entry.end - entry.begin:
                raise ValueError(
                    f"'{key}' claims shape {entry.shape} and dtype {entry.dtype}, but has "
                    f'{entry.end - entry.begin} bytes'
                )
    position = 0
    for key, entry in sorted(header.items(), key=lambda item: item[1][2:]):
        if entry.begin != position or entry.end < entry.begin:
            raise ValueError(
                f"'{key}' has bytes {entry.begin} to {entry.end}, but the next are at {position}"
            )
        position = entry.end
    if position != data_size:
        raise ValueError(f'the tensors have {position} bytes, the file has {data_size}')


@contextlib.contextmanager
def open_safetensors(file: str | PathLike[str] | IO[bytes]) -> Iterator[SafetensorsFile]:
    """Opens a safetensors file, to look at its tensors by name.

    Args:
        file (str, path or file-like): File to read. It has to be seekable.

    Returns:
        Mapping from names to NumPy arrays that is usable until the end of the block, and reads
        each array when it is asked for. Those of bfloat16 become float32, which holds the same
        values. Its attribute ``metadata`` is a dictionary of texts.

    Raises:
        ValueError: The file is damaged or not a safetensors file; the error is an ``OSError``, too.
        ValueError: The header has more than 1 MiB, and the tensors less than eight times as much.
        TypeError: ``file`` is something else.

    .. admonition:: Example

        Weights of another library, whose names differ:

        >>> import io
        >>> file = io.BytesIO()
        >>> weights = {'fc.weight': np.ones((2, 3), 'f'), 'fc.bias': np.zeros(2, 'f')}
        >>> chainer.serializers.save_safetensors(file, weights)
        >>> model = L.Linear(3, 2)
        >>> with chainer.serializers.open_safetensors(file) as tensors:
        ...     renamed = {'W': tensors['fc.weight'], 'b': tensors['fc.bias']}
        >>> chainer.serializers.NpzDeserializer(renamed).load(model)
        >>> model.W.array[0]
        array([1., 1., 1.], dtype=float32)

    """
    with _storage.opened(file) as f:
        yield SafetensorsFile(f, _damaged_file.name_of(file))


def write(file: IO[bytes], arrays: Mapping[str, numpy.ndarray], metadata: dict[str, str]) -> None:
    """Writes arrays.

    Args:
        file: File to write to.
        arrays (dict): NumPy arrays by name.
        metadata (dict): Texts by name.

    Raises:
        TypeError: The format has no such dtype. Nothing is written then.

    """
    header: dict[str, Any] = {METADATA: metadata} if metadata else {}
    # Large elements first, so that each tensor is aligned in memory that maps the file.
    names = sorted(arrays, key=lambda key: (-arrays[key].dtype.itemsize, key))
    position = 0
    for key in names:
        array = arrays[key]
        end = position + array.nbytes
        header[key] = {
            'dtype': _dtype_name(key, array.dtype),
            'shape': array.shape,
            'data_offsets': (position, end),
        }
        position = end
    text = json.dumps(header, separators=(',', ':'), ensure_ascii=False).encode()
    text += b' ' * (-len(text) % 8)
    file.write(_Size.pack(len(text)) + text)
    for key in names:
        array = arrays[key]
        little = numpy.asarray(array, array.dtype.newbyteorder('<'), order='C')
        file.write(memoryview(little.reshape(-1).view(numpy.uint8)))


def _dtype_name(key: str, dtype: numpy.dtype) -> str:
    if key == METADATA:
        raise ValueError(f'no tensor can have the name {METADATA}')
    if dtype.name == 'bfloat16':  # of ml_dtypes
        return 'BF16'
    name = _NAMES.get(dtype.newbyteorder('<'))
    if name is None:
        what = 'None' if dtype.kind == 'O' else f'an array of dtype {dtype}'
        raise TypeError(
            f"cannot save '{key}': it is {what}, for which safetensors has no dtype; save_npz does"
        )
    return name
