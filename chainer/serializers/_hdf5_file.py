"""Datasets of an HDF5 file, checked before they are read, and without leaving the file."""

from __future__ import annotations

import collections
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer.serializers import _storage
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    import contextlib

# Files may leave out values that are all equal; so much needs no bytes in the file.
_FREE_SIZE = 1 << 20
# As many soft links as HDF5 follows for one path.
_MAX_LINKS = 16


def reading(group: Any) -> contextlib.AbstractContextManager[None]:
    """Turns the errors of h5py in a block into one about a damaged file."""
    return _damaged_file.reading(group.file.filename, 'an HDF5 file')


def find(group: Any, key: str) -> Any:
    """Returns the object of a path below a group, or ``None`` if there is none.

    Soft links lead to places in the same file. Links to other files are refused.

    Args:
        group (h5py.Group): Group to start from.
        key (str): Path.

    Raises:
        DamagedFileError: The path leads out of the file, or the file is damaged.

    """
    with reading(group):
        return _find(group, key)


def _find(group, key):
    import h5py

    node = group
    parts = collections.deque(key.split('/'))
    n_links = 0
    while parts:
        part = parts.popleft()
        if part in ('', '.'):
            continue
        link = node.get(part, getlink=True) if isinstance(node, h5py.Group) else None
        if link is None:
            return None
        if isinstance(link, h5py.HardLink):
            node = node[part]
            continue
        n_links += 1
        if not isinstance(link, h5py.SoftLink) or n_links > _MAX_LINKS:
            raise ValueError(f"'{node.name}/{part}' leads to another file or in a circle")
        if link.path.startswith('/'):
            node = node.file['/']
        parts.extendleft(reversed(link.path.split('/')))
    return node


def stored(dataset: Any) -> _storage.Stored | None:
    """Returns the array of a dataset, not read yet, or ``None`` for an empty dataset.

    Args:
        dataset (h5py.Dataset): Dataset.

    Raises:
        DamagedFileError: The data is in another file, there cannot be as much as claimed, or it
            is of a type that is no array.

    """
    import h5py

    with reading(dataset):
        if not isinstance(dataset, h5py.Dataset):
            raise ValueError(f"'{dataset.name}' is not an array")
        _check_layout(dataset)
        shape, dtype = dataset.shape, dataset.dtype
        if shape is None:
            return None
        limit = _limit(dataset)
        _check_size(dataset, math.prod(shape) * dtype.itemsize, limit)
        is_text = h5py.check_string_dtype(dtype) is not None
        if dtype.hasobject and not is_text:
            raise ValueError(f"'{dataset.name}' holds lists or references")

    if is_text:
        read = functools.partial(_read_texts, dataset, limit)
        return _storage.Stored(shape, numpy.dtype(str), read)
    return _storage.Stored(shape, dtype, functools.partial(_read_numbers, dataset))


def _read_numbers(dataset):
    with reading(dataset):
        return numpy.asarray(dataset[()])


def _read_texts(dataset, limit):
    with reading(dataset):
        texts = numpy.asarray(dataset.asstr()[()], object)
        # NumPy gives each text as much room as the longest one.
        size = texts.size * max(map(len, texts.ravel()), default=0)
        _check_size(dataset, size * numpy.dtype('U1').itemsize, limit)
        return texts.astype(str)


def _check_layout(dataset):
    import h5py

    plist = dataset.id.get_create_plist()
    if plist.get_layout() == h5py.h5d.VIRTUAL or plist.get_external_count() > 0:
        raise ValueError(f"the data of '{dataset.name}' is in another file")
    filters = [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]
    if len(set(filters)) < len(filters):
        raise ValueError(f"'{dataset.name}' is compressed several times")


def _limit(dataset):
    """Returns how many bytes a dataset can stand for."""
    size = min(dataset.id.get_storage_size(), dataset.file.id.get_filesize())
    return _damaged_file.DEFLATE_RATIO * size + _FREE_SIZE


def _check_size(dataset, size, limit):
    if dataset.chunks is not None:
        # HDF5 reads whole chunks.
        size = max(size, math.prod(dataset.chunks) * dataset.dtype.itemsize)
    if size > limit:
        raise ValueError(f"'{dataset.name}' claims {size} bytes, but the file has no such data")
