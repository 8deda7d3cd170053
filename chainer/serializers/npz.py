"""Serialization to NumPy's npz format."""

from __future__ import annotations

import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy

from chainer import serializer as serializer_module
from chainer.serializers import _none_marker, _npz_archive, _storage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from chainer.serializer import AbstractSerializer


class DictionarySerializer(serializer_module.Serializer):
    """Serializer that stores NumPy arrays in a dictionary.

    The keys are slash-separated paths such as ``'predictor/l1/W'``.

    Args:
        target (dict): Dictionary to fill. If ``None``, a new one is made.
        path (str): Prefix of the keys.

    Attributes:
        target (dict): The dictionary.

    .. admonition:: Example

        >>> serializer = chainer.serializers.DictionarySerializer()
        >>> serializer('x', 3)
        3
        >>> serializer['child']('y', 1.5)
        1.5
        >>> serializer.target
        {'x': array(3), 'child/y': array(1.5)}

    """

    def __init__(self, target: dict[str, Any] | None = None, path: str = '') -> None:
        self.target: dict[str, Any] = {} if target is None else target
        self.path = path

    def __getitem__(self, key: str) -> AbstractSerializer:
        return DictionarySerializer(self.target, self.path + key.strip('/') + '/')

    def __call__(self, key: str, value: Any) -> Any:
        self.target[self.path + key.lstrip('/')] = _storage.to_numpy(value)
        return value


def serialize(obj: Any) -> dict[str, Any]:
    """Returns a dictionary with the state of an object.

    Args:
        obj: Object with a ``serialize`` method, e.g. a link.

    Returns:
        dict: NumPy arrays by name. Arrays in main memory are not copied.

    .. admonition:: Example

        >>> from chainer.serializers import npz
        >>> arrays = npz.serialize(L.Linear(3, 2))
        >>> sorted((name, array.shape) for name, array in arrays.items())
        [('W', (2, 3)), ('b', (2,))]

    """
    s = DictionarySerializer()
    s.save(obj)
    return s.target


def save_npz(file: str | PathLike[str] | IO[Any], obj: Any, compression: bool = True) -> None:
    """Saves an object to a file in npz format.

    It replaces a file at a path only after writing everything, so a failure
    loses no data. It adds no suffix to the path.

    Args:
        file (str, path or file-like): Target file.
        obj: Object with a ``serialize`` method, e.g. a link, or a dictionary of arrays such as
            the result of :func:`~chainer.serializers.npz.serialize`.
        compression (bool): If ``True``, compresses the content.

    Raises:
        TypeError: A value is not an array, number, string or ``None``.

    .. seealso:: :func:`chainer.serializers.load_npz`

    .. admonition:: Example

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'model.npz')
        ...     chainer.serializers.save_npz(path, L.Linear(3, 2))
        ...     with np.load(path) as file:
        ...         sorted(file.files)
        ['W', 'b']

    """
    arrays = _storage.arrays_of(obj, serialize)
    _storage.write_file(file, lambda f: _write(f, arrays, compression))


def _write(f, arrays, compression):
    method = zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED
    with zipfile.ZipFile(f, 'w', method, allowZip64=True) as archive:
        for key, array in arrays.items():
            with archive.open(zipfile_info(key, method), 'w', force_zip64=True) as member:
                if array.dtype.kind == 'O':
                    numpy.lib.format.write_array_header_1_0(
                        member, {'shape': (), 'fortran_order': False, 'descr': '|O'}
                    )
                    member.write(_none_marker.MARKER)
                else:
                    array = _storage.without_bfloat16(array)
                    numpy.lib.format.write_array(member, array, allow_pickle=False)


def zipfile_info(key: str, method: int) -> zipfile.ZipInfo:
    """Returns the archive entry of an array.

    The time stamp is always in 1980, so that equal content makes equal files.

    Args:
        key (str): Name of the array.
        method (int): Compression, e.g. :data:`zipfile.ZIP_DEFLATED`.

    Returns:
        zipfile.ZipInfo: Entry of the name ``key`` + ``'.npy'``.

    .. admonition:: Example

        >>> import zipfile
        >>> info = chainer.serializers.npz.zipfile_info('W', zipfile.ZIP_STORED)
        >>> info.filename, info.date_time
        ('W.npy', (1980, 1, 1, 0, 0, 0))

    """
    info = zipfile.ZipInfo(key + '.npy')
    info.compress_type = method
    info.external_attr = 0o600 << 16
    return info


