from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy

from chainer import backend, initializer

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec, NdArray


def _check_shape(shape):
    if len(shape) >= 2 and shape[1] not in (1, shape[0]):
        raise AssertionError(
            f'the second axis of the filter must be 1 or equal the first, but the shape is {shape}'
        )
    if len(shape) < 3:
        raise ValueError(
            f'a convolution filter of 3 or more dimensions is needed, but the shape is {shape}'
        )


class _SamplingFilter(initializer.Initializer):
    """Fills a convolution filter that processes each channel separately."""

    def __init__(self, interpolation: str = 'linear', dtype: DTypeSpec = None) -> None:
        if interpolation != 'linear':
            raise ValueError(f'Unsupported interpolation method: {interpolation!r}')
        super().__init__(dtype)

    def _normalize(self, kernel):
        return kernel

    def __call__(self, array: NdArray) -> None:
        self._check_dtype(array)
        _check_shape(array.shape)
        n_first, n_second = array.shape[:2]
        kernel = self._normalize(
            functools.reduce(numpy.multiply.outer, map(_linear_kernel, array.shape[2:]))
        )
        value = numpy.zeros(array.shape, dtype=array.dtype)
        channels = numpy.arange(n_first)
        value[channels, channels % n_second] = kernel
        backend.copyto(array, value)


def _linear_kernel(size):
    """Returns the triangular window of linear interpolation."""
    factor = (size + 1) // 2
    center = factor - 1 if size % 2 else factor - 0.5
    return 1 - numpy.abs(numpy.arange(size) - center) / factor


class UpsamplingDeconvFilter(_SamplingFilter):
    """Initializes a deconvolution filter that enlarges images by interpolation.

    The array has the shape (channels, channels or 1, kernel sizes...). For a
    factor ``k`` use the kernel size ``2 * k``, the stride ``k`` and the padding
    ``k // 2``. See J. Long et al., Fully Convolutional Networks for Semantic
    Segmentation, CVPR 2015.

    Args:
        interpolation (str): Only ``'linear'`` is supported.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.

    Raises:
        ValueError: The interpolation is unknown, or the array has too few axes.
        AssertionError: The second axis of the array is wrong.

    .. admonition:: Example

        >>> filter = chainer.initializers.UpsamplingDeconvFilter()
        >>> deconv = L.Deconvolution1D(1, 1, ksize=4, stride=2, pad=1, initialW=filter)
        >>> deconv(np.array([[[0, 4, 8]]], np.float32))
        variable([[[0., 1., 3., 5., 7., 6.]]])

    """


class DownsamplingConvFilter(_SamplingFilter):
    """Initializes a convolution filter that shrinks images by a weighted mean.

    The array has the shape (channels, channels or 1, kernel sizes...). The
    weights are those of :class:`~chainer.initializers.UpsamplingDeconvFilter`,
    scaled to sum to one.

    Args:
        interpolation (str): Only ``'linear'`` is supported.
        dtype: Required data type of arrays (else ``AssertionError``). If ``None``, any.

    Raises:
        ValueError: The interpolation is unknown, or the array has too few axes.
        AssertionError: The second axis of the array is wrong.

    .. admonition:: Example

        >>> filter = chainer.initializers.DownsamplingConvFilter()
        >>> conv = L.Convolution1D(1, 1, ksize=4, stride=2, pad=1, initialW=filter)
        >>> conv.W
        variable W([[[0.125, 0.375, 0.375, 0.125]]])
        >>> conv(np.full((1, 1, 6), 8, np.float32))
        variable([[[7., 8., 7.]]])

    """

    def _normalize(self, kernel):
        return kernel / kernel.sum()
