"""Image processing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from collections.abc import Iterable


def oversample(images: Iterable[numpy.ndarray], crop_dims: tuple[int, ...]) -> numpy.ndarray:
    """Makes ten crops of each image: four corners, the center, and their mirror images.

    Args:
        images: Iterable of arrays of shape ``(channels, height, width)``.
        crop_dims (tuple of int): Height and width of the crops.

    Returns:
        numpy.ndarray: Crops of shape ``(10 * number of images, channels, height, width)``: per
        image the corners (upper left, upper right, lower left, lower right) and the center, then
        their mirror images.

    Raises:
        ValueError: If there are no images, or they are smaller than the crops.

    .. admonition:: Example

        >>> from chainer.utils import imgproc
        >>> imgproc.oversample(np.zeros((2, 3, 8, 8), np.float32), (4, 4)).shape
        (20, 3, 4, 4)

    """
    images = [numpy.asarray(image) for image in images]
    if not images:
        raise ValueError('images must not be empty')
    channels, height, width = images[0].shape
    crop_h, crop_w = crop_dims
    if crop_h > height or crop_w > width:
        raise ValueError(
            f'crop_dims {tuple(crop_dims)} must not be larger than the images {height, width}'
        )
    bottom, right = height - crop_h, width - crop_w
    starts = [(0, 0), (0, right), (bottom, 0), (bottom, right), (bottom // 2, right // 2)]
    crops = numpy.empty((len(images), 2, 5, channels, crop_h, crop_w), images[0].dtype)
    for image, out in zip(images, crops):
        for i, (y, x) in enumerate(starts):
            out[0, i] = image[:, y : y + crop_h, x : x + crop_w]
        out[1] = out[0, ..., ::-1]
    return crops.reshape(-1, *crops.shape[3:])
