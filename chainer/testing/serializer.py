from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def save_and_load(
    src: Any, dst: Any, filename: str, saver: Callable[..., Any], loader: Callable[..., Any]
) -> None:
    """Saves an object to a temporary file and loads the file into another one.

    Args:
        src: Object to save.
        dst: Object to load into.
        filename (str): Name of the file, without a folder.
        saver (callable): Function of a path and an object that saves.
        loader (callable): Function of a path and an object that loads.

    .. admonition:: Example

        >>> from chainer import testing
        >>> src, dst = L.Linear(2, 1, initialW=3), L.Linear(2, 1)
        >>> testing.save_and_load(
        ...     src, dst, 'link.npz', chainer.serializers.save_npz, chainer.serializers.load_npz)
        >>> dst.W
        variable W([[3., 3.]])

    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, filename)
        saver(path, src)
        loader(path, dst)


def save_and_load_npz(src: Any, dst: Any) -> None:
    """Copies the state of ``src`` to ``dst`` through an npz file.

    Args:
        src: Object to save.
        dst: Object to load into.

    .. admonition:: Example

        >>> from chainer import testing
        >>> src, dst = L.Linear(2, 1, initialW=3), L.Linear(2, 1)
        >>> testing.save_and_load_npz(src, dst)
        >>> dst.W
        variable W([[3., 3.]])

    """
    # Loaded on first use: most tests save nothing.
    from chainer import serializers

    save_and_load(src, dst, 'tmp.npz', serializers.save_npz, serializers.load_npz)


def save_and_load_hdf5(src: Any, dst: Any) -> None:
    """Copies the state of ``src`` to ``dst`` through an HDF5 file.

    Args:
        src: Object to save.
        dst: Object to load into.

    Raises:
        RuntimeError: If h5py is not installed.

    .. admonition:: Example

        >>> from chainer import testing
        >>> src, dst = L.Linear(2, 1, initialW=3), L.Linear(2, 1)
        >>> testing.save_and_load_hdf5(src, dst)
        >>> dst.W
        variable W([[3., 3.]])

    """
    # Loaded on first use: most tests save nothing.
    from chainer import serializers

    save_and_load(src, dst, 'tmp.h5', serializers.save_hdf5, serializers.load_hdf5)
