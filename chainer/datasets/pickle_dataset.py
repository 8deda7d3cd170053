"""Datasets in a file of pickles: the pickled examples, one after the other."""

from __future__ import annotations

import os
import pickle
import threading
from typing import IO, TYPE_CHECKING, Any

from chainer.dataset import dataset_mixin

if TYPE_CHECKING:
    from typing_extensions import Self


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
        reader: Readable and seekable binary file object.

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
        self._lock = threading.Lock()
        self._positions = _find_pickles(reader)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        self.close()

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        state.pop('_lock')
        return state

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._positions)

    def close(self) -> None:
        """Closes the file object."""
        self._reader.close()

    def get_example(self, index: int) -> Any:
        with self._lock:
            self._reader.seek(self._positions[index])
            return pickle.load(self._reader)


def _find_pickles(reader):
    """Returns the positions of the pickles of a file."""
    reader.seek(0, os.SEEK_END)
    end = reader.tell()
    reader.seek(0)
    position = 0
    positions = []
    while position < end:
        try:
            pickle.load(reader)
        except Exception as e:  # bad data may call anything in a wrong way
            raise ValueError(f'there is no complete pickle at byte {position}: {e}') from e
        positions.append(position)
        position = reader.tell()
    return positions


class _ReopenableReader:
    """Binary file that reopens itself in a new process."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = open(path, 'rb')
        self._pid = os.getpid()

    def __getstate__(self) -> Any:
        return {'_path': self._path}

    def __setstate__(self, state: Any) -> None:
        self.__init__(state['_path'])

    def _get(self):
        if self._pid != os.getpid():
            # After a fork the file position is shared with the parent.
            self._file.close()
            self.__init__(self._path)
        return self._file

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._get().seek(offset, whence)

    def tell(self) -> int:
        return self._get().tell()

    def read(self, size: int = -1) -> bytes:
        return self._get().read(size)

    def peek(self, size: int = 0) -> bytes:
        return self._get().peek(size)

    def readinto(self, buffer: Any) -> int:
        return self._get().readinto(buffer)

    def readline(self) -> bytes:
        return self._get().readline()

    def close(self) -> None:
        self._file.close()


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
    reader = _ReopenableReader(path)
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
    return PickleDatasetWriter(open(path, 'wb'), protocol=protocol)
