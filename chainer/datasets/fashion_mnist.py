from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.datasets import _images

if TYPE_CHECKING:
    from chainer.types import Dataset, DTypeSpec

# Checksums make up for plain http.
_ROOT_URL = 'http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/'
_CHECKSUMS = {
    'train-images-idx3-ubyte.gz': (
        'sha256:3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84'
    ),
    'train-labels-idx1-ubyte.gz': (
        'sha256:a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845'
    ),
    't10k-images-idx3-ubyte.gz': (
        'sha256:346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073'
    ),
    't10k-labels-idx1-ubyte.gz': (
        'sha256:67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5'
    ),
}


def get_fashion_mnist_labels() -> list[str]:
    """Returns the names of the ten classes.

    Returns:
        list of str: Names in the order of the labels.

    .. admonition:: Example

        >>> chainer.datasets.get_fashion_mnist_labels()[:3]
        ['T-shirt/top', 'Trouser', 'Pullover']

    """
    return [
        'T-shirt/top',
        'Trouser',
        'Pullover',
        'Dress',
        'Coat',
        'Sandal',
        'Shirt',
        'Sneaker',
        'Bag',
        'Ankle boot',
    ]


@_images.getter_of_gray
def get_fashion_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeSpec = None,
    label_dtype: DTypeSpec = numpy.int32,
    rgb_format: bool = False,
) -> tuple[Dataset, Dataset]:
    """Gets the Fashion-MNIST dataset of images of clothes.

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

    Source: Xiao et al., `Fashion-MNIST <https://arxiv.org/abs/1708.07747>`_.

    .. admonition:: Example

        >>> train, test = chainer.datasets.get_fashion_mnist(ndim=3)  # doctest: +SKIP
        >>> image, label = train[0]  # doctest: +SKIP
        >>> image.shape, chainer.datasets.get_fashion_mnist_labels()[label]  # doctest: +SKIP
        ((1, 28, 28), 'Ankle boot')

    """
    options = withlabel, ndim, scale, dtype, label_dtype, rgb_format
    return _images.get_idx_datasets(
        'pfnet/chainer/fashion-mnist', 'Fashion-MNIST', _ROOT_URL, _CHECKSUMS, options
    )
