"""Elementwise sum with an array that has part of the axes."""
from __future__ import annotations

from chainer.functions._base import broadcast_along


def bias(x, y, axis=1):
    """Adds an array, broadcast along the remaining axes.

    Args:
        x (:class:`~chainer.Variable` or array): Input.
        y (:class:`~chainer.Variable` or array): Second operand, whose axes match those of
            ``x`` from ``axis`` on.
        axis (int): First axis of ``x`` that ``y`` has.

    Returns:
        ~chainer.Variable: Output of the shape of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``y`` cannot be broadcast that way.
        AssertionError: In debug mode, if the shape of ``y`` is not that part of the shape of ``x``.

    """
    return x + broadcast_along(x, y, axis)
