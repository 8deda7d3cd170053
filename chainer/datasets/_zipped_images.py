"""Images in ZIP archives."""

from __future__ import annotations

import bisect
import io
import itertools
import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.names.set_module import set_module
from chainer._core.settings.dtype import get_dtype
from chainer.dataset import dataset_mixin
from chainer.datasets import _image_files, _positioned_file
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import DTypeSpec


@set_module('chainer.datasets.image_dataset')
class ZippedImageDataset(dataset_mixin.DatasetMixin):
    """Dataset of the images in a zip file.

    Several processes can use the dataset, and it supports pickling.

    Reading an example raises the errors of :class:`ImageDataset`. It refuses files that grow
    more than 32 times and 64 MiB when they are unpacked, and other compressions than deflate.

    Args:
        zipfilename (str): Path of the zip file.
        dtype: Type of the arrays, ``chainer.config.dtype`` by default.

    Raises:
        ValueError: If a file is no zip file; the error is a ``zipfile.BadZipFile``, too.
        RuntimeError: If Pillow is not installed.

    .. admonition:: Example

        >>> import os, tempfile, zipfile
        >>> from PIL import Image
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'images.zip')
        ...     with zipfile.ZipFile(path, 'w') as archive, archive.open('black.png', 'w') as file:
        ...         Image.new('RGB', (6, 4)).save(file, 'png')
        ...     chainer.datasets.ZippedImageDataset(path)[0].shape
        (3, 4, 6)

    """

    def __init__(self, zipfilename: str, dtype: DTypeSpec = None) -> None:
        _image_files.import_pillow()
        self._zipfilename = zipfilename
        self._dtype = get_dtype(dtype)
        self._open()
        self._paths = [name for name in self._archive().namelist() if not name.endswith('/')]

    def _open(self):
        self._file = _positioned_file.PathFile(self._zipfilename)
        self._zf_pid = None

    def _archive(self):
        """Returns the reader of the zip file, which the threads of the process share."""
        if self._zf_pid != os.getpid():
            # A fork may have copied the parent's reader in use by another thread.
            with _damaged_file.reading(self._zipfilename, 'a zip file of images'):
                self._zf = zipfile.ZipFile(_positioned_file.Cursor(self._file))
            self._zf_pid = os.getpid()
        return self._zf

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        for name in ('_file', '_zf', '_zf_pid'):
            del state[name]
        return state

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        self._open()

    def __len__(self) -> int:
        return len(self._paths)

    def get_example(self, i_or_filename: int | str) -> Any:
        """Returns an image by index or by name within the zip file.

        Args:
            i_or_filename (int or str): Index, or name of a file within the zip file.

        Returns:
            :class:`numpy.ndarray`: Image of the shape ``(channel, height, width)``.

        Raises:
            KeyError: If there is no file with the name.
            IndexError: If the index is too large.

        """
        name = i_or_filename if isinstance(i_or_filename, str) else self._paths[i_or_filename]
        data = _image_files.read_member(self._archive(), self._zipfilename, name)
        return _image_files.read_image(io.BytesIO(data), self._dtype, name)


@set_module('chainer.datasets.image_dataset')
class MultiZippedImageDataset(dataset_mixin.DatasetMixin):
    """Dataset of the images in several zip files, one file after another.

    Args:
        zipfilenames (list of strs): Paths of the zip files.
        dtype: Type of the arrays, ``chainer.config.dtype`` by default.

    Raises:
        ValueError: If a file is no zip file; the error is a ``zipfile.BadZipFile``, too.
        RuntimeError: If Pillow is not installed.

    .. admonition:: Example

        >>> import os, tempfile, zipfile
        >>> from PIL import Image
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paths = [os.path.join(folder, name) for name in ('a.zip', 'b.zip')]
        ...     for path in paths:
        ...         with zipfile.ZipFile(path, 'w') as archive:
        ...             with archive.open('black.png', 'w') as file:
        ...                 Image.new('RGB', (6, 4)).save(file, 'png')
        ...     len(chainer.datasets.MultiZippedImageDataset(paths))
        2

    """

    def __init__(self, zipfilenames: Sequence[str], dtype: DTypeSpec = None) -> None:
        self._zfs = [ZippedImageDataset(name, dtype) for name in zipfilenames]
        self._ends = list(itertools.accumulate(len(zf) for zf in self._zfs))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def get_example(self, i: int) -> Any:
        if i < 0:
            i += len(self)
        if not 0 <= i < len(self):
            raise IndexError(f'index is out of range of {len(self)} images')
        k = bisect.bisect_right(self._ends, i)
        return self._zfs[k].get_example(i - (self._ends[k - 1] if k > 0 else 0))


@set_module('chainer.datasets.image_dataset')
class LabeledZippedImageDataset(dataset_mixin.DatasetMixin):
    """Dataset of pairs of an image in a zip file and its label.

    Args:
        zipfilename (str): Path of the zip file.
        labelfilename (str): Path of a text file with the name of an image within the zip
            file and its integer label, separated by space, on each line.
        dtype: Type of the images, ``chainer.config.dtype`` by default.
        label_dtype: Type of the labels.

    Raises:
        ValueError: If a line is not such a pair, or the zip file is none.
        RuntimeError: If Pillow is not installed.

    .. admonition:: Example

        >>> import os, tempfile, zipfile
        >>> from PIL import Image
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'images.zip')
        ...     with zipfile.ZipFile(path, 'w') as archive, archive.open('black.png', 'w') as file:
        ...         Image.new('RGB', (6, 4)).save(file, 'png')
        ...     labels = os.path.join(folder, 'labels.txt')
        ...     with open(labels, 'w') as file:
        ...         characters = file.write('black.png 3')
        ...     image, label = chainer.datasets.LabeledZippedImageDataset(path, labels)[0]
        >>> image.shape, int(label)
        ((3, 4, 6), 3)

    """

    def __init__(
        self,
        zipfilename: str,
        labelfilename: str,
        dtype: DTypeSpec = None,
        label_dtype: DTypeSpec = numpy.int32,
    ) -> None:
        self._pairs = _image_files.read_pairs(labelfilename)
        self._label_dtype = label_dtype
        self._zf = ZippedImageDataset(zipfilename, dtype)

    def __len__(self) -> int:
        return len(self._pairs)

    def get_example(self, i: int) -> Any:
        path, label = self._pairs[i]
        return self._zf.get_example(path), numpy.array(label, self._label_dtype)
