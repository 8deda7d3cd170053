"""Floor."""
from __future__ import annotations

from chainer.functions._base import apply_without_gradient


def floor(x):
    """Elementwise largest integer not above ``x``.

    The result has no gradient.

    Args:
        x (:class:`~chainer.Variable` or array): Input.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return apply_without_gradient('floor', x)
