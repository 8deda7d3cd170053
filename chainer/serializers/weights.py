"""Weights in files of other libraries: one, several, or a checkpoint of PyTorch."""

from __future__ import annotations

import contextlib
import json
import os
from typing import IO, TYPE_CHECKING

from chainer.serializers import _storage, _torch_file
from chainer.serializers._safetensors_file import open_safetensors
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

#: Names of the weights in a folder, the first that exists counts.
_NAMES = 'model.safetensors', 'model.safetensors.index.json', 'pytorch_model.bin'


@contextlib.contextmanager
def open_weights(path: str | PathLike[str] | IO[bytes]) -> Iterator[_storage.Archive]:
    """Opens weights of another library, to look at them by name. No code in the file is run.

    It reads safetensors files, the index ``*.index.json`` of weights in several of them, and
    checkpoints of PyTorch, which it distinguishes by their content. In a folder, it looks for
    ``model.safetensors``, ``model.safetensors.index.json`` and ``pytorch_model.bin``. Neither
    PyTorch nor ``safetensors`` is needed.

    Args:
        path (str, path or file-like): File or folder. A file to read has to be seekable.

    Returns:
        Mapping from names to NumPy arrays that is usable until the end of the block, and reads
        each array when it is asked for. Those of bfloat16 become float32.

    Raises:
        FileNotFoundError: There is no such file, or none of these names in the folder.
        ValueError: A file is damaged, in another format, or holds objects that are no tensors; the
            error is an ``OSError``, too.

    .. seealso:: :class:`NameTable`

    .. admonition:: Example

        >>> import io
        >>> file = io.BytesIO()
        >>> chainer.serializers.save_safetensors(file, {'fc.weight': np.ones((2, 3), 'f')})
        >>> with chainer.serializers.open_weights(file) as tensors:
        ...     {name: array.shape for name, array in tensors.items()}
        {'fc.weight': (2, 3)}

    """
    if isinstance(path, (str, bytes, os.PathLike)) and os.path.isdir(path):
        path = _find(os.fsdecode(path))
    if isinstance(path, (str, bytes, os.PathLike)) and os.fsdecode(path).endswith('.json'):
        with _open_parts(os.fsdecode(path)) as parts:
            yield parts
        return
    with _storage.opened(path) as file:
        if _torch_file.is_torch(file):
            yield _torch_file.TorchFile(file, _damaged_file.name_of(path))
        else:
            with open_safetensors(file) as tensors:
                yield tensors


def _find(folder: str) -> str:
    for name in _NAMES:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f'{folder} has none of {", ".join(_NAMES)}')


class _Parts(_storage.Archive):
    """Weights in several safetensors files."""

    def __init__(self, name: str, files: Mapping[str, _storage.Archive]) -> None:
        self.name = name
        self._files = files

    def find(self, key: str) -> _storage.Stored:
        return self._files[key].find(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@contextlib.contextmanager
def _open_parts(path: str) -> Iterator[_Parts]:
    """Opens the files that an index names, which lie beside it."""
    with _damaged_file.reading(path, 'an index of safetensors files', (FileNotFoundError,)):
        with open(path, encoding='utf-8') as file:
            index = json.load(file)['weight_map']
        if not all(isinstance(name, str) for name in index.values()):
            raise ValueError('weight_map holds more than names of files')
        outside = [name for name in index.values() if os.path.basename(name) != name or not name]
        if outside:
            raise ValueError(f'{outside[0]!r} is no file beside it')
    with contextlib.ExitStack() as stack:
        folder = os.path.dirname(path)
        files = {
            name: stack.enter_context(open_safetensors(os.path.join(folder, name)))
            for name in sorted(set(index.values()))
        }
        with _damaged_file.reading(path, 'an index of safetensors files'):
            lost = [key for key, name in index.items() if key not in files[name]]
            if lost:
                raise ValueError(f'{index[lost[0]]} has no {lost[0]!r}')
        yield _Parts(path, {key: files[name] for key, name in index.items()})
