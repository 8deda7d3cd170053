"""Cache of downloaded files, safe for concurrent processes."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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


def cached_download(url: str) -> str:
    """Downloads a file once and returns the path of the cached copy.

    Args:
        url (str): Address of the file.

    Returns:
        str: Path of the file in ``<dataset root>/_dl_cache``. Its name is the MD5 hash of
        the address, so you can also put a file there by hand.

    Raises:
        OSError: If the cache folder cannot be created.
        urllib.error.URLError: If the download fails. The cache does not change then.

    .. admonition:: Example

        >>> url = 'https://example.com/words.txt'
        >>> path = chainer.dataset.cached_download(url)  # doctest: +SKIP
        >>> path.startswith(chainer.dataset.get_dataset_root())  # doctest: +SKIP
        True

    """
    # Loaded here, because they take long and most programs download nothing.
    import hashlib
    import urllib.error
    import urllib.request

    import filelock

    cache_root = os.path.join(_dataset_root, '_dl_cache')
    try:
        os.makedirs(cache_root, exist_ok=True)
    except OSError as e:
        raise type(e)(f'cannot create the download cache {cache_root}: {e}') from e
    name = hashlib.md5(url.encode('utf-8'), usedforsecurity=False).hexdigest()
    cache_path = os.path.join(cache_root, name)

    with filelock.FileLock(os.path.join(cache_root, '_dl_lock')):
        if os.path.exists(cache_path):
            return cache_path

    # The lock is not held while downloading: two processes may both download, which
    # costs time once, but a stuck download stops nobody else.
    with tempfile.TemporaryDirectory(dir=cache_root) as temp_root:
        temp_path = os.path.join(temp_root, name)
        print(f'Downloading from {url}...')
        try:
            urllib.request.urlretrieve(url, temp_path)
        except OSError as e:
            raise urllib.error.URLError(
                f'could not download {url} ({e}); without a network, put the file at {cache_path}'
            ) from e
        with filelock.FileLock(os.path.join(cache_root, '_dl_lock')):
            shutil.move(temp_path, cache_path)
    return cache_path


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

    import filelock

    folder = os.path.dirname(os.path.abspath(path))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as e:
        raise RuntimeError(f'cannot create the dataset folder {folder}: {e}') from e

    with tempfile.TemporaryDirectory(dir=folder) as temp_root:
        temp_path = os.path.join(temp_root, os.path.basename(path))
        content = creator(temp_path)
        with filelock.FileLock(os.path.join(folder, '_create_lock')):
            if not os.path.exists(path):
                shutil.move(temp_path, path)
    return content
