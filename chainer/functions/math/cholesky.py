"""Cholesky decomposition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer import backend
from chainer._core.reports.fallback import Fallback
from chainer._core.settings.half import is_half
from chainer.functions._base import Operation, kernels
from chainer.functions.math.inv import linalg
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Cholesky(Operation):
    """Function node of :func:`~chainer.functions.cholesky`."""

    _kernels = kernels()

    @property
    def label(self) -> str:
        return 'cholesky'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a',))
        (a_type,) = in_types
        type_check.expect(a_type.dtype.kind == 'f', a_type.ndim == 2)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_outputs((0,))
        return (linalg('cholesky', inputs[0]),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (a,) = inputs
        if is_half(a.dtype):
            return Fallback('float16')
        return (chainerx.linalg.cholesky(a),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        # Murray, Differentiation of the Cholesky decomposition, 2016 (arXiv:1602.07527):
        # the symmetric gradient is L^-T P(L^T gL) L^-1 with P the lower triangle, its
        # diagonal halved.
        (y,) = ys
        xp = backend.get_array_module(as_array(y))
        lower = xp.tril(xp.ones(y.shape, y.dtype))
        lower -= xp.eye(len(lower), dtype=y.dtype) * y.dtype.type(0.5)
        inverse = m.inv(y)
        middle = m.matmul(y, gys[0], transa=True) * lower
        gx = m.matmul(m.matmul(inverse, middle, transa=True), inverse)
        return ((gx + m.transpose(gx)) * 0.5,)


def cholesky(a: VariableLike) -> Variable:
    """Cholesky decomposition :math:`A = L L^\\top` of a symmetric positive definite matrix.

    It reads only the lower triangle of ``a``; the gradient is symmetric.

    Args:
        a (:class:`~chainer.Variable` or array): Floating point matrix of shape
            :math:`(n, n)`.

    Returns:
        ~chainer.Variable: Lower triangular matrix :math:`L`, of the shape and dtype of ``a``.

    Raises:
        numpy.linalg.LinAlgError: If the matrix is not square or not positive definite (on the
            CPU).
        ~chainer.utils.type_check.InvalidType: If ``a`` is not a floating point matrix.

    .. admonition:: Example

        >>> F.cholesky(np.array([[4, 2], [2, 10]], np.float32)).array
        array([[2., 0.],
               [1., 3.]], dtype=float32)

    """
    return Cholesky().apply((a,))[0]
