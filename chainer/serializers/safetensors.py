"""Serialization to the safetensors format, in which strangers exchange weights."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from chainer.serializers import _safetensors_file, _storage, npz
from chainer.serializers._safetensors_file import open_safetensors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

__all__ = ['load_safetensors', 'open_safetensors', 'save_safetensors']


def save_safetensors(
    file: str | PathLike[str] | IO[bytes], obj: Any, metadata: Mapping[str, str] | None = None
) -> None:
    """Saves an object to a file in `safetensors <https://huggingface.co/docs/safetensors>`_ format.

    The format holds arrays only. So it suits links whose values are all initialized; snapshots of
    trainers and optimizers, which hold texts and ``None``, need :func:`save_npz`.

    It replaces a file at a path only after writing everything, so a failure
    loses no data. It adds no suffix to the path.

    Args:
        file (str, path or file-like): Target file.
        obj: Object with a ``serialize`` method, e.g. a link, or a dictionary of arrays.
        metadata (dict): Texts by name to add, such as ``{'format': 'np'}``.

    Raises:
        TypeError: A value is ``None``, a text, or an array of a dtype that the format lacks
            (complex128), or ``metadata`` holds something else than texts.

    .. seealso:: :func:`chainer.serializers.load_safetensors`

    .. admonition:: Example

        >>> import os, tempfile
        >>> model = chainer.Sequential(L.Linear(3, 2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'model.safetensors')
        ...     chainer.serializers.save_safetensors(path, model, {'author': 'me'})
        ...     with chainer.serializers.open_safetensors(path) as tensors:
        ...         sorted(tensors), tensors.metadata
        (['0/W', '0/b'], {'author': 'me'})

    """
    texts = dict(metadata or {})
    for key, text in texts.items():
        if not (isinstance(key, str) and isinstance(text, str)):
            raise TypeError(f'metadata must hold texts by name, but holds {key!r}: {text!r}')
    arrays = _storage.arrays_of(obj, npz.serialize)
    _storage.write_file(file, lambda f: _safetensors_file.write(f, arrays, texts))


def load_safetensors(
    file: str | PathLike[str] | IO[bytes],
    obj: Any,
    path: str = '',
    strict: bool = True,
    ignore_names: str | Callable[[str], bool] | Sequence[str | Callable[[str], bool]] | None = None,
) -> None:
    """Loads an object from a file in safetensors format.

    It reads the values that the object asks for, after comparing their shapes and
    dtypes, and never executes code from the file. If one of them does
    not fit the object, it raises an error and the object keeps its state. The package
    ``safetensors`` is not needed.

    Args:
        file (str, path or file-like): File to read. It has to be seekable.
        obj: Object with a ``serialize`` method, e.g. a link.
        path (str): Prefix of the names of the object in the file, such as ``'predictor/'``.
        strict (bool): If ``True``, a value missing from the file raises
            ``KeyError``. If ``False``, such a value keeps its current value.
        ignore_names (str, callable, or list of them): Names of values to
            leave unchanged. A callable takes a name and returns whether to
            ignore it.

    Raises:
        ValueError: The file is damaged or not a safetensors file; the error is an ``OSError``, too.
        KeyError: A value is missing.
        ValueError, TypeError: A shape or a dtype does not fit.

    .. seealso:: :func:`chainer.serializers.open_safetensors` for files with other names

    .. admonition:: Example

        >>> import io
        >>> file = io.BytesIO()
        >>> chainer.serializers.save_safetensors(file, L.Linear(3, 2, initialW=1))
        >>> model = L.Linear(3, 2)
        >>> chainer.serializers.load_safetensors(file, model)
        >>> model.W.array[0]
        array([1., 1., 1.], dtype=float32)

    """
    with open_safetensors(file) as tensors:
        deserializer = npz.NpzDeserializer(tensors, path, strict, ignore_names)
        _storage.load_all_or_nothing(deserializer, obj)
