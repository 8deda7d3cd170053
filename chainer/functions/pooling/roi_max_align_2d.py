"""Max pooling of interpolated regions of interest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.backends import cuda
from chainer.functions.pooling._roi import (
    channels_first,
    channels_last,
    parse_outsize,
    parse_sampling_ratio,
    parse_spatial_scale,
)
from chainer.functions.pooling._roi_maximum import Maximum, first_maxima
from chainer.functions.pooling._roi_samples import Samples, interpolation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import VariableLike
    from chainer.variable import Variable


class ROIMaxAlign2D(Samples, Maximum):
    """Maxima of points in the bins of regions.

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

    def _pool(self, x):
        xp = cuda.get_array_module(x)
        image = channels_last(x)
        outh, outw, c = self.outh, self.outw, x.shape[1]
        shape = len(self._indices), outh, outw, c
        y, points = xp.empty(shape, image.dtype), [xp.empty(shape, int) for _ in range(2)]
        for r, (i, (rows, columns)) in enumerate(zip(self._indices.tolist(), self._regions)):
            (top, vertical), (left, horizontal) = interpolation(*rows), interpolation(*columns)
            vertical, horizontal = [xp.asarray(m, image.dtype) for m in (vertical, horizontal)]
            part = image[i, top : top + vertical.shape[1], left : left + horizontal.shape[1]]
            values = vertical.dot(part.reshape(len(part), -1))
            values = xp.matmul(horizontal, values.reshape(len(vertical), -1, c))
            values[xp.asarray(~(rows[3][:, None] & columns[3]))] = -numpy.inf
            grid_h, grid_w = len(vertical) // outh, len(horizontal) // outw
            values = values.reshape(outh, grid_h, outw, grid_w, c)
            y[r], best = first_maxima(
                (values[:, i, :, j] for i in range(grid_h) for j in range(grid_w)), grid_h * grid_w
            )
            points[0][r] = best // grid_w + grid_h * xp.arange(outh)[:, None, None]
            points[1][r] = best % grid_w + grid_w * xp.arange(outw)[:, None]
        self._points = [channels_first(a, a.dtype) for a in points]
        return channels_first(y, x.dtype)

    def _corners(self):
        if not self._regions:
            return
        xp = cuda.get_array_module(*self._points)
        width = self._x_shape[3]
        axes = []
        for axis, points in enumerate(self._points):
            divisions = [region[axis] for region in self._regions]
            lengths = [len(low) for low, _, _, _ in divisions]
            starts = numpy.cumsum([0, *lengths])[:-1]
            points = points + xp.asarray(starts, int)[:, None, None, None]
            low, high, part, exist = [
                xp.asarray(numpy.concatenate(a))[points] for a in zip(*divisions)
            ]
            axes.append(((low, 1 - part, exist), (high, part, exist)))
        for row, v, row_exists in axes[0]:
            for column, h, column_exists in axes[1]:
                yield v * h, xp.where(row_exists & column_exists, row * width + column, -1)


def roi_max_align_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: int | Sequence[int],
    spatial_scale: float,
    sampling_ratio: int | tuple[int | None, int | None] | None = None,
) -> Variable:
    """Max pooling of regions of interest (ROI) to a fixed size, without rounding.

    It divides a region into equal bins and each bin into a grid of points, and interpolates the
    image bilinearly at the points. It ignores points more than one pixel outside the image; a
    bin without other points gives minus infinity.

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

    See: K. He et al., Mask R-CNN, ICCV 2017, with maxima for means.

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 2, 2]], np.float32)
        >>> F.roi_max_align_2d(x, rois, np.array([0]), 1, 1., 2).array[0, 0]
        array([[7.5]], dtype=float32)

    """
    func = ROIMaxAlign2D(outsize, spatial_scale, sampling_ratio)
    return func.apply((x, rois, roi_indices))[0]
