"""Layer normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.functions._base import kernels
from chainer.functions.normalization._rows import RowNormalization
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer.types import VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class LayerNormalization(RowNormalization):
    """Normalization of the last axis, with scale and shift."""

    _kernels = kernels(retain=(0, 1), check=True)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'gamma', 'beta'))
        x_type, gamma_type, beta_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.ndim >= 1,
            gamma_type.ndim == 1,
            beta_type.ndim == 1,
            gamma_type.dtype.kind == 'f',
            gamma_type.dtype == beta_type.dtype,
            gamma_type.shape == beta_type.shape,
            gamma_type.shape[0] == x_type.shape[-1],
        )

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...]:
        x, gamma, beta = inputs
        return (chainerx.layer_norm(x, gamma, beta, self.eps),)


def layer_normalization(
    x: VariableLike, gamma: VariableLike, beta: VariableLike, eps: float = 1e-5
) -> Variable:
    """Layer normalization over the last axis.

    It normalizes every row with the mean and variance of its elements,
    :math:`y_{ij} = \\gamma_j (x_{ij} - \\mu_i) / \\sqrt{\\sigma_i^2 + \\epsilon} + \\beta_j`.

    Args:
        x (:class:`~chainer.Variable` or array): Input, floating point of shape
            :math:`(..., D)` with any number of axes before the last.
        gamma (:class:`~chainer.Variable` or array): Scale, floating point of shape
            :math:`(D,)`.
        beta (:class:`~chainer.Variable` or array): Shift, of the shape and dtype of
            ``gamma``.
        eps (float): Added to variances.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Ba et al., Layer normalization, 2016.

    .. admonition:: Example

        >>> x = np.array([[1, 3], [10, 30]], np.float32)
        >>> gamma, beta = np.ones(2, np.float32), np.zeros(2, np.float32)
        >>> chainer.functions.layer_normalization(x, gamma, beta, eps=0).array
        array([[-1.,  1.],
               [-1.,  1.]], dtype=float32)

    """
    return LayerNormalization(eps).apply((x, gamma, beta))[0]
