"""Serialization to HDF5, which requires h5py."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import uuid
from typing import TYPE_CHECKING, Any

from chainer import serializer as serializer_module
from chainer.serializers import _hdf5_file, _storage
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from os import PathLike

    from chainer.serializer import AbstractSerializer


_BLOCK = 1 << 20  # bytes by which a file in memory grows
_available = importlib.util.find_spec('h5py') is not None


def _import_h5py():
    try:
        import h5py
    except ImportError:
        raise RuntimeError(
            'h5py is not installed on your environment; HDF5 files need it (pip install h5py)'
        ) from None
    return h5py


def _join(group, key):
    return f'{group.name.rstrip("/")}/{key.strip("/")}'


class HDF5Serializer(serializer_module.Serializer):
    """Serializer that writes into an HDF5 group.

    Args:
        group (h5py.Group): Group to write into.
        compression (int): Level of gzip compression, or ``None``. Does not
            compress arrays of at most one element.

    Raises:
        RuntimeError: h5py is not installed.

    .. admonition:: Example

        >>> import h5py
        >>> with h5py.File('memory', 'w', driver='core', backing_store=False) as file:
        ...     chainer.serializers.HDF5Serializer(file).save(L.Linear(3, 2))
        ...     sorted(file), file['W'].shape
        (['W', 'b'], (2, 3))

    """

    def __init__(self, group: Any, compression: int = 4) -> None:
        _import_h5py()
        self.group = group
        self.compression = compression

    def __getitem__(self, key: str) -> AbstractSerializer:
        name = _join(self.group, key)
        return HDF5Serializer(self.group.require_group(name), self.compression)

    def __call__(self, key: str, value: Any) -> Any:
        h5py = _import_h5py()
        name = _join(self.group, key)
        if value is None:
            self.group.create_dataset(name, data=h5py.Empty('f'))
            return value
        array = _storage.without_bfloat16(_storage.to_numpy(value))
        if array.dtype.kind == 'U':
            array = array.astype(h5py.string_dtype())
        options = {}
        if array.size > 1:
            options = {'compression': self.compression, 'fletcher32': array.dtype.kind != 'O'}
        self.group.create_dataset(name, data=array, **options)
        return value


class HDF5Deserializer(serializer_module.Deserializer):
    """Deserializer that reads from an HDF5 group.

    It reads nothing outside of the file: it refuses links to other files, and datasets whose data
    is in other files.

    Args:
        group (h5py.Group): Group to read from. ``None`` stands for a group that the file lacks.
        strict (bool): If ``True``, a missing value raises ``KeyError``. If
            ``False``, it keeps its value.

    Raises:
        RuntimeError: h5py is not installed.

    .. admonition:: Example

        >>> import h5py
        >>> model = L.Linear(3, 2)
        >>> with h5py.File('memory', 'w', driver='core', backing_store=False) as file:
        ...     file['W'] = np.ones((2, 3))
        ...     chainer.serializers.HDF5Deserializer(file, strict=False).load(model)
        >>> model.W
        variable W([[1., 1., 1.],
                    [1., 1., 1.]])

    """

    def __init__(self, group: Any, strict: bool = True) -> None:
        _import_h5py()
        self.group = group
        self.strict = strict

    def __getitem__(self, key: str) -> AbstractSerializer:
        if self._is_missing():
            return self
        group = _hdf5_file.find(self.group, key)
        if group is None and self.strict:
            raise self._not_found(key)
        child = HDF5Deserializer(group, self.strict)
        child._journal = self._journal
        return child

    def _is_missing(self):
        if self.group is None and self.strict:
            raise ValueError('group is None, which only a deserializer with strict=False accepts')
        return self.group is None

    def _not_found(self, key):
        with _hdf5_file.reading(self.group):
            names = [_join(self.group, name) for name in self.group]
        remedy = (
            'HDF5Deserializer(file, strict=False) to keep the current values of all that is missing'
        )
        name = self.group.file.filename
        return _storage.not_found(_join(self.group, key), name, names, remedy)

    def __call__(self, key: str, value: Any) -> Any:
        if self._is_missing():
            return value
        name = _join(self.group, key)
        dataset = _hdf5_file.find(self.group, key)
        if dataset is None:
            if self.strict:
                raise self._not_found(key)
            return value
        stored = _hdf5_file.stored(dataset)
        return None if stored is None else _storage.restore(name, value, stored, self._journal)


def save_hdf5(filename: str | PathLike[str], obj: Any, compression: int = 4) -> None:
    """Saves an object to a file in HDF5 format.

    It makes the file in memory, which takes twice the size of the file for a moment, and replaces
    an old file only after writing everything. So a failure, such as a full disk, loses no data.

    Args:
        filename (str or path): Target file.
        obj: Object with a ``serialize`` method, e.g. a link.
        compression (int): Level of gzip compression.

    Raises:
        RuntimeError: h5py is not installed.
        OSError: The file cannot be written, for example because the disk is full.
        TypeError: A value is not an array, number, string or ``None``.

    .. admonition:: Example

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'model.h5')
        ...     chainer.serializers.save_hdf5(path, L.Linear(3, 2))
        ...     os.listdir(folder)
        ['model.h5']

    """
    h5py = _import_h5py()
    # HDF5's library ends the process if it cannot write to a disk. It takes two files of one name
    # for the same, in memory, too.
    with h5py.File(
        uuid.uuid4().hex, 'w', driver='core', backing_store=False, block_size=_BLOCK
    ) as f:
        HDF5Serializer(f, compression=compression).save(obj)
        f.flush()
        image = f.id.get_file_image()
    with _storage.atomic_path(filename) as path, open(path, 'wb') as file:
        file.write(image)
        file.flush()
        os.fsync(file.fileno())


def load_hdf5(filename: str | PathLike[str], obj: Any) -> None:
    """Loads an object from a file in HDF5 format.

    It reads the values that the object asks for, after comparing their shapes and
    dtypes, and nothing outside of the file: no external links, external storage or
    virtual datasets. If a value is damaged or does not fit the object, it raises an
    error and the object keeps its state.

    Args:
        filename (str or path): File to read.
        obj: Object with a ``serialize`` method, e.g. a link.

    Raises:
        RuntimeError: h5py is not installed.
        OSError: The file cannot be read, or a value is damaged or in another file. In the last
            two cases, the error is a ``ValueError``, too.
        KeyError: A value is missing.
        ValueError, TypeError: A shape or a dtype does not fit.

    .. admonition:: Example

        >>> import os, tempfile
        >>> model = L.Linear(3, 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'model.h5')
        ...     chainer.serializers.save_hdf5(path, L.Linear(3, 2, initialW=1))
        ...     chainer.serializers.load_hdf5(path, model)
        >>> model.W
        variable W([[1., 1., 1.],
                    [1., 1., 1.]])

    """
    h5py = _import_h5py()
    with contextlib.ExitStack() as stack:
        with _damaged_file.reading(filename, 'an HDF5 file', keep=(TypeError,)):
            f = stack.enter_context(h5py.File(filename, 'r'))
        _storage.load_all_or_nothing(HDF5Deserializer(f), obj)
