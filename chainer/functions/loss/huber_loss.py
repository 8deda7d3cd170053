"""Huber loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import backend, utils
from chainer.functions._arguments import check_reduce
from chainer.functions._base import Operation, kernels
from chainer.functions.loss._difference import check_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class HuberLoss(Operation):
    """Function node of :func:`~chainer.functions.huber_loss`."""

    _kernels = kernels(retain=(0, 1))

    def __init__(self, delta: float, reduce: str = 'sum_along_second_axis') -> None:
        check_reduce(reduce, ('sum_along_second_axis', 'no'))
        self.delta = delta
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        check_pair(in_types, ('x', 't'))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, t = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(x)
        delta = x.dtype.type(self.delta)
        half = x.dtype.type(0.5)
        difference = x - t
        a = abs(difference)
        y = xp.where(a < delta, difference * difference * half, (a - half * delta) * delta)
        if self.reduce == 'sum_along_second_axis':
            y = y.sum(axis=1)
        return (utils.force_array(y, x.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, t = xs
        (gy,) = gys
        if self.reduce == 'sum_along_second_axis':
            gy = m.expand_dims(gy, 1)
        gx = gy * m.clip(x - t, -self.delta, self.delta)
        return [-gx if i else gx for i in targets]


def huber_loss(
    x: VariableLike, t: VariableLike, delta: float, reduce: str = 'sum_along_second_axis'
) -> Variable:
    """Huber loss: quadratic up to a threshold, linear beyond.

    .. math:: \\begin{cases} \\frac12 a^2 & a < \\delta \\\\
        \\delta (a - \\frac12 \\delta) & \\text{otherwise} \\end{cases}, \\qquad a = |x - t|

    Args:
        x (:class:`~chainer.Variable` or array): Predictions, floating point of shape
            :math:`(N, K, ...)`.
        t (:class:`~chainer.Variable` or array): Targets, of the same shape and dtype.
        delta (float): Distance :math:`\\delta`.
        reduce (str): ``'sum_along_second_axis'``, or ``'no'`` for elementwise losses.

    Returns:
        ~chainer.Variable: Losses, summed along the second axis (of shape :math:`(N, ...)`) or
        elementwise, of the dtype of ``x``.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Huber, Robust estimation of a location parameter, 1964.

    .. admonition:: Example

        >>> x, t = np.array([[0.5, 3]], np.float32), np.zeros((1, 2), np.float32)
        >>> F.huber_loss(x, t, delta=1, reduce='no').array
        array([[0.125, 2.5  ]], dtype=float32)
        >>> F.huber_loss(x, t, delta=1).array
        array([2.625], dtype=float32)

    """
    return HuberLoss(delta, reduce).apply((x, t))[0]
