"""Group normalization."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING

import chainerx
from chainer.functions._base import kernels
from chainer.functions.normalization._rows import RowNormalization
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class GroupNormalization(RowNormalization):
    """Normalization of groups of channels of every sample."""

    _kernels = kernels(retain=(0, 1), check=True)

    def __init__(self, groups: int, eps: float = 1e-5) -> None:
        if not isinstance(groups, numbers.Integral):
            raise TypeError(f'groups must be an int, not {type(groups)}')
        super().__init__(eps)
        self.groups: int = int(groups)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'gamma', 'beta'))
        x_type, gamma_type, beta_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.ndim >= 2,
            gamma_type.ndim == 1,
            beta_type.ndim == 1,
            gamma_type.dtype.kind == 'f',
            gamma_type.dtype == beta_type.dtype,
            x_type.shape[1] == gamma_type.shape[0],
            gamma_type.shape == beta_type.shape,
        )

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, gamma, beta = inputs
        self._check_groups(x)
        return (chainerx.group_norm(x, self.groups, gamma, beta, self.eps),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self._check_groups(inputs[0])
        return super().forward(inputs)

    def _check_groups(self, x):
        channels = x.shape[1]
        if channels % self.groups or self.groups < 1:
            raise ValueError(
                f'groups must be a divisor of the number of channels, {channels}; got {self.groups}'
            )

    def _shape(self, shape):
        return shape[0], self.groups, shape[1] // self.groups, math.prod(shape[2:])


def group_normalization(
    x: VariableLike, groups: int, gamma: VariableLike, beta: VariableLike, eps: float = 1e-5
) -> Variable:
    """Group normalization.

    It divides channels into groups and normalizes every group of every sample with the mean and
    variance of its elements, then scales and shifts each channel. One group normalizes whole
    samples; as many groups as channels give instance normalization.

    .. math:: y = \\gamma_c \\frac{x - \\mu_{ng}}{\\sqrt{\\sigma_{ng}^2 + \\epsilon}} + \\beta_c

    for channel :math:`c` in group :math:`g` of sample :math:`n`.

    Args:
        x (:class:`~chainer.Variable` or array): Input, floating point of shape
            :math:`(N, C, ...)`.
        groups (int): Number of groups, a divisor of :math:`C`.
        gamma (:class:`~chainer.Variable` or array): Scale, floating point of shape
            :math:`(C,)`.
        beta (:class:`~chainer.Variable` or array): Shift, of the shape and dtype of
            ``gamma``.
        eps (float): Added to variances.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        TypeError: If ``groups`` is not an int.
        ValueError: If ``groups`` does not divide the number of channels.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Wu and He, Group normalization, ECCV 2018.

    .. seealso:: :class:`~chainer.links.GroupNormalization`

    .. admonition:: Example

        >>> x = np.array([[1, 3, 10, 30]], np.float32)
        >>> gamma, beta = np.ones(4, np.float32), np.zeros(4, np.float32)
        >>> F.group_normalization(x, 2, gamma, beta, eps=0).array
        array([[-1.,  1., -1.,  1.]], dtype=float32)

    """
    return GroupNormalization(groups, eps).apply((x, gamma, beta))[0]
