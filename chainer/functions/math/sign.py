"""Sign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.functions._arrays import apply_without_gradient

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def sign(x: VariableLike) -> Variable:
    """Elementwise sign: -1, 0 or 1.

    The result has no gradient.

    Args:
        x (:class:`~chainer.Variable`, array or scalar): Input of any dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``x`` is boolean or not of numbers.

    .. admonition:: Example

        >>> F.sign(np.array([-1.5, 0, 2], np.float32)).array
        array([-1.,  0.,  1.], dtype=float32)

    """
    return apply_without_gradient('sign', x if hasattr(x, 'dtype') else numpy.asarray(x))
