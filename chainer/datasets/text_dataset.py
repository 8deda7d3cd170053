from __future__ import annotations

import io
import os
import threading
from typing import TYPE_CHECKING, Any

from chainer.dataset import dataset_mixin
from chainer.datasets import _positioned_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class TextDataset(dataset_mixin.DatasetMixin):
    r"""Dataset of the lines of text files.

    It keeps only the positions of the lines in memory and reads lines on demand. An example of
    one file is a string; an example of several (parallel) files is a tuple with the
    corresponding lines. The strings include line ends.

    Args:
        paths (str or list of strs): Path of the file, or the list of paths.
        encoding (str or list of strs): Encoding of the files, see :func:`open`.
        errors (str or list of strs): Handling of decoding errors, see :func:`open`.
        newline (str or list of strs): Handling of line ends, see :func:`open`.
        filter_func: Function that takes the line of each file and returns whether to keep the
            example.

    Raises:
        TypeError: If the type of ``paths`` is wrong.
        ValueError: If no path is given, the files have different numbers of lines, or a
            list of options does not match the paths.

    .. admonition:: Example

        >>> import os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, 'words.txt')
        >>> with open(path, 'w') as file:
        ...     characters = file.write('first\nsecond\n\n')
        >>> dataset = chainer.datasets.TextDataset(path, filter_func=lambda line: line.strip())
        >>> len(dataset), dataset[1]
        (2, 'second\n')
        >>> dataset.close(); folder.cleanup()

    """

    def __init__(
        self,
        paths: str | Sequence[str],
        encoding: str | Sequence[str] | None = None,
        errors: str | Sequence[str] | None = None,
        newline: str | Sequence[str] | None = None,
        filter_func: Callable[..., Any] | None = None,
    ) -> None:
        if isinstance(paths, (str, os.PathLike)):
            paths = [paths]
        elif not isinstance(paths, (list, tuple)):
            raise TypeError(
                f'paths must be a str or a list of strs, but a {type(paths).__name__} is given'
            )
        if not paths:
            raise ValueError('At least one text file must be specified')
        self._paths = list(paths)
        options = {'encoding': encoding, 'errors': errors, 'newline': newline}
        self._options = list(zip(*[_per_file(*item, paths) for item in options.items()]))
        self._open()
        try:
            self._positions = self._index(filter_func)
        except BaseException:
            self.close()
            raise

    def _open(self):
        self._local = threading.local()
        self._files = []
        try:
            for path in self._paths:
                self._files.append(io.FileIO(os.fspath(path)))
        except BaseException:
            self.close()
            raise

    def _readers(self):
        """Returns text readers of the files, which belong to the thread."""
        try:
            return self._local.readers
        except AttributeError:
            self._local.readers = [
                io.TextIOWrapper(_positioned_file.Cursor(file), *options)
                for file, options in zip(self._files, self._options)
            ]
        return self._local.readers

    def _index(self, filter_func):
        """Returns the list with the positions of each example in the files."""
        readers = self._readers()
        positions: list[tuple[int, ...]] = []
        while True:
            position = tuple([reader.tell() for reader in readers])
            lines = [reader.readline() for reader in readers]
            if not all(lines):
                if any(lines):
                    raise ValueError(
                        'Number of lines in files does not match: '
                        + ', '.join(map(str, self._paths))
                    )
                return positions
            if filter_func is None or filter_func(*lines):
                positions.append(position)

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        del state['_files'], state['_local']
        return state

    def __setstate__(self, state: Any) -> None:
        self.__dict__ = state
        self._open()

    def __len__(self) -> int:
        return len(self._positions)

    def close(self) -> None:
        """Closes the files. Reading fails afterwards."""
        for file in self._files:
            file.close()

    def get_example(self, idx: int) -> Any:
        if idx < 0 or len(self._positions) <= idx:
            raise IndexError(f'index {idx} is out of range for {len(self)} lines')
        lines = []
        for reader, position in zip(self._readers(), self._positions[idx]):
            reader.seek(position)
            lines.append(reader.readline())
        return lines[0] if len(lines) == 1 else tuple(lines)


def _per_file(name, value, paths):
    if value is None or isinstance(value, str):
        return [value] * len(paths)
    if len(value) != len(paths):
        raise ValueError(f'{name} must be a str or a list of {len(paths)} strs, one per file')
    return value
