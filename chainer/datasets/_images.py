"""Code shared by the functions that return labeled images."""

from __future__ import annotations

import gzip
import math
import os
import struct
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

import numpy

from chainer._core.settings.dtype import get_dtype
from chainer.dataset import download
from chainer.datasets import tuple_dataset
from chainer.serializers import _npz_archive
from chainer.utils import _damaged_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.types import Dataset, DTypeSpec


class _GetGray(Protocol):
    """Function of gray images, whose examples are pairs unless ``withlabel`` is false."""

    @overload
    def __call__(
        self,
        withlabel: Literal[True] = ...,
        ndim: int = ...,
        scale: float = ...,
        dtype: DTypeSpec = ...,
        label_dtype: DTypeSpec = ...,
        rgb_format: bool = ...,
    ) -> tuple[Dataset[tuple[numpy.ndarray, Any]], Dataset[tuple[numpy.ndarray, Any]]]: ...
    @overload
    def __call__(
        self,
        withlabel: bool,
        ndim: int = ...,
        scale: float = ...,
        dtype: DTypeSpec = ...,
        label_dtype: DTypeSpec = ...,
        rgb_format: bool = ...,
    ) -> tuple[Dataset, Dataset]: ...


class _GetColour(Protocol):
    """The same for images in colour."""

    @overload
    def __call__(
        self,
        withlabel: Literal[True] = ...,
        ndim: int = ...,
        scale: float = ...,
        dtype: DTypeSpec = ...,
    ) -> tuple[Dataset[tuple[numpy.ndarray, Any]], Dataset[tuple[numpy.ndarray, Any]]]: ...
    @overload
    def __call__(
        self, withlabel: bool, ndim: int = ..., scale: float = ..., dtype: DTypeSpec = ...
    ) -> tuple[Dataset, Dataset]: ...


def getter_of_gray(function: Callable[..., Any]) -> _GetGray:
    """Decorates a function of gray images, for type checkers."""
    return function


def getter_of_colour(function: Callable[..., Any]) -> _GetColour:
    """Decorates a function of images in colour, for type checkers."""
    return function


def make_dataset(
    images,
    labels,
    image_shape,
    name,
    withlabel=True,
    ndim=1,
    scale=1.0,
    dtype=None,
    label_dtype=numpy.int32,
    rgb_format=False,
    depth=255.0,
):
    """Makes the dataset of uint8 images that the ``get_*`` functions return.

    ``image_shape`` is ``(height, width)`` or ``(channels, height, width)``. Values 0 to
    ``depth`` become 0 to ``scale``.
    """
    images = images.reshape((len(images), *_shape_of(image_shape, ndim, name)))
    if rgb_format and ndim == 3:
        images = numpy.broadcast_to(images, (len(images), 3) + image_shape[-2:])
    images = images.astype(get_dtype(dtype))
    images *= scale / depth
    if not withlabel:
        return images
    return tuple_dataset.TupleDataset(images, labels.astype(label_dtype))


def _shape_of(image_shape, ndim, name):
    channels = image_shape[:-2] or (1,)
    if ndim == 1:
        return (-1,)
    if ndim == 2 and channels == (1,):
        return image_shape[-2:]
    if ndim == 3:
        return channels + image_shape[-2:]
    raise ValueError(f'invalid ndim for {name}: {ndim}')


def load_npz_cache(dataset_name, filename, names, make_arrays):
    """Returns the named arrays of a cached npz file; ``make_arrays()`` creates them at first."""
    path = download.get_dataset_directory(dataset_name) + '/' + filename

    def creator(path):
        arrays = make_arrays()
        numpy.savez_compressed(path, **arrays)
        return arrays

    def loader(path):
        with (
            _damaged_file.reading(path, 'a cached dataset'),
            _npz_archive.open_npz(path) as npz,
        ):
            return {name: npz[name] for name in names}

    return download.cache_or_load_file(path, creator, loader)


def get_idx_datasets(dataset_name, title, root_url, checksums, options):
    """Returns train and test sets from MNIST's file format, four gzipped IDX files."""

    def read(filename):
        return _read_idx(root_url + filename, checksums[filename])

    def make_arrays(part):
        return {
            'x': read(part + '-images-idx3-ubyte.gz'),
            'y': read(part + '-labels-idx1-ubyte.gz'),
        }

    raw = [
        load_npz_cache(dataset_name, 'train.npz', ('x', 'y'), lambda: make_arrays('train')),
        load_npz_cache(dataset_name, 'test.npz', ('x', 'y'), lambda: make_arrays('t10k')),
    ]
    return tuple(
        make_dataset(arrays['x'], arrays['y'], (28, 28), title, *options) for arrays in raw
    )


def _read_idx(url, checksum):
    """Reads an IDX file: 0, 0, type 8 (uint8), number of axes, sizes, data."""
    path = download.cached_download(url, checksum=checksum)
    with _damaged_file.reading(path, 'an IDX file'), gzip.open(path) as f:
        zero, dtype, ndim = struct.unpack('>HBB', f.read(4))
        is_idx = zero == 0 and dtype == 8 and ndim in (1, 3)
        if is_idx:
            shape = struct.unpack(f'>{ndim}I', f.read(4 * ndim))
            size = math.prod(shape)
            check_size('the data', size, path)
            # The end of the file has the checksum; more data fits no shape.
            data = numpy.frombuffer(f.read(size + 1), numpy.uint8).reshape(shape)
    if not is_idx:
        raise RuntimeError(f'the file downloaded from {url} is no IDX file')
    # The cached files store images as rows.
    return data.reshape(shape[0], math.prod(shape[1:])) if ndim == 3 else data


def check_size(name, size, path):
    """Checks that a compressed file may hold as much as it claims, before reading that much."""
    if size > _damaged_file.DEFLATE_RATIO * os.path.getsize(path):
        raise ValueError(f'{name} cannot have {size} bytes')
