"""Sign."""
from __future__ import annotations

from chainer.functions._base import apply_without_gradient


def sign(x):
    """Elementwise sign: -1, 0 or 1.

    The result has no gradient.

    Args:
        x (:class:`~chainer.Variable` or array): Input.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return apply_without_gradient('sign', x)
