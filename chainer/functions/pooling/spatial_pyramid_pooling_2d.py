"""Spatial pyramid pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.array.concat import concat
from chainer.functions.array.reshape import reshape
from chainer.functions.pooling.max_pooling_nd import max_pooling_2d

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def spatial_pyramid_pooling_2d(
    x: VariableLike, pyramid_height: int, pooling: str | None = None
) -> Variable:
    """Max pooling of images of any size to a vector of fixed length.

    Level :math:`l` of the pyramid divides an image into :math:`2^l \\times 2^l` windows.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point images of shape
            ``(n, c, h, w)``.
        pyramid_height (int): Number of levels.
        pooling (str): Kind of pooling; only ``'max'`` is supported.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c * (4 ** pyramid_height - 1) / 3, 1, 1)``, of the
        dtype of ``x``.

    Raises:
        ValueError: If ``pooling`` is invalid.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: K. He et al., Spatial Pyramid Pooling in Deep Convolutional Networks for Visual
    Recognition, ECCV 2014.

    .. admonition:: Example

        >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        >>> F.spatial_pyramid_pooling_2d(x, 2, pooling='max').array.ravel()
        array([15.,  5.,  7., 13., 15.], dtype=float32)
        >>> x = np.zeros((2, 3, 9, 13), np.float32)
        >>> F.spatial_pyramid_pooling_2d(x, 3, pooling='max').shape
        (2, 63, 1, 1)

    """
    if pooling != 'max':
        raise ValueError(f"pooling must be 'max', but is {pooling!r}")
    ys = []
    for level in range(pyramid_height):
        n_bins = 2**level
        ksize = tuple([-(-size // n_bins) for size in x.shape[2:]])
        pad = tuple([(k * n_bins - size) // 2 for k, size in zip(ksize, x.shape[2:])])
        y = max_pooling_2d(x, ksize, pad=pad)
        ys.append(reshape(y, (y.shape[0], y.shape[1] * y.shape[2] * y.shape[3], 1, 1)))
    return concat(ys)
