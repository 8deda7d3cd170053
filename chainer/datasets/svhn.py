from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy

from chainer.dataset import download
from chainer.datasets import _images
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from chainer.types import Dataset, DTypeSpec

# Checksums make up for plain http.
_ROOT_URL = 'http://ufldl.stanford.edu/housenumbers/'
_CHECKSUMS = {
    'train_32x32.mat': 'sha256:435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8',
    'test_32x32.mat': 'sha256:cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b',
    'extra_32x32.mat': 'sha256:a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3',
}


def get_svhn(
    withlabel: bool = True,
    scale: float = 1.0,
    dtype: DTypeSpec = None,
    label_dtype: DTypeSpec = numpy.int32,
    add_extra: bool = False,
) -> tuple[Dataset, ...]:
    """Gets the Street View House Numbers dataset of cropped digits.

    The first call downloads the files and caches them below
    :func:`chainer.dataset.get_dataset_root`. Reading them requires SciPy.

    Args:
        withlabel (bool): If true, the datasets are :class:`~chainer.datasets.TupleDataset`
            of images of shape ``(3, 32, 32)`` and labels, otherwise arrays of images.
        scale (float): Maximum pixel value; the minimum is 0.
        dtype: Type of the images, ``chainer.config.dtype`` by default.
        label_dtype: Type of the labels 0 to 9.
        add_extra (bool): If true, also returns the extra dataset.

    Returns:
        tuple: Training dataset (73,257 images), test dataset (26,032 images) and with
        ``add_extra`` the extra dataset (531,131 images).

    Raises:
        RuntimeError: If SciPy is not installed.
        ValueError: If a file in the cache is damaged.
        urllib.error.URLError: If the download fails.

    Source: Netzer et al., `The Street View House Numbers Dataset
    <http://ufldl.stanford.edu/housenumbers/>`_.

    .. admonition:: Example

        >>> train, test = chainer.datasets.get_svhn()  # doctest: +SKIP
        >>> image, label = train[0]  # doctest: +SKIP
        >>> len(train), image.shape  # doctest: +SKIP
        (73257, (3, 32, 32))

    """
    datasets = []
    for part in ('train', 'test') + (('extra',) if add_extra else ()):
        raw = _load(part)
        # The cache has the layout of the original files, (height, width, channel, n), and 10 for 0.
        images = numpy.ascontiguousarray(raw['x'].transpose(3, 2, 0, 1))
        labels = raw['y'].ravel() % 10
        options = withlabel, 3, scale, dtype, label_dtype
        datasets.append(_images.make_dataset(images, labels, (3, 32, 32), 'SVHN', *options))
    return tuple(datasets)


def _load(part):
    read = functools.partial(_read, part + '_32x32.mat')
    return _images.load_npz_cache('pfnet/chainer/svhn', part + '.npz', ('x', 'y'), read)


def _read(filename):
    try:
        from scipy import io
    except ImportError:
        raise RuntimeError('Scipy is not available; it is needed to read SVHN.') from None
    path = download.cached_download(_ROOT_URL + filename, checksum=_CHECKSUMS[filename])
    with _damaged_file.reading(path, 'a file of SVHN images'):
        mat = io.loadmat(path, variable_names=['X', 'y'])
        return {'x': mat['X'], 'y': mat['y']}
