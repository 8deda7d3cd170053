"""Determinants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer._core.names.namespace import F
from chainer._core.reports.fallback import Fallback
from chainer._core.settings.half import is_half
from chainer.functions._base import Operation, kernels
from chainer.functions.math.inv import linalg
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class BatchDet(Operation):
    """Determinants of a batch of matrices."""

    _kernels = kernels(retain=(0,))

    @property
    def label(self) -> str:
        return 'det'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a',))
        (a_type,) = in_types
        type_check.expect(a_type.dtype.kind == 'f', a_type.ndim == 3)
        type_check.expect(a_type.shape[-1] == a_type.shape[-2])

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (linalg('det', inputs[0]),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (a,) = inputs
        if is_half(a.dtype):
            return Fallback('float16')
        return (chainerx.linalg.det(a),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        factor = m.reshape(gys[0] * ys[0], (-1, 1, 1))
        return (factor * m.swapaxes(m.batch_inv(xs[0]), 1, 2),)


def batch_det(a: VariableLike) -> Variable:
    """Determinants of the matrices of a batch.

    Args:
        a (:class:`~chainer.Variable` or array): Matrices, floating point of shape
            :math:`(m, n, n)`.

    Returns:
        ~chainer.Variable: Determinants, of shape :math:`(m,)` and of the dtype of ``a``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``a`` is not a batch of floating point
            square matrices.

    .. admonition:: Example

        >>> a = np.array([[[1, 0], [0, 2]], [[0, 1], [1, 0]]], np.float32)
        >>> F.batch_det(a).array
        array([ 2., -1.], dtype=float32)

    """
    return BatchDet().apply((a,))[0]


def det(a: VariableLike) -> Variable:
    """Determinant of a square matrix.

    Args:
        a (:class:`~chainer.Variable` or array): Floating point matrix of shape
            :math:`(n, n)`; further axes of length one count as none.

    Returns:
        ~chainer.Variable: Determinant, a scalar of the dtype of ``a``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``a`` is not a floating point square matrix.

    .. admonition:: Example

        >>> F.det(np.array([[2, 0], [5, 3]], np.float32)).array
        array(6., dtype=float32)

    """
    y = batch_det(F.reshape(a, (1, a.shape[0], a.shape[1])))
    return F.reshape(y, ())
