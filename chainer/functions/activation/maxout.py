"""Maxout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.names.namespace import F
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def maxout(x: VariableLike, pool_size: int, axis: int = 1) -> Variable:
    """Maximum over groups of neighbouring channels.

    .. math:: f(x)_i = \\max_{0 \\le j < p} x_{p i + j}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values. The length
            of its ``axis`` is a multiple of ``pool_size``.
        pool_size (int): Number :math:`p` of channels per group.
        axis (int): Axis of the channels.

    Returns:
        ~chainer.Variable: Output of the dtype and shape of ``x``, but ``pool_size`` times shorter
        along ``axis``.

    Raises:
        ValueError: If ``pool_size`` is not positive.
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or the length
            of the axis is not a multiple of ``pool_size``.

    See: Goodfellow et al., `Maxout Networks <https://arxiv.org/abs/1302.4389>`_, 2013.

    .. admonition:: Example

        >>> F.maxout(np.array([[1, 3, 2, 0]], np.float32), 2).array
        array([[3., 2.]], dtype=float32)

    """
    if pool_size <= 0:
        raise ValueError(f'pool_size must be a positive integer, got {pool_size}')
    shape = x.shape
    if shape[axis] % pool_size != 0:
        raise type_check.InvalidType(
            'x.shape[axis] % pool_size == 0',
            f'x.shape[axis]={shape[axis]}, pool_size={pool_size}',
            'axis must be divided by pool_size',
        )
    axis %= len(shape)
    groups = (*shape[:axis], shape[axis] // pool_size, pool_size, *shape[axis + 1 :])
    return F.max(F.reshape(x, groups), axis=axis + 1)
