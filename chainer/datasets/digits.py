from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy

from chainer.datasets import _images

if TYPE_CHECKING:
    from chainer.types import Dataset, DTypeSpec


@_images.getter_of_gray
def get_digits(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeSpec = None,
    label_dtype: DTypeSpec = numpy.int32,
    rgb_format: bool = False,
) -> tuple[Dataset, Dataset]:
    """Gets the bundled UCI dataset of handwritten digits.

    It has 1,797 images of 8x8 pixels, digits 0 to 9 written by 13 people, from E. Alpaydin and
    C. Kaynak. It needs no download.

    Every fifth image (numbers 0, 5, 10, ...) is a test image, the others are training
    images, in the original order. The file lists the images writer by writer, so both parts
    contain all writers.

    Args:
        withlabel (bool): If true, the datasets are :class:`~chainer.datasets.TupleDataset`
            of images and labels, otherwise arrays of images.
        ndim (int): Number of axes of an image: 1 (flat), 2 (``(8, 8)``) or 3 (channel
            first, ``(1, 8, 8)``).
        scale (float): Maximum pixel value; the minimum is 0.
        dtype: Type of the images, ``chainer.config.dtype`` by default.
        label_dtype: Type of the labels.
        rgb_format (bool): If true, images with ``ndim=3`` have three equal channels.

    Returns:
        tuple: Training dataset (1,437 images) and test dataset (360 images).

    Raises:
        ValueError: If ``ndim`` has another value.

    Source: E. Alpaydin, C. Kaynak, `Optical Recognition of Handwritten Digits
    <https://doi.org/10.24432/C50P49>`_, UCI Machine Learning Repository, 1998 (CC BY 4.0).

    .. admonition:: Example

        >>> train, test = chainer.datasets.get_digits()
        >>> len(train), len(test)
        (1437, 360)
        >>> image, label = train[0]
        >>> image.shape, int(label)
        ((64,), 1)

    """
    images, labels = _read()
    is_test = numpy.arange(len(images)) % 5 == 0
    options = withlabel, ndim, scale, dtype, label_dtype, rgb_format
    return tuple(
        _images.make_dataset(images[part], labels[part], (8, 8), 'digits', *options, depth=16.0)
        for part in (~is_test, is_test)
    )


def _read():
    """Reads all images (n, 64) and labels (n,); the layout is in ``_digits/README.md``."""
    path = os.path.join(os.path.dirname(__file__), '_digits', 'digits.bin')
    records = numpy.fromfile(path, numpy.uint8).reshape(-1, 41)
    bits = numpy.unpackbits(records[:, 1:], axis=1, bitorder='little')
    images = numpy.packbits(bits.reshape(-1, 64, 5), axis=2, bitorder='little')
    return images.reshape(-1, 64), records[:, 0]
