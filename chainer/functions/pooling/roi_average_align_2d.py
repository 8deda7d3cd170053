"""Average pooling of interpolated regions of interest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.pooling._roi import parse_outsize, parse_sampling_ratio, parse_spatial_scale
from chainer.functions.pooling._roi_mean import Mean
from chainer.functions.pooling._roi_samples import Samples, interpolation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class ROIAverageAlign2D(Samples, Mean):
    """Means of points in the bins of regions.

    Attributes:
        sampling_ratio (pair of int or None): Number of points in a bin, vertically and
            horizontally.

    """

    outh: int
    outw: int

    def __init__(
        self,
        outsize: int | Sequence[int],
        spatial_scale: float,
        sampling_ratio: int | tuple[int | None, int | None] | None = None,
    ) -> None:
        self.outh, self.outw = parse_outsize(outsize)
        self.spatial_scale: float = parse_spatial_scale(spatial_scale)
        self.sampling_ratio: tuple[int | None, ...] = parse_sampling_ratio(sampling_ratio)

    def _mean_matrix(self, division, out):
        first, matrix = interpolation(*division)
        return int(first), matrix.reshape(out, -1, matrix.shape[1]).mean(axis=1)


def roi_average_align_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: int | Sequence[int],
    spatial_scale: float,
    sampling_ratio: int | tuple[int | None, int | None] | None = None,
) -> Variable:
    """Average pooling of regions of interest (ROI) to a fixed size, without rounding.

    It divides a region into equal bins and each bin into a grid of points, and interpolates the
    image bilinearly at the points. Points more than one pixel outside the image are zero.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        rois (:class:`~chainer.Variable` or array): Regions of shape ``(r, 4)``: ``(y_min, x_min,
            y_max, x_max)``, of the dtype of ``x``. They get no gradient.
        roi_indices (:class:`~chainer.Variable` or array of int): Indices of the
            regions' images, of shape ``(r,)``.
        outsize (int or pair of int): Size of the output.
        spatial_scale (float): Factor from the coordinates of ``rois`` to pixels of ``x``.
        sampling_ratio (int, None or pair of these): Number of points in a bin along each axis;
            ``None`` uses about one per pixel.

    Returns:
        ~chainer.Variable: Output of shape ``(r, c, outh, outw)``, of the dtype of ``x``.

    Raises:
        TypeError: If ``outsize``, ``spatial_scale`` or ``sampling_ratio`` is not positive
            or has a wrong type.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: K. He et al., Mask R-CNN, ICCV 2017.

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 2, 2]], np.float32)
        >>> F.roi_average_align_2d(x, rois, np.array([0]), 2, 1.).array[0, 0]
        array([[2.5, 3.5],
               [6.5, 7.5]], dtype=float32)

    """
    func = ROIAverageAlign2D(outsize, spatial_scale, sampling_ratio)
    return func.apply((x, rois, roi_indices))[0]