def load_npz(
    file: str | PathLike[str] | IO[Any],
    obj: Any,
    path: str = '',
    strict: bool = True,
    ignore_names: str | Callable[[str], bool] | Sequence[str | Callable[[str], bool]] | None = None,
) -> None:
    """Loads an object from a file in npz format.

    It reads the values that the object asks for, after comparing their shapes and
    dtypes, and never executes code from the file. If one of them is damaged or does
    not fit the object, it raises an error and the object keeps its state. A value
    that the object has no shape for, such as a parameter without data, may take
    1032 times as much memory as the file, the limit of compression.

    Args:
        file (str, path or file-like): File to read.
        obj: Object with a ``serialize`` method, e.g. a link.
        path (str): Prefix of the names of the object in the file, such as
            ``'updater/model:main/'``, with the slash, in a snapshot of a trainer.
        strict (bool): If ``True``, a value missing from the file raises
            ``KeyError``. If ``False``, such a value keeps its current value.
        ignore_names (str, callable, or list of them): Names of values to
            leave unchanged. A callable takes a name and returns whether to
            ignore it.

    Raises:
        ValueError: A value is damaged, or the file is not an npz file with the compression of
            NumPy (none or deflate); the error is an ``OSError`` and a ``BadZipFile``, too.
        ValueError: A value is a Python object.
        KeyError: A value is missing.
        ValueError, TypeError: A shape or a dtype does not fit.

    .. admonition:: Example

        >>> import io
        >>> file = io.BytesIO()
        >>> chainer.serializers.save_npz(file, L.Linear(3, 2, initialW=1))
        >>> model = L.Linear(3, 2)
        >>> chainer.serializers.load_npz(file, model)
        >>> model.W
        variable W([[1., 1., 1.],
                    [1., 1., 1.]])

    """
    with _npz_archive.open_npz(file) as archive:
        deserializer = NpzDeserializer(archive, path, strict, ignore_names)
        _storage.load_all_or_nothing(deserializer, obj)


def _list_names(ignore_names):
    if ignore_names is None:
        return []
    names = ignore_names if isinstance(ignore_names, (list, tuple)) else [ignore_names]
    for name in names:
        if not isinstance(name, str) and not callable(name):
            raise ValueError(
                f'ignore_names needs to be a callable, string or list of them, but {name!r} was '
                'given'
            )
    return names


class NpzDeserializer(serializer_module.Deserializer):
    """Deserializer for a dictionary of arrays or an opened npz file.

    Args:
        npz: Mapping from names to arrays, such as the ``target`` of
            :class:`~chainer.serializers.DictionarySerializer` or the result of
            ``numpy.load``.
        path (str): Prefix of the names.
        strict (bool): If ``True``, a missing value raises ``KeyError``. If
            ``False``, it keeps its value.
        ignore_names (str, callable, or list of them): Names of values to
            leave unchanged. A callable takes a name and returns whether to
            ignore it.

    Raises:
        ValueError: ``ignore_names`` is something else.

    .. admonition:: Example

        >>> saved = {'W': np.ones((2, 3)), 'b': np.zeros(2)}
        >>> model = L.Linear(3, 2, initial_bias=7)
        >>> chainer.serializers.NpzDeserializer(saved, ignore_names='b').load(model)
        >>> model.W.array[0], model.b.array
        (array([1., 1., 1.], dtype=float32), array([7., 7.], dtype=float32))

    """

    def __init__(
        self,
        npz: Mapping[str, Any],
        path: str = '',
        strict: bool = True,
        ignore_names: str
        | Callable[[str], bool]
        | Sequence[str | Callable[[str], bool]]
        | None = None,
    ) -> None:
        self.npz = npz
        self.path = path
        self.strict = strict
        self.ignore_names: Sequence[Any] = _list_names(ignore_names)

    def __getitem__(self, key: str) -> AbstractSerializer:
        child = NpzDeserializer(
            self.npz, self.path + key.strip('/') + '/', self.strict, self.ignore_names
        )
        child._journal = self._journal
        return child

    def __call__(self, key: str, value: Any) -> Any:
        key = self.path + key.lstrip('/')
        if any(name(key) if callable(name) else name == key for name in self.ignore_names):
            return value
        stored_key = key
        if key not in self.npz and '/' + key in self.npz:
            stored_key = '/' + key
        if not self.strict and stored_key not in self.npz:
            return value
        try:
            stored = self._find(stored_key)
        except KeyError:
            raise self._not_found(key) from None
        if stored.dtype.kind == 'O':
            if stored.shape == () and stored.read()[()] is None:
                return None
            raise ValueError(f"'{key}' holds Python objects, which cannot be loaded")
        return _storage.restore(key, value, stored, self._journal)

    def _find(self, key):
        if isinstance(self.npz, _storage.Archive):
            return self.npz.find(key)
        return _storage.Stored.of(numpy.asarray(self.npz[key]))

    def _not_found(self, key):
        remedy = 'strict=False to keep the current values of all that is missing'
        prefixes = [name.removesuffix(key) for name in self.npz if name.endswith(f'/{key}')]
        if prefixes:
            remedy = f'path={prefixes[0]!r} to load that part, or {remedy}'
        name = self.npz.name if isinstance(self.npz, _storage.Archive) else 'the dictionary'
        return _storage.not_found(key, name, self.npz, remedy)
