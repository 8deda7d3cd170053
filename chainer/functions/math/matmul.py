"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.reports.fallback import Fallback
from chainer.functions._arrays import in_dtype
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import DTypeSpec, NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _transposed(x, transpose):
    return x.swapaxes(-1, -2) if transpose and x.ndim > 1 else x


def _matmul(a, b, transa, transb, transc, xp):
    a, b = _transposed(a, transa), _transposed(b, transb)
    if xp is numpy and a.ndim > 2 and a.shape[-1] == 1 and b.shape[-2:-1] == (1,):
        y = a * b  # three times as fast as NumPy's product of columns with rows
    else:
        y = xp.matmul(a, b)
    return _transposed(y, transc)


def _matrix_type_check(a_type, b_type, transa, transb):
    """Expects matrices (or vectors) with equal inner lengths and broadcastable outer axes."""
    type_check.expect(
        a_type.dtype.kind == 'f', b_type.dtype.kind == 'f', a_type.ndim >= 1, b_type.ndim >= 1
    )
    a_ndim, b_ndim = type_check.eval(a_type.ndim), type_check.eval(b_type.ndim)
    a_inner = -2 if transa and a_ndim > 1 else -1
    b_inner = -1 if b_ndim == 1 or transb else -2
    type_check.expect(a_type.shape[a_inner] == b_type.shape[b_inner])
    if a_ndim > 2 and b_ndim > 2:
        type_check.expect_broadcast_shapes(a_type.shape[:-2], b_type.shape[:-2])


