"""Datasets in a file of pickles: the pickled examples, one after the other."""

from __future__ import annotations

import io
import os
import pickle
import warnings
from typing import IO, TYPE_CHECKING, Any

from chainer._core.processes import forks
from chainer.dataset import dataset_mixin
from chainer.datasets import _positioned_file

if TYPE_CHECKING:
    from typing_extensions import Self


_MAX_AT_ONCE = 2**16  # Bytes of a pickle that one read takes; more would need twice the memory.


class PickleDatasetWriter:
    """Writer of the files that :class:`PickleDataset` reads.

    Args:
        writer: Writable binary file object.
        protocol (int): Pickle protocol.

    .. admonition:: Example

        >>> import io
        >>> file = io.BytesIO()
        >>> writer = chainer.datasets.PickleDatasetWriter(file)
        >>> for x in 'abc':
        ...     writer.write(x)
        >>> writer.flush()
        >>> chainer.datasets.PickleDataset(file)[:]
        ['a', 'b', 'c']

    """

    def __init__(self, writer: IO[bytes], protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
        self._writer = writer
        self._protocol = protocol

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file object."""
        self._writer.close()

    def flush(self) -> None:
        """Flushes the file object."""
        self._writer.flush()

    def write(self, x: Any) -> None:
        """Writes an example.

        Args:
            x: Any picklable object.

        """
        pickle.dump(x, self._writer, protocol=self._protocol)


class PickleDataset(dataset_mixin.DatasetMixin):
    """Dataset that reads examples from a file of :class:`PickleDatasetWriter`.

    Opening the dataset reads all examples, to find where they start. Unpickling can run arbitrary
    code: read only files that you trust.

    Args:
        reader: Readable and seekable binary file object. Threads and forked processes can read
            a file object of :func:`open` at once. Of other readers, as those of :mod:`gzip`,
            forked processes may share the position; only one of them can read.

    Raises:
        ValueError: If the file contains anything but pickles.

    .. admonition:: Example

        >>> import io
        >>> file = io.BytesIO()
        >>> chainer.datasets.PickleDatasetWriter(file).write({'x': 1})
        >>> dataset = chainer.datasets.PickleDataset(file)
        >>> len(dataset), dataset[0]
        (1, {'x': 1})

    """

    def __init__(self, reader: IO[bytes]) -> None:
        self._reader = reader
        self._prepare()
        self._positions = _find_pickles(reader)

    def _prepare(self):
        self._file = _positioned_file.get_file(self._reader)
        self._lock = forks.ProcessLock()
        self._pid = os.getpid()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        self.close()

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        for name in ('_file', '_lock', '_pid'):
            del state[name]
        return state

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        self._prepare()

    def __len__(self) -> int:
        return len(self._positions) - 1

    def close(self) -> None:
        """Closes the file object."""
        self._reader.close()

    def get_example(self, index: int) -> Any:
        index = range(len(self))[index]
        position = self._positions[index]
        if self._file is not None:
            size = self._positions[index + 1] - position
            if size <= _MAX_AT_ONCE:
                return pickle.loads(os.pread(self._file.fileno(), size, position))
            return pickle.load(io.BufferedReader(_positioned_file.Cursor(self._file, position)))
        if self._pid != os.getpid():
            self._warn_shared_position()
        with self._lock:
            self._reader.seek(position)
            return pickle.load(self._reader)

    def _warn_shared_position(self):
        self._pid = os.getpid()
        try:
            self._reader.fileno()
        except (AttributeError, OSError):
            return  # a reader in memory, which the fork copied
        warnings.warn(
            f'The forked processes share the position of the {type(self._reader).__name__} that '
            'PickleDataset reads; if several of them read, they get wrong data. Read a file '
            'object of open(), or use open_pickle_dataset().',
            RuntimeWarning,
            stacklevel=4,
        )


def _find_pickles(reader):
    """Returns the positions of the pickles of a file, and that of the end."""
    reader.seek(0, os.SEEK_END)
    end = reader.tell()
    reader.seek(0)
    position = 0
    positions = [position]
    while position < end:
        try:
            pickle.load(reader)
        except Exception as e:  # bad data may call anything in a wrong way
            raise ValueError(f'there is no complete pickle at byte {position}: {e}') from e
        position = reader.tell()
        positions.append(position)
    return positions


def open_pickle_dataset(path: str) -> PickleDataset:
    """Opens a file written by :func:`open_pickle_dataset_writer`.

    Several processes can use the dataset, and it supports pickling.

    Args:
        path (str): Path of the file.

    Returns:
        PickleDataset: Opened dataset, which is also a context manager.

    Raises:
        ValueError: If the file contains anything but pickles.

    .. admonition:: Example

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'words.pickle')
        ...     with chainer.datasets.open_pickle_dataset_writer(path) as writer:
        ...         writer.write('first')
        ...     with chainer.datasets.open_pickle_dataset(path) as dataset:
        ...         dataset[0]
        'first'

    """
    reader = _positioned_file.PathFile(path)
    try:
        return PickleDataset(reader)
    except BaseException:
        reader.close()
        raise


def open_pickle_dataset_writer(
    path: str, protocol: int = pickle.HIGHEST_PROTOCOL
) -> PickleDatasetWriter:
    """Opens a file to write a pickle dataset to.

    Args:
        path (str): Path of the file. An existing file is overwritten.
        protocol (int): Pickle protocol.

    Returns:
        PickleDatasetWriter: Opened writer, which is also a context manager.

    .. admonition:: Example

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'words.pickle')
        ...     with chainer.datasets.open_pickle_dataset_writer(path) as writer:
        ...         writer.write('first')
        ...         writer.write('second')
        ...     with chainer.datasets.open_pickle_dataset(path) as dataset:
        ...         len(dataset)
        2

    """
    return PickleDatasetWriter(open(os.fspath(path), 'wb'), protocol=protocol)
