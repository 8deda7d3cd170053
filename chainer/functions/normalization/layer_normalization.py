"""Layer normalization."""

from __future__ import annotations

import chainerx
from chainer._fallback import Fallback
from chainer.functions.normalization._rows import RowNormalization
from chainer.utils import type_check


class LayerNormalization(RowNormalization):
    """Normalization of every sample of a matrix."""

    _checked_natively = True
    _native_inputs = 0, 1

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x', 'gamma', 'beta'))
        x_type, gamma_type, beta_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.ndim == 2,
            gamma_type.ndim == 1,
            beta_type.ndim == 1,
            gamma_type.dtype.kind == 'f',
            gamma_type.dtype == beta_type.dtype,
            gamma_type.shape == beta_type.shape,
            gamma_type.shape[0] == x_type.shape[1],
        )

    def forward_chainerx(self, inputs):
        if inputs[0].ndim != 2:
            return Fallback
        return (chainerx.layer_norm(*inputs, self.eps),)

    def _shape(self, shape):
        return shape[0], 1, shape[1], 1


def layer_normalization(x, gamma, beta, eps=1e-5):
    """Layer normalization.

    It normalizes every sample with the mean and variance of its elements,
    :math:`y_{ij} = \\gamma_j (x_{ij} - \\mu_i) / \\sqrt{\\sigma_i^2 + \\epsilon} + \\beta_j`.

    Args:
        x (:class:`~chainer.Variable` or array): Samples, floating point of shape
            :math:`(N, D)`.
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
