"""Matrix inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.reports.fallback import Fallback
from chainer._core.settings.half import is_half
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.utils.array import _cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def linalg(name: str, x: NdArray) -> Any:
    """Applies a routine of ``linalg``; computes float16, which they lack, in float32."""
    routine = getattr(backend.get_array_module(x).linalg, name)
    if is_half(x.dtype):
        return _cast(routine(x.astype(numpy.float32)), x.dtype)
    return routine(x)


class BatchInv(Operation):
    """Inverses of a batch of matrices."""

    ndim = 3
    _kernels = kernels()

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a',))
        (a_type,) = in_types
        type_check.expect(a_type.dtype.kind == 'f', a_type.ndim == self.ndim)
        type_check.expect(a_type.shape[-1] == a_type.shape[-2])

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_outputs((0,))
        return (linalg('inv', inputs[0]),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (a,) = inputs
        if is_half(a.dtype):
            return Fallback('float16')
        return (chainerx.linalg.inv(a),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (y,) = ys
        return (-m.matmul(m.matmul(y, gys[0], transa=True), y, transb=True),)


class Inv(BatchInv):
    """Inverse of a matrix."""

    ndim = 2


def inv(a: VariableLike) -> Variable:
    """Inverse of a square matrix.

    Args:
        a (:class:`~chainer.Variable` or array): Floating point matrix of shape
            :math:`(n, n)`.

    Returns:
        ~chainer.Variable: Inverse, of the shape and dtype of ``a``.

    Raises:
        numpy.linalg.LinAlgError: If the matrix is singular (on the CPU).
        ~chainer.utils.type_check.InvalidType: If ``a`` is not a floating point square matrix.

    .. admonition:: Example

        >>> F.inv(np.array([[2, 0], [0, 4]], np.float32)).array
        array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float32)

    """
    return Inv().apply((a,))[0]


def batch_inv(a: VariableLike) -> Variable:
    """Inverses of the matrices of a batch.

    Args:
        a (:class:`~chainer.Variable` or array): Matrices, floating point of shape
            :math:`(m, n, n)`.

    Returns:
        ~chainer.Variable: Inverses, of the shape and dtype of ``a``.

    Raises:
        numpy.linalg.LinAlgError: If a matrix is singular (on the CPU).
        ~chainer.utils.type_check.InvalidType: If ``a`` is not a batch of floating point
            square matrices.

    .. admonition:: Example

        >>> a = np.array([[[2, 0], [0, 4]], [[1, 1], [0, 1]]], np.float32)
        >>> F.batch_inv(a).array[0]
        array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float32)

    """
    return BatchInv().apply((a,))[0]
