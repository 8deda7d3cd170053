"""Sigmoid cross entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer import backend, utils
from chainer.functions._arguments import check_reduce
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class SigmoidCrossEntropy(Operation):
    """Sigmoid activation followed by a binary cross entropy loss."""

    ignore_label = -1
    _kernels = kernels(retain=(0, 1), check=True)

    def __init__(self, normalize: bool = True, reduce: str = 'mean') -> None:
        check_reduce(reduce)
        self.normalize = normalize
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 't'))
        x_type, t_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f', t_type.dtype.kind == 'i', x_type.shape == t_type.shape
        )

    def _mask_and_factor(self, x, t):
        """Returns one where an element counts, else zero; and the factor of the mean."""
        mask = t != self.ignore_label
        factor: float | chainerx.ndarray
        if not self.normalize:
            factor = 1.0 / max(len(x) if x.ndim else 1, 1)
        elif isinstance(x, chainerx.ndarray):  # which does not wait for the number
            factor = (1.0 / chainerx.maximum(mask.sum(), 1).astype('float64')).astype(x.dtype)
        else:
            factor = 1.0 / max(int(mask.sum()), 1)
        return mask.astype(x.dtype), factor

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, t = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(x)
        mask, factor = self._mask_and_factor(x, t)
        # log(1 + e^x) - t x, without overflow.
        loss = mask * (xp.maximum(x, 0) + xp.log1p(xp.exp(-abs(x))) - x * t.astype(x.dtype))
        if self.reduce == 'mean':
            loss = loss.sum() * x.dtype.type(factor)
        return (utils.force_array(loss, x.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, t = inputs
        mask, factor = self._mask_and_factor(x, t)
        loss = mask * chainerx.sigmoid_cross_entropy(x, t)
        if self.reduce == 'mean':
            loss = loss.sum() * factor
        return (loss,)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, t = xs[0], as_array(xs[1])
        (gy,) = gys
        mask, factor = self._mask_and_factor(x, t)
        if self.reduce == 'mean':
            gy = gy * factor
        gx = gy * mask * (m.sigmoid(x) - t.astype(x.dtype))
        return [None if i else gx for i in targets]


def sigmoid_cross_entropy(
    x: VariableLike, t: VariableLike, normalize: bool = True, reduce: str = 'mean'
) -> Variable:
    """Binary cross entropy of unnormalized log odds.

    .. math:: -t \\log \\sigma(x) - (1 - t) \\log(1 - \\sigma(x)) = \\log(1 + e^x) - t x

    Elements with the label -1 have no loss.

    Args:
        x (:class:`~chainer.Variable` or array): Log odds, floating point of any shape.
        t (:class:`~chainer.Variable` or array): Integer labels 0, 1 or -1, of the same shape.
        normalize (bool): Whether to average over labels other than -1; otherwise divides the sum
            by the length of the first axis.
        reduce (str): ``'mean'``, or ``'no'`` for elementwise losses.

    Returns:
        ~chainer.Variable: Scalar, or losses of the shape of ``x``, of the dtype of ``x``.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x = np.array([[-2, 3, 0]], np.float32)
        >>> t = np.array([[0, 1, -1]])
        >>> F.sigmoid_cross_entropy(x, t, reduce='no').array.round(4)
        array([[0.1269, 0.0486, 0.    ]], dtype=float32)
        >>> print(F.sigmoid_cross_entropy(x, t).array.round(4))
        0.0878

    """
    return SigmoidCrossEntropy(normalize, reduce).apply((x, t))[0]
