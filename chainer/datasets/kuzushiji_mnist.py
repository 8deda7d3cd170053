from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.datasets import _images

if TYPE_CHECKING:
    from chainer.types import Dataset, DTypeSpec

# Checksums make up for plain http.
_ROOT_URL = 'http://codh.rois.ac.jp/kmnist/dataset/kmnist/'
_CHECKSUMS = {
    'train-images-idx3-ubyte.gz': (
        'sha256:51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4'
    ),
    'train-labels-idx1-ubyte.gz': (
        'sha256:e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17'
    ),
    't10k-images-idx3-ubyte.gz': (
        'sha256:edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5'
    ),
    't10k-labels-idx1-ubyte.gz': (
        'sha256:20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c'
    ),
}


def get_kuzushiji_mnist_labels() -> list[tuple[str, ...]]:
    """Returns the ten classes.

    Returns:
        list of tuples of str: Pairs of romanized name and character, in the order of the labels.

    .. admonition:: Example

        >>> [name for name, character in chainer.datasets.get_kuzushiji_mnist_labels()[:3]]
        ['o', 'ki', 'su']

    """
    return [
        ('o', '\u304a'),
        ('ki', '\u304d'),
        ('su', '\u3059'),
        ('tsu', '\u3064'),
        ('na', '\u306a'),
        ('ha', '\u306f'),
        ('ma', '\u307e'),
        ('ya', '\u3084'),
        ('re', '\u308c'),
        ('wo', '\u3092'),
    ]


@_images.getter_of_gray
def get_kuzushiji_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeSpec = None,
    label_dtype: DTypeSpec = numpy.int32,
    rgb_format: bool = False,
) -> tuple[Dataset, Dataset]:
    """Gets the Kuzushiji-MNIST dataset of cursive Japanese characters.

    The first call downloads the files and caches them below
    :func:`chainer.dataset.get_dataset_root`.

    Args:
        withlabel (bool): If true, the datasets are :class:`~chainer.datasets.TupleDataset`
            of images and labels, otherwise arrays of images.
        ndim (int): Number of axes of an image: 1 (flat), 2 (``(28, 28)``) or 3 (channel
            first, ``(1, 28, 28)``).
        scale (float): Maximum pixel value; the minimum is 0.
        dtype: Type of the images, ``chainer.config.dtype`` by default.
        label_dtype: Type of the labels.
        rgb_format (bool): If true, images with ``ndim=3`` have three equal channels.

    Returns:
        tuple: Training dataset (60,000 images) and test dataset (10,000 images).

    Raises:
        ValueError: If ``ndim`` has another value, or a file in the cache is damaged.
        RuntimeError: If a downloaded file is of another kind.
        urllib.error.URLError: If the download fails.

    Source: Clanuwat et al., `Deep Learning for Classical Japanese Literature
    <https://arxiv.org/abs/1812.01718>`_.

    .. admonition:: Example

        >>> train, test = chainer.datasets.get_kuzushiji_mnist(ndim=3)  # doctest: +SKIP
        >>> image, label = train[0]  # doctest: +SKIP
        >>> len(train), image.shape  # doctest: +SKIP
        (60000, (1, 28, 28))

    """
    options = withlabel, ndim, scale, dtype, label_dtype, rgb_format
    return _images.get_idx_datasets(
        'pfnet/chainer/kuzushiji_mnist', 'Kuzushiji-MNIST', _ROOT_URL, _CHECKSUMS, options
    )
