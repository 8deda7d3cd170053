from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.datasets import _images

if TYPE_CHECKING:
    from chainer.types import Dataset, DTypeSpec

_ROOT_URL = 'https://ossci-datasets.s3.amazonaws.com/mnist/'
_CHECKSUMS = {
    'train-images-idx3-ubyte.gz': (
        'sha256:440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609'
    ),
    'train-labels-idx1-ubyte.gz': (
        'sha256:3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c'
    ),
    't10k-images-idx3-ubyte.gz': (
        'sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6'
    ),
    't10k-labels-idx1-ubyte.gz': (
        'sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6'
    ),
}


@_images.getter_of_gray
def get_mnist(
    withlabel: bool = True,
    ndim: int = 1,
    scale: float = 1.0,
    dtype: DTypeSpec = None,
    label_dtype: DTypeSpec = numpy.int32,
    rgb_format: bool = False,
) -> tuple[Dataset, Dataset]:
    """Gets the MNIST dataset of handwritten digits.

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

    Source: Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database.

    .. admonition:: Example

        >>> train, test = chainer.datasets.get_mnist(ndim=3)  # doctest: +SKIP
        >>> image, label = train[0]  # doctest: +SKIP
        >>> image.shape, image.dtype.name, int(label)  # doctest: +SKIP
        ((1, 28, 28), 'float32', 5)

    """
    options = withlabel, ndim, scale, dtype, label_dtype, rgb_format
    return _images.get_idx_datasets('pfnet/chainer/mnist', 'MNIST', _ROOT_URL, _CHECKSUMS, options)
