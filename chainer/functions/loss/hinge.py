"""Hinge loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, utils
from chainer.functions._arguments import check_reduce
from chainer.functions._arrays import positive_part, sent_like
from chainer.functions._base import CallableFunction, kernels
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Hinge(CallableFunction):
    """Function node of :func:`~chainer.functions.hinge`."""

    _kernels = kernels(retain=(0, 1))

    def __init__(self, norm: str = 'L1', reduce: str = 'mean') -> None:
        if norm not in ('L1', 'L2'):
            raise NotImplementedError(f"norm should be either 'L1' or 'L2', got {norm!r}")
        check_reduce(reduce)
        self.norm = norm
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 't'))
        x_type, t_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            t_type.dtype.kind == 'i',
            x_type.ndim == 2,
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
        )

    def _signs(self, x, t):
        """Minus one at the true class, one elsewhere."""
        signs = backend.get_array_module(x).ones_like(x)
        signs[sent_like(x, numpy.arange(len(t))), t] = -1
        return signs

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, t = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(x)
        loss = positive_part(xp, 1 + self._signs(x, t) * x)
        if self.norm == 'L2':
            loss = loss * loss
        if self.reduce == 'mean':
            loss = loss.sum() / x.dtype.type(len(x))
        return (utils.force_array(loss, x.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, t = xs
        (gy,) = gys
        signs = self._signs(as_array(x), as_array(t))
        margin = 1 + signs * x
        if self.reduce == 'mean':
            gy = gy * (1.0 / len(x))
        gx = gy * (signs * (as_array(margin) > 0))
        if self.norm == 'L2':
            gx = gx * 2 * margin
        return [None if i else gx for i in targets]


def hinge(x: VariableLike, t: VariableLike, norm: str = 'L1', reduce: str = 'mean') -> Variable:
    """Hinge loss of one-versus-all classification.

    .. math:: \\frac1N \\sum_{nk} \\max(1 - s_{nk} x_{nk}, 0)^p

    where :math:`s` is 1 for the true class and -1 for the others, and :math:`p` is 1 or 2.

    Args:
        x (:class:`~chainer.Variable` or array): Scores, floating point of shape
            :math:`(N, K)`.
        t (:class:`~chainer.Variable` or array): Integer labels, of shape :math:`(N,)`.
        norm (str): ``'L1'`` or ``'L2'``.
        reduce (str): ``'mean'`` (the sum divided by :math:`N`), or ``'no'`` for the loss of
            each score.

    Returns:
        ~chainer.Variable: Scalar, or losses of shape :math:`(N, K)`, of the dtype of ``x``.

    Raises:
        NotImplementedError: If ``norm`` is invalid.
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x = np.array([[-2, 1, 0], [0, 0, 3]], np.float32)
        >>> F.hinge(x, np.array([0, 2]), reduce='no').array
        array([[3., 2., 1.],
               [1., 1., 0.]], dtype=float32)
        >>> F.hinge(x, np.array([0, 2])).array
        array(4., dtype=float32)

    """
    return Hinge(norm, reduce).apply((x, t))[0]