class MatMul(Operation):
    """Product of matrices, or of stacks of matrices with broadcasting."""

    _kernels = kernels(retain=(0, 1), check=True)

    def __init__(
        self,
        transa: bool = False,
        transb: bool = False,
        transc: bool = False,
        dtype: DTypeSpec = None,
    ) -> None:
        self.transa = transa
        self.transb = transb
        self.transc = transc
        self.dtype = dtype

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a', 'b'))
        a_type, b_type = in_types
        _matrix_type_check(a_type, b_type, self.transa, self.transb)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        a, b = inputs
        self.retain_inputs((0, 1))
        y = _matmul(a, b, self.transa, self.transb, self.transc, backend.get_array_module(a))
        return (in_dtype(y, self.dtype or y.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        a, b = inputs
        if a.dtype != b.dtype or (self.dtype is not None and self.dtype != a.dtype):
            return Fallback('mixed dtypes')
        return (_matmul(a, b, self.transa, self.transb, self.transc, chainerx),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        a, b = xs
        (gy,) = gys
        a_shape, b_shape = a.shape, b.shape
        # Vectors become matrices, with the axes that the product left out.
        if a.ndim == 1:
            a = a.reshape(1, -1)
            gy = gy.reshape((*gy.shape[:-1], 1, *gy.shape[-1:]) if b.ndim > 1 else (1,))
        if b.ndim == 1:
            b, gy = b.reshape(-1, 1), gy.reshape(*gy.shape, 1)
        transa, transb = self.transa and len(a_shape) > 1, self.transb and len(b_shape) > 1
        gxs = []
        for i in targets:
            if i == 0:
                (gx,) = m.apply(MatMul(self.transc, not transb, transa), (gy, b))
                shape = a.shape
            else:
                (gx,) = m.apply(MatMul(not transa, self.transc, transb), (a, gy))
                shape = b.shape
            if gx.shape != shape:
                gx = m.sum_to(gx, shape)
            gxs.append(m.cast(gx.reshape((a_shape, b_shape)[i]), (a, b)[i].dtype))
        return gxs


def matmul(
    a: VariableLike, b: VariableLike, transa: bool = False, transb: bool = False
) -> Variable:
    """Matrix product of two arrays, or of stacks of matrices with broadcasting.

    .. math:: y_{\\ldots ij} = \\sum_k a_{\\ldots ik} \\, b_{\\ldots kj}

    Args:
        a (:class:`~chainer.Variable` or array): Left operand, floating point: a vector,
            matrix or stack.
        b (:class:`~chainer.Variable` or array): Right operand, likewise.
        transa (bool): Whether to transpose each matrix of ``a``; no effect on a vector.
        transb (bool): Whether to transpose each matrix of ``b``; no effect on a vector.

    Returns:
        ~chainer.Variable: Product, with the shape and dtype of :func:`numpy.matmul`.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> a = np.array([[1, 2], [3, 4]], np.float32)
        >>> b = np.array([[0, 1], [1, 0]], np.float32)
        >>> F.matmul(a, b).array
        array([[2., 1.],
               [4., 3.]], dtype=float32)
        >>> F.matmul(a, a, transb=True).array
        array([[ 5., 11.],
               [11., 25.]], dtype=float32)

    """
    return MatMul(transa=transa, transb=transb).apply((a, b))[0]


class BatchMatMul(Operation):
    """Products of the matrices of two batches; vectors of a batch count as columns."""

    _kernels = kernels(retain=(0, 1))

    def __init__(self, transa: bool = False, transb: bool = False) -> None:
        self.transa = transa
        self.transb = transb

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('a', 'b'))
        a_type, b_type = in_types
        type_check.expect(
            a_type.dtype == b_type.dtype,
            a_type.dtype.kind == 'f',
            a_type.ndim >= 2,
            a_type.ndim <= 3,
            b_type.ndim >= 2,
            b_type.ndim <= 3,
            a_type.shape[0] == b_type.shape[0],
        )
        shapes = [(*type_check.eval(t.shape), 1)[:3] for t in in_types]
        a_inner, b_inner = shapes[0][1 if self.transa else 2], shapes[1][2 if self.transb else 1]
        type_check.expect(
            type_check.make_variable(a_inner, 'columns of a')
            == type_check.make_variable(b_inner, 'rows of b')
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        a, b = inputs
        self.retain_inputs((0, 1))
        a, b = [x.reshape(*x.shape, 1) if x.ndim == 2 else x for x in inputs]
        return (_matmul(a, b, self.transa, self.transb, False, backend.get_array_module(a)),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        a, b = [x.reshape(*x.shape, 1) if x.ndim == 2 else x for x in xs]
        (gy,) = gys
        gxs = []
        for i in targets:
            if i == 0:
                (gx,) = m.apply(MatMul(False, not self.transb, self.transa), (gy, b))
            else:
                (gx,) = m.apply(MatMul(not self.transa, False, self.transb), (a, gy))
            gxs.append(gx.reshape(xs[i].shape))
        return gxs


def batch_matmul(
    a: VariableLike, b: VariableLike, transa: bool = False, transb: bool = False
) -> Variable:
    """Products of the matrices of two batches.

    .. deprecated:: v3.0
        Use :func:`~chainer.functions.matmul`.

    Args:
        a (:class:`~chainer.Variable` or array): Batch of matrices or of column vectors,
            floating point of shape :math:`(N, I, J)` or :math:`(N, I)`.
        b (:class:`~chainer.Variable` or array): Batch of the same size and dtype.
        transa (bool): Whether to transpose each matrix of ``a``.
        transb (bool): Whether to transpose each matrix of ``b``.

    Returns:
        ~chainer.Variable: Batch of products, of shape :math:`(N, K, L)` and of the dtype of the
        inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If dtypes or sizes of the batches differ, or
            the number of axes of an input is wrong.

    .. admonition:: Example

        >>> import warnings
        >>> a, b = np.ones((5, 2, 3), np.float32), np.ones((5, 3, 4), np.float32)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter('ignore')
        ...     F.batch_matmul(a, b).shape
        (5, 2, 4)

    """
    import warnings

    warnings.warn(
        'batch_matmul is deprecated. Use matmul instead.', DeprecationWarning, stacklevel=2
    )
    return BatchMatMul(transa=transa, transb=transb).apply((a, b))[0]
