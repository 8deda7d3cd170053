"""Gumbel-Softmax samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.names.namespace import F
from chainer.functions._arrays import draw_like
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.variable import Variable


def gumbel_softmax(log_pi: VariableLike, tau: float = 0.1, axis: int = 1) -> Variable:
    """Samples of a continuous relaxation of a categorical distribution.

    .. math:: y = \\mathrm{softmax}\\left(\\frac{\\log \\pi + g}\\tau\\right)

    with Gumbel noise :math:`g`.

    Args:
        log_pi (:class:`~chainer.Variable` or array): Unnormalized log probabilities, floating
            point.
        tau (float): Temperature; near zero, samples become one-hot.
        axis (int): Axis of the categories.

    Returns:
        ~chainer.Variable: Samples of the shape and dtype of ``log_pi``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``log_pi`` is not floating point or lacks
            the axis.

    See: Jang et al., Categorical reparameterization with Gumbel-Softmax, ICLR 2017.

    .. admonition:: Example

        >>> log_pi = np.log(np.array([[0.2, 0.3, 0.5]], np.float32))
        >>> y = F.gumbel_softmax(log_pi, tau=0.1).array
        >>> y.shape, bool(abs(y.sum() - 1) < 1e-3)
        ((1, 3), True)

    """
    log_pi = as_variable(log_pi)
    if log_pi.ndim == 0:
        # The only category there is.
        return as_variable(log_pi.xp.ones_like(log_pi.array))
    shape, dtype = log_pi.shape, log_pi.dtype
    noise = draw_like(
        log_pi.array, lambda xp: xp.asarray(xp.random.gumbel(size=shape), dtype=dtype)
    )
    return F.softmax((log_pi + noise) * (1 / tau), axis=axis)
