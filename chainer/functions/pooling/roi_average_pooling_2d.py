"""Average pooling of regions of interest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.functions.pooling._roi import Bins, parse_outsize, parse_spatial_scale
from chainer.functions.pooling._roi_mean import Mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class ROIAveragePooling2D(Bins, Mean):
    """Means of the bins of regions."""

    outh: int
    outw: int

    def __init__(self, outsize: int | Sequence[int], spatial_scale: float) -> None:
        self.outh, self.outw = parse_outsize(outsize)
        self.spatial_scale: float = parse_spatial_scale(spatial_scale)

    def _mean_matrix(self, division, out):
        starts, stops = division
        pixels = numpy.arange(starts.min(), stops.max())
        inside = (starts[:, None] <= pixels) & (pixels < stops[:, None])
        return int(starts.min()), inside / numpy.maximum(stops - starts, 1)[:, None]


def roi_average_pooling_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: int | Sequence[int],
    spatial_scale: float,
) -> Variable:
    """Average pooling of regions of interest (ROI) to a fixed size.

    It rounds a region to whole pixels and divides it into bins, which share pixels if the
    division is uneven. Bins outside the image give zero.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        rois (:class:`~chainer.Variable` or array): Regions of shape ``(r, 4)``: ``(y_min, x_min,
            y_max, x_max)``, of the dtype of ``x``. They get no gradient.
        roi_indices (:class:`~chainer.Variable` or array of int): Indices of the
            regions' images, of shape ``(r,)``.
        outsize (int or pair of int): Size of the output.
        spatial_scale (float): Factor from the coordinates of ``rois`` to pixels of ``x``.

    Returns:
        ~chainer.Variable: Output of shape ``(r, c, outh, outw)``, of the dtype of ``x``.

    Raises:
        TypeError: If ``outsize`` or ``spatial_scale`` is not positive or has a wrong type.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: R. Girshick, Fast R-CNN, ICCV 2015, with means for maxima.

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 8, 4]], np.float32)
        >>> F.roi_average_pooling_2d(x, rois, np.array([0]), 2, 0.5).array[0, 0]
        array([[ 2.,  3.],
               [10., 11.]], dtype=float32)

    """
    return ROIAveragePooling2D(outsize, spatial_scale).apply((x, rois, roi_indices))[0]
