"""Rounding towards zero."""
from __future__ import annotations

from chainer.functions._base import apply_without_gradient


def fix(x):
    """Elementwise nearest integer towards zero.

    The result has no gradient.

    Args:
        x (:class:`~chainer.Variable` or array): Input.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    """
    return apply_without_gradient('trunc', x)  # the same; NumPy 2.5 deprecates its fix
