"""Cache of downloaded files, safe for concurrent processes."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from chainer._core.data import temporary_folder
from chainer.dataset import _fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_dataset_root = os.environ.get(
    'CHAINER_DATASET_ROOT', os.path.join(os.path.expanduser('~'), '.chainer', 'dataset')
)


def get_dataset_root() -> str:
    """Returns the root folder of cached datasets.

    It is the value of ``$CHAINER_DATASET_ROOT`` at the import of Chainer, by default
    ``~/.chainer/dataset``; :func:`set_dataset_root` changes it.

    Returns:
        str: Path of the folder, which may not exist.

    .. admonition:: Example

        >>> isinstance(chainer.dataset.get_dataset_root(), str)
        True

    """
    return _dataset_root


def set_dataset_root(path: str) -> None:
    """Sets the root folder of cached datasets.

    Args:
        path (str): Path of the folder.

    .. admonition:: Example

        >>> root = chainer.dataset.get_dataset_root()
        >>> chainer.dataset.set_dataset_root('datasets')
        >>> chainer.dataset.get_dataset_root()
        'datasets'
        >>> chainer.dataset.set_dataset_root(root)

    """
    global _dataset_root
    _dataset_root = path


def get_dataset_directory(dataset_name: str, create_directory: bool = True) -> str:
    """Returns the folder of a dataset.

    Args:
        dataset_name (str): Name of the dataset; slashes make nested folders.
        create_directory (bool): If true, creates the folder if it does not exist.

    Returns:
        str: Path of the folder.

    .. admonition:: Example

        >>> path = chainer.dataset.get_dataset_directory('me/words', create_directory=False)
        >>> path.startswith(chainer.dataset.get_dataset_root())
        True

    """
    path = os.path.join(_dataset_root, dataset_name)
    if create_directory:
        os.makedirs(path, exist_ok=True)
    return path


def cached_download(url: str, *, checksum: str | None = None, timeout: float | None = None) -> str:
    """Downloads a file once and returns the path of the cached copy.

    The file enters the cache only when it is complete. With ``checksum``, its content must also
    be the expected one, whether it comes from the network or from the cache. Pass it wherever
    you know it: without it, you trust the server, and for an ``http`` address everybody between.

    A reply shorter than the server says is an error. A reply without a length gives a warning
    unless ``checksum`` is given, because nothing tells whether it is complete. A redirection
    from ``https`` to another protocol is an error.

    Args:
        url (str): Address of the file.
        checksum (str): Name of a hash function of :mod:`hashlib` and the hash of the file in
            hexadecimal digits, such as ``'sha256:e3b0c442...'``.
        timeout (float): Seconds without data from the server after which the download fails,
            by default the value of the environment variable ``CHAINER_DOWNLOAD_TIMEOUT``, or 60.

    Returns:
        str: Path of the file in ``<dataset root>/_dl_cache``. Its name is the MD5 hash of
        the address, so you can also put a file there by hand.

    Raises:
        ValueError: If ``checksum`` or ``timeout`` is invalid.
        OSError: If the cache folder cannot be created.
        urllib.error.URLError: If the download fails, is not complete, or does not have the
            expected content. The cache does not change then. Also if the cached file does not
            have the expected content.

    .. admonition:: Example

        >>> url = 'https://example.com/words.txt'
        >>> path = chainer.dataset.cached_download(url)  # doctest: +SKIP
        >>> path.startswith(chainer.dataset.get_dataset_root())  # doctest: +SKIP
        True

    """
    if checksum is not None:
        _fetch.parse_checksum(checksum)
    timeout = _fetch.get_timeout(timeout)
    cache_root = os.path.join(_dataset_root, '_dl_cache')
    cache_path = os.path.join(cache_root, _name_of(url))
    # A file has this name only when it is complete, so looking needs no lock (nor the right
    # to write to the folder).
    if os.path.exists(cache_path):
        _fetch.check_cached(cache_path, url, checksum)
        return cache_path
    _make_cache(cache_root)
    with _new_file(cache_path) as temp_path:
        print(f'Downloading from {url}...')
        _fetch.fetch(url, temp_path, checksum, timeout, cache_path)
    return cache_path


def _name_of(url):
    # Loaded here, because it takes long and most programs download nothing.
    import hashlib

    return hashlib.md5(url.encode('utf-8'), usedforsecurity=False).hexdigest()


def _make_cache(folder):
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as e:
        raise type(e)(f'cannot create the download cache {folder}: {e}') from e


def cache_or_load_file(
    path: str, creator: Callable[[str], Any], loader: Callable[[str], Any]
) -> Any:
    """Returns the content of a file, creating the file if it does not exist.

    Args:
        path (str): Path of the file.
        creator: Function that writes the file to a given temporary path and returns its
            content. The complete file then moves to ``path``.
        loader: Function that returns the content of the file at a given path.

    Returns:
        What ``creator`` or ``loader`` returned.

    Raises:
        RuntimeError: If the folder of ``path`` cannot be created.

    .. admonition:: Example

        >>> import os, tempfile
        >>> def create(path):
        ...     print('created')
        ...     np.save(path, np.arange(3))
        ...     return np.arange(3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'numbers.npy')
        ...     for _ in range(2):
        ...         print(chainer.dataset.cache_or_load_file(path, create, np.load))
        created
        [0 1 2]
        [0 1 2]

    """
    if os.path.exists(path):
        return loader(path)

    folder = os.path.dirname(os.path.abspath(path))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as e:
        raise RuntimeError(f'cannot create the dataset folder {folder}: {e}') from e
    with _new_file(path) as temp_path:
        content = creator(temp_path)
        if not os.path.exists(temp_path):
            raise FileNotFoundError(f'creator wrote no file at the path it was given, {temp_path}')
    return content


@contextlib.contextmanager
def _new_file(path: str) -> Iterator[str]:
    """Yields a temporary path; what is there at the end moves to ``path`` in one step.

    No lock is held: two processes may both do the work, which costs time once, but one that is
    stuck stops nobody else.
    """
    folder, name = os.path.split(os.path.abspath(path))
    with temporary_folder.temporary_folder(folder, name) as temp_root:
        temp_path = os.path.join(temp_root, name)
        yield temp_path
        # The first process wins: on Windows, a file that is open cannot be replaced.
        if not os.path.exists(path):
            os.replace(temp_path, path)
