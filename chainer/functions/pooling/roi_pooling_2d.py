"""Max pooling of regions of interest with inclusive corners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.functions._arguments import parse_int
from chainer.functions.pooling._roi import parse_spatial_scale
from chainer.functions.pooling._roi_maximum import MaximumOfBins
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class ROIPooling2D(MaximumOfBins):
    """Maxima of the bins of regions ``(image, x_min, y_min, x_max, y_max)``."""

    outh: int
    outw: int

    def __init__(self, outh: int, outw: int, spatial_scale: float) -> None:
        for name, size in (('outh', outh), ('outw', outw)):
            if parse_int(size, name) < 1:
                raise ValueError(f'{name} must be positive, got {size}')
        self.outh, self.outw = outh, outw
        self.spatial_scale: float = parse_spatial_scale(spatial_scale)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        type_check.expect_arguments(in_types, ('x', 'rois'))
        x_type, roi_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.ndim == 4,
            roi_type.dtype == x_type.dtype,
            roi_type.ndim == 2,
            roi_type.shape[1] == 5,
        )

    def _parse_regions(self, arrays):
        (rois,) = arrays
        corners = numpy.rint(rois[:, [2, 1, 4, 3]].astype(numpy.float64) * self.spatial_scale)
        # The last pixels belong to the regions.
        corners[:, 2:] += 1
        return corners, rois[:, 0].astype(int)


def roi_pooling_2d(
    x: VariableLike, rois: VariableLike, outh: int, outw: int, spatial_scale: float
) -> Variable:
    """Max pooling of regions of interest (ROI) to a fixed size, in the format of Fast R-CNN.

    It differs from :func:`roi_max_pooling_2d` only in the format of regions, which include their
    last pixels.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        rois (:class:`~chainer.Variable` or array): Regions of shape ``(r, 5)``: ``(image, x_min,
            y_min, x_max, y_max)``, of the dtype of ``x``. They get no gradient.
        outh (int): Height of the output.
        outw (int): Width of the output.
        spatial_scale (float): Factor from the coordinates of ``rois`` to pixels of ``x``.

    Returns:
        ~chainer.Variable: Output of shape ``(r, c, outh, outw)``, of the dtype of ``x``.

    Raises:
        TypeError: If ``outh`` or ``outw`` is not an int, or ``spatial_scale`` not a positive
            number.
        ValueError: If ``outh`` or ``outw`` is not positive.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: R. Girshick, Fast R-CNN, ICCV 2015.

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> rois = np.array([[0, 0, 0, 1, 3]], np.float32)
        >>> F.roi_pooling_2d(x, rois, 2, 2, 1.).array[0, 0]
        array([[ 4.,  5.],
               [12., 13.]], dtype=float32)

    """
    return ROIPooling2D(outh, outw, spatial_scale).apply((x, rois))[0]
