from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.settings.dtype import get_dtype
from chainer.dataset import dataset_mixin
from chainer.datasets import _image_files
from chainer.datasets._zipped_images import (
    LabeledZippedImageDataset as LabeledZippedImageDataset,
    MultiZippedImageDataset as MultiZippedImageDataset,
    ZippedImageDataset as ZippedImageDataset,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import DTypeSpec


available: bool = importlib.util.find_spec('PIL') is not None


class ImageDataset(dataset_mixin.DatasetMixin):
    """Dataset of images read from files.

    An example is an array of shape ``(channels, height, width)`` with the values of the
    file; a grayscale image has one channel. It requires Pillow.

    Reading an example raises :exc:`OSError` if the file is missing, damaged or no image, and
    Pillow's ``DecompressionBombError`` if the image has more than twice
    ``PIL.Image.MAX_IMAGE_PIXELS`` pixels.

    Args:
        paths (str or list of strs): Paths of the images, or the path of a text file with
            one path per line.
        root (str): Folder that the paths are relative to.
        dtype: Type of the arrays, ``chainer.config.dtype`` by default.

    Raises:
        RuntimeError: If Pillow is not installed.

    .. admonition:: Example

        >>> import os, tempfile
        >>> from PIL import Image
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Image.new('RGB', (6, 4), (255, 0, 9)).save(os.path.join(folder, 'red.png'))
        ...     dataset = chainer.datasets.ImageDataset(['red.png'], root=folder)
        ...     image = dataset[0]
        >>> image.shape, image[:, 0, 0]
        ((3, 4, 6), array([255.,   0.,   9.], dtype=float32))

    """

    def __init__(
        self, paths: str | Sequence[str], root: str = '.', dtype: DTypeSpec = None
    ) -> None:
        _image_files.import_pillow()
        if isinstance(paths, str):
            with open(paths) as f:
                paths = [line.strip() for line in f]
        self._paths = paths
        self._root = root
        self._dtype = get_dtype(dtype)

    def __len__(self) -> int:
        return len(self._paths)

    def get_example(self, i: int) -> Any:
        path = os.path.join(self._root, self._paths[i])
        return _image_files.read_image(path, self._dtype, path)


class LabeledImageDataset(dataset_mixin.DatasetMixin):
    """Dataset of pairs of an image read from a file and its label.

    Reading an example raises the errors of :class:`ImageDataset`.

    Args:
        pairs (str or list of tuples): Pairs of a path and an integer, or the path of a
            text file with such a pair, separated by space, on each line.
        root (str): Folder that the paths are relative to.
        dtype: Type of the images, ``chainer.config.dtype`` by default.
        label_dtype: Type of the labels.

    Raises:
        ValueError: If a line is not a pair of a path and an integer.
        RuntimeError: If Pillow is not installed.

    .. admonition:: Example

        >>> import os, tempfile
        >>> from PIL import Image
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Image.new('RGB', (6, 4)).save(os.path.join(folder, 'black.png'))
        ...     dataset = chainer.datasets.LabeledImageDataset([('black.png', 3)], root=folder)
        ...     image, label = dataset[0]
        >>> image.shape, int(label)
        ((3, 4, 6), 3)

    """

    def __init__(
        self,
        pairs: str | Sequence[tuple[str, Any]],
        root: str = '.',
        dtype: DTypeSpec = None,
        label_dtype: DTypeSpec = numpy.int32,
    ) -> None:
        _image_files.import_pillow()
        self._pairs = _image_files.read_pairs(pairs) if isinstance(pairs, str) else pairs
        self._root = root
        self._dtype = get_dtype(dtype)
        self._label_dtype = label_dtype

    def __len__(self) -> int:
        return len(self._pairs)

    def get_example(self, i: int) -> Any:
        path, label = self._pairs[i]
        path = os.path.join(self._root, path)
        image = _image_files.read_image(path, self._dtype, path)
        return image, numpy.array(label, self._label_dtype)
