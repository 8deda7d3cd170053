"""Root mean square normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.functions._base import kernels
from chainer.functions.normalization import _moments
from chainer.functions.normalization._rows import RowNormalization
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class RMSNormalization(RowNormalization):
    """Division by the root mean square over the last axis."""

    centered = False
    _kernels = kernels(retain=(0, 1))

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'gamma'))
        x_type, gamma_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.ndim >= 1,
            gamma_type.dtype.kind == 'f',
            gamma_type.ndim == 1,
            gamma_type.shape[0] == x_type.shape[-1],
        )

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, gamma = inputs
        dtype = _moments.compute_dtype(x, gamma)
        t = x.astype(dtype, copy=False)
        squares = (t * t).sum(axis=-1, keepdims=True) / max(x.shape[-1], 1)
        y = t / chainerx.sqrt(squares + self.eps) * gamma.astype(dtype, copy=False)
        return (y.astype(x.dtype, copy=False),)


def rms_normalization(x: VariableLike, gamma: VariableLike, eps: float = 1e-5) -> Variable:
    """Root mean square normalization over the last axis.

    .. math:: y = \\gamma \\frac{x}{\\sqrt{\\frac1D \\sum_{i=1}^D x_i^2 + \\epsilon}}

    Args:
        x (:class:`~chainer.Variable` or array): Input, floating point of shape
            :math:`(..., D)`.
        gamma (:class:`~chainer.Variable` or array): Scale, floating point of shape
            :math:`(D,)`.
        eps (float): Added to mean squares.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Zhang and Sennrich, Root mean square layer normalization, NeurIPS 2019.

    .. admonition:: Example

        >>> x = np.array([1, 7], np.float32)
        >>> F.rms_normalization(x, np.ones(2, np.float32), eps=0).array.round(4)
        array([0.2, 1.4], dtype=float32)

    """
    return RMSNormalization(eps).apply((x, gamma))[0]
