from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.dataset import download
from chainer.datasets import _images
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from chainer.types import Dataset, DTypeSpec

_ROOT_URL = 'https://www.cs.toronto.edu/~kriz/'
_CHECKSUMS = {
    'cifar-10-binary.tar.gz': (
        'sha256:c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd'
    ),
    'cifar-100-binary.tar.gz': (
        'sha256:58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec'
    ),
}
_NAMES = 'train_x', 'train_y', 'test_x', 'test_y'


@_images.getter_of_colour
def get_cifar10(
    withlabel: bool = True, ndim: int = 3, scale: float = 1.0, dtype: DTypeSpec = None
) -> tuple[Dataset, Dataset]:
    """Gets the CIFAR-10 dataset of small colour images of ten classes.

    The first call downloads the file and caches it below
    :func:`chainer.dataset.get_dataset_root`.

    Args:
        withlabel (bool): If true, the datasets are :class:`~chainer.datasets.TupleDataset`
            of images and int32 labels, otherwise arrays of images.
        ndim (int): Number of axes of an image: 1 (flat) or 3 (``(3, 32, 32)``).
        scale (float): Maximum pixel value; the minimum is 0.
        dtype: Type of the images, ``chainer.config.dtype`` by default.

    Returns:
        tuple: Training dataset (50,000 images) and test dataset (10,000 images).

    Raises:
        ValueError: If ``ndim`` has another value, or a file in the cache is damaged.
        urllib.error.URLError: If the download fails.

    Source: A. Krizhevsky, `Learning Multiple Layers of Features from Tiny Images
    <https://www.cs.toronto.edu/~kriz/learning-features-2009-TR.pdf>`_, 2009.

    .. admonition:: Example

        >>> train, test = chainer.datasets.get_cifar10()  # doctest: +SKIP
        >>> image, label = train[0]  # doctest: +SKIP
        >>> len(train), image.shape  # doctest: +SKIP
        (50000, (3, 32, 32))

    """
    return _get_cifar(
        'cifar-10',
        'cifar-10-binary.tar.gz',
        [f'cifar-10-batches-bin/data_batch_{i}.bin' for i in range(1, 6)],
        ['cifar-10-batches-bin/test_batch.bin'],
        1,
        withlabel,
        ndim,
        scale,
        dtype,
    )


@_images.getter_of_colour
def get_cifar100(
    withlabel: bool = True, ndim: int = 3, scale: float = 1.0, dtype: DTypeSpec = None
) -> tuple[Dataset, Dataset]:
    """Gets the CIFAR-100 dataset of small colour images of 100 classes.

    The labels are the fine ones. The first call downloads the file and caches it below
    :func:`chainer.dataset.get_dataset_root`.

    Args:
        withlabel (bool): If true, the datasets are :class:`~chainer.datasets.TupleDataset`
            of images and int32 labels, otherwise arrays of images.
        ndim (int): Number of axes of an image: 1 (flat) or 3 (``(3, 32, 32)``).
        scale (float): Maximum pixel value; the minimum is 0.
        dtype: Type of the images, ``chainer.config.dtype`` by default.

    Returns:
        tuple: Training dataset (50,000 images) and test dataset (10,000 images).

    Raises:
        ValueError: If ``ndim`` has another value, or a file in the cache is damaged.
        urllib.error.URLError: If the download fails.

    Source: A. Krizhevsky, `Learning Multiple Layers of Features from Tiny Images
    <https://www.cs.toronto.edu/~kriz/learning-features-2009-TR.pdf>`_, 2009.

    .. admonition:: Example

        >>> train, test = chainer.datasets.get_cifar100(ndim=1)  # doctest: +SKIP
        >>> image, label = train[0]  # doctest: +SKIP
        >>> len(train), image.shape  # doctest: +SKIP
        (50000, (3072,))

    """
    return _get_cifar(
        'cifar-100',
        'cifar-100-binary.tar.gz',
        ['cifar-100-binary/train.bin'],
        ['cifar-100-binary/test.bin'],
        2,
        withlabel,
        ndim,
        scale,
        dtype,
    )


def _get_cifar(
    name, archive, train_members, test_members, label_bytes, withlabel, ndim, scale, dtype
):
    # Use the binary archives, because the Python archives contain pickles.
    def make_arrays():
        path = download.cached_download(_ROOT_URL + archive, checksum=_CHECKSUMS[archive])
        train_x, train_y = _read_members(path, train_members, label_bytes)
        test_x, test_y = _read_members(path, test_members, label_bytes)
        return {'train_x': train_x, 'train_y': train_y, 'test_x': test_x, 'test_y': test_y}

    raw = _images.load_npz_cache('pfnet/chainer/cifar', name + '.npz', _NAMES, make_arrays)
    return tuple(
        _images.make_dataset(
            raw[part + '_x'], raw[part + '_y'], (3, 32, 32), name, withlabel, ndim, scale, dtype
        )
        for part in ('train', 'test')
    )


def _read_members(archive, members, label_bytes):
    """Reads records of label bytes (the last is the fine label) and 3072 pixels."""
    import tarfile

    with (
        _damaged_file.reading(archive, 'an archive of CIFAR images'),
        tarfile.open(archive, 'r:gz') as tar,
    ):
        infos = [tar.getmember(member) for member in members]
        for info in infos:
            _images.check_size(info.name, info.size, archive)
        data = b''.join(_content(tar, info) for info in infos)
        records = numpy.frombuffer(data, numpy.uint8).reshape(-1, label_bytes + 3072)
    return records[:, label_bytes:], records[:, label_bytes - 1]


def _content(tar, info):
    file = tar.extractfile(info)
    if file is None:
        raise ValueError(f'{info.name} is not a file')
    return file.read()
