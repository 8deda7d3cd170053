"""Tensors of a file as NumPy arrays: inside of it, in files beside it, and sparse ones."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from . import _files
from .errors import ModelError, naming

if TYPE_CHECKING:
    from collections.abc import Sequence

# Types of which several elements share a byte.
_BITS = {
    getattr(TensorProto, name): bits
    for name, bits in (('UINT4', 4), ('INT4', 4), ('FLOAT4E2M1', 4), ('UINT2', 2), ('INT2', 2))
    if hasattr(TensorProto, name)
}


def dtype_of(elem_type: int) -> np.dtype[Any]:
    """The dtype of arrays with an element type of ONNX; strings are objects."""
    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(elem_type))
    except (KeyError, TypeError) as error:
        raise ModelError(f'there is no element type {elem_type}') from error


def elem_type_of(dtype: Any) -> int:
    """The element type of ONNX for a dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind in 'OSU':
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(dtype)


def _physical_memory() -> int:
    try:
        return os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    except (AttributeError, OSError, ValueError):
        return 2**47


_MOST_BYTES = _physical_memory()


def checked_size(shape: Sequence[int], itemsize: int) -> int:
    """Number of elements of an array that a file asks for.

    Raises:
        ModelError: A dimension is negative, or the array would not fit into the machine's memory.
    """
    if any(n < 0 for n in shape):
        raise ModelError(f'the shape {tuple(shape)} has a negative dimension')
    size = math.prod(int(n) for n in shape)
    if size * itemsize > _MOST_BYTES:
        raise ModelError(
            f'the shape {tuple(shape)} needs {size * itemsize} bytes, '
            f'and this machine has {_MOST_BYTES}'
        )
    return size


def _byte_count(size: int, elem_type: int) -> int:
    if elem_type in _BITS:
        return -(-size * _BITS[elem_type] // 8)
    return size * dtype_of(elem_type).itemsize


def read_tensor(tensor: TensorProto, folder: Path | None) -> np.ndarray[Any, Any]:
    """The tensor as an array of its own memory.

    Args:
        tensor: The tensor.
        folder: Where the files of external data are; ``None`` allows none.
    """
    with naming(f'tensor {tensor.name!r}' if tensor.name else 'a tensor'):
        if tensor.data_type == TensorProto.UNDEFINED:
            raise ModelError('it has no element type')
        dtype = dtype_of(tensor.data_type)
        size = checked_size(tensor.dims, dtype.itemsize)
        expected = _byte_count(size, tensor.data_type)
        if tensor.data_location == TensorProto.EXTERNAL:
            if tensor.data_type not in _BITS and dtype.kind != 'O':
                return _external_array(tensor, folder, dtype, expected)
            whole = TensorProto()
            whole.CopyFrom(tensor)
            whole.ClearField('external_data')
            whole.data_location = TensorProto.DEFAULT
            whole.raw_data = _external_bytes(tensor, folder, expected).tobytes()
            tensor = whole
        elif tensor.HasField('segment'):
            raise ModelError('it is a segment of a tensor, which is not supported')
        elif tensor.HasField('raw_data') and len(tensor.raw_data) != expected:
            raise ModelError(
                f'it has {len(tensor.raw_data)} bytes, and {expected} belong to its shape '
                f'{tuple(tensor.dims)}'
            )
        array = np.array(numpy_helper.to_array(tensor))
        if array.shape != tuple(tensor.dims):
            raise ModelError(f'it has the shape {array.shape} and says {tuple(tensor.dims)}')
        if array.dtype.kind == 'O':
            array = decode_strings(array)
        return array


def decode_strings(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Strings, which files keep as bytes, as ``str``."""
    out = np.empty(array.shape, object)
    for i, value in enumerate(array.ravel()):
        out.ravel()[i] = value.decode() if isinstance(value, bytes) else value
    return out


def _external_array(tensor, folder, dtype, expected):
    """External data as an array, without a copy: it may be large."""
    array = _external_bytes(tensor, folder, expected).view(dtype.newbyteorder('<'))
    if dtype.kind == 'b':
        array = array.view(np.uint8) != 0
    return array.reshape(tuple(tensor.dims)).astype(dtype, copy=False)


def _external_bytes(
    tensor: TensorProto, folder: Path | None, expected: int
) -> np.ndarray[Any, Any]:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get('location', '')
    if folder is None:
        raise ModelError(f'its data is in {location!r}, and a model in memory has no folder')
    if not location:
        raise ModelError('its data is in another file without a name')
    offset = int(entries.get('offset', 0))
    length = int(entries.get('length', expected))
    if length != expected:
        raise ModelError(f'its data has {length} bytes, and {expected} belong to its shape')
    with _files.open_beneath(folder, location) as file:
        size = os.fstat(file.fileno()).st_size
        if not 0 <= offset <= size - length:
            raise ModelError(
                f'its data is at {offset} to {offset + length} of {location!r}, '
                f'which has {size} bytes'
            )
        return _files.read(file, offset, length)


def read_sparse(tensor: onnx.SparseTensorProto, folder: Path | None) -> np.ndarray[Any, Any]:
    """A sparse tensor as a dense array."""
    values = read_tensor(tensor.values, folder)
    indices = read_tensor(tensor.indices, folder)
    size = checked_size(tensor.dims, values.dtype.itemsize)
    if indices.ndim == 2:
        if indices.shape != (len(values), len(tensor.dims)):
            raise ModelError(f'sparse tensor {tensor.values.name!r}: wrong shape of indices')
        if np.any(indices < 0) or np.any(indices >= np.array(tensor.dims)):
            raise ModelError(f'sparse tensor {tensor.values.name!r}: indices out of bounds')
        indices = np.ravel_multi_index(tuple(indices.T), tuple(tensor.dims))
    if indices.shape != values.shape or np.any(indices < 0) or np.any(indices >= size):
        raise ModelError(f'sparse tensor {tensor.values.name!r}: indices out of bounds')
    dense = np.zeros(size, values.dtype)
    dense[indices] = values
    return dense.reshape(tuple(tensor.dims))
