"""Scaled exponential linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions.activation.elu import elu

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def selu(
    x: VariableLike, alpha: float = 1.6732632423543772, scale: float = 1.0507009873554805
) -> Variable:
    """Scaled exponential linear unit.

    .. math::
        f(x) = \\lambda \\begin{cases}
            x & x \\ge 0 \\\\ \\alpha (\\exp(x) - 1) & x < 0 \\end{cases}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, any shape.
        alpha (float): Parameter :math:`\\alpha`.
        scale (float): Parameter :math:`\\lambda`.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    See: Klambauer et al., `Self-Normalizing Neural Networks
    <https://arxiv.org/abs/1706.02515>`_, 2017.

    .. admonition:: Example

        >>> F.selu(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([-1.111,  0.   ,  1.051], dtype=float32)

    """
    return elu(x, alpha) * scale
