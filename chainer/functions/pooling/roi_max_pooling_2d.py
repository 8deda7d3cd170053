"""Max pooling of regions of interest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.pooling._roi import parse_outsize, parse_spatial_scale
from chainer.functions.pooling._roi_maximum import MaximumOfBins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class ROIMaxPooling2D(MaximumOfBins):
    """Maxima of the bins of regions."""

    outh: int
    outw: int

    def __init__(self, outsize: int | Sequence[int], spatial_scale: float) -> None:
        self.outh, self.outw = parse_outsize(outsize)
        self.spatial_scale: float = parse_spatial_scale(spatial_scale)


def roi_max_pooling_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: int | Sequence[int],
    spatial_scale: float,
) -> Variable:
    """Max pooling of regions of interest (ROI) to a fixed size.

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

    See: R. Girshick, Fast R-CNN, ICCV 2015.

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 8, 4]], np.float32)
        >>> F.roi_max_pooling_2d(x, rois, np.array([0]), 2, 0.5).array[0, 0]
        array([[ 4.,  5.],
               [12., 13.]], dtype=float32)

    """
    return ROIMaxPooling2D(outsize, spatial_scale).apply((x, rois, roi_indices))[0]
