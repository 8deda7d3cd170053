"""Biases of links."""

from __future__ import annotations

from typing import Any

from chainer import initializers, variable


def make_bias(nobias: bool, initializer: Any, shape: Any = None) -> variable.Parameter | None:
    """Makes a bias, zero by default; ``None`` if there is to be none."""
    if nobias:
        return None
    initializer = 0 if initializer is None else initializer
    return variable.Parameter(initializers.get_initializer(initializer), shape)
