"""Parametric rectified linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer.backends import cuda
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


class PReLUFunction(Operation):
    """Rectified linear unit with learned slopes for negative values."""

    _kernels = kernels(retain=(0, 1))

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x', 'W'))
        x_type, W_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            W_type.dtype == x_type.dtype,
            x_type.ndim >= W_type.ndim + 1,
            x_type.shape[1 : 1 + type_check.eval(W_type.ndim)] == W_type.shape,
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, W = inputs
        self.retain_inputs((0, 1))
        xp = cuda.get_array_module(x)
        y = xp.minimum(x, 0)
        y *= _extended(W, x)
        y += xp.maximum(x, 0)
        return (y,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, W = inputs
        return (chainerx.where(x >= 0, x, x * _extended(W, x)),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, W = xs
        (gy,) = gys
        gy_negative = gy * (as_array(x) < 0).astype(gy.dtype)
        gxs = []
        for i in targets:
            if i == 0:
                gxs.append(gy_negative * _extended(W, x) + (gy - gy_negative))
            else:
                gW = m.sum_to(gy_negative * x, _extended_shape(W.shape, x.ndim))
                gxs.append(gW.reshape(W.shape))
        return gxs


def _extended_shape(shape, ndim):
    """Shape that broadcasts along the first and last axes of an input."""
    return (1, *shape, *(1,) * (ndim - 1 - len(shape)))


def _extended(W, x):
    return W if W.ndim == x.ndim else W.reshape(_extended_shape(W.shape, x.ndim))


def prelu(x: VariableLike, W: VariableLike) -> Variable:
    """Parametric rectified linear unit.

    .. math:: f(x) = \\begin{cases} x & x \\ge 0 \\\\ W x & x < 0 \\end{cases}

    Args:
        x (:class:`~chainer.Variable` or array): Input of floating point values, of shape
            ``(N, ...)``.
        W (:class:`~chainer.Variable` or array): Slopes for negative values, of the dtype of
            ``x``. Its axes match the axes of ``x`` starting from the second one.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point or ``W`` does not
            fit.

    See: He et al., `Delving Deep into Rectifiers <https://arxiv.org/abs/1502.01852>`_, 2015.

    .. admonition:: Example

        >>> x = np.array([[-1, 2], [-3, -4]], np.float32)
        >>> F.prelu(x, np.array([0.5, 0.25], np.float32)).array
        array([[-0.5,  2. ],
               [-1.5, -1. ]], dtype=float32)

    """
    return PReLUFunction().apply((x, W))[0]
