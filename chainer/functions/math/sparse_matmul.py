"""Products of sparse and dense matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

import chainerx
from chainer import backend, utils
from chainer.backends import cuda
from chainer.functions._arrays import sent_like
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.utils.sparse import CooMatrix
from chainer.variable import as_array
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import DTypeSpec, NdArray, VariableLike
    from chainer.utils.sparse import CooMatrix
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


def _off_chainerx(array: NdArray) -> NdArray:
    return cuda.to_cpu(array) if isinstance(array, chainerx.ndarray) else array


class CooMatMul(Operation):
    """Product of a sparse matrix in coordinate format and a dense one.

    The inputs are the values of the sparse matrix and the dense matrix; both may be batches.

    Args:
        sp_row: Row indexes of the values.
        sp_col: Column indexes of the values.
        sp_shape (tuple of int): Shape of the sparse matrix.
        sp_order (str): Order of the values.
        transa (bool): Whether to transpose the sparse matrix.
        transb (bool): Whether to transpose the dense matrix.
        transc (bool): Whether to transpose the result.
        dtype: Dtype of the result.

    """

    _kernels = kernels(retain=(0, 1))

    def __init__(
        self,
        sp_row: NdArray,
        sp_col: NdArray,
        sp_shape: tuple[int, ...],
        sp_order: str | None = 'other',
        transa: bool = False,
        transb: bool = False,
        transc: bool = False,
        dtype: DTypeSpec = None,
    ) -> None:
        if sp_row.ndim != sp_col.ndim:
            raise ValueError('ndim of sp_row and sp_col must be the same.')
        for i, (m, n) in enumerate(zip(sp_row.shape, sp_col.shape)):
            if m != n:
                raise ValueError(f'shape of sp_row and sp_col must be the same: axis {i} differs')
        if len(sp_shape) != 2:
            raise ValueError(f'len(sp_shape) must be 2, not {len(sp_shape)}.')
        # ChainerX's arrays of values need these on the host.
        self.sp_row: NdArray = _off_chainerx(sp_row)
        self.sp_col: NdArray = _off_chainerx(sp_col)
        self.sp_shape = sp_shape
        self.sp_order = sp_order
        self.transa = transa
        self.transb = transb
        self.transc = transc
        self.dtype = dtype

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('sp', 'dn'))
        sp_type, dn_type = in_types
        type_check.expect(
            sp_type.dtype.kind == 'f',
            dn_type.dtype.kind == 'f',
            dn_type.ndim >= 2,
            dn_type.ndim <= 3,
            sp_type.ndim == dn_type.ndim - 1,
            sp_type.shape[-1] == self.sp_row.shape[-1],
            dn_type.shape[-1 if self.transb else -2] == self.sp_shape[0 if self.transa else 1],
        )
        if type_check.eval(sp_type.ndim) == 2:
            type_check.expect(sp_type.shape[0] == dn_type.shape[0])

    def _index(self, xp, labels):
        """Index of the rows of matrices or batches; unused elements point at row zero."""
        labels = xp.where(labels < 0, 0, labels)
        if labels.ndim == 1:
            return (labels,)
        return xp.arange(len(labels))[:, None], labels

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        sp, dn = inputs
        self.retain_inputs((0, 1))
        xp = backend.get_array_module(sp)
        row, col = (self.sp_col, self.sp_row) if self.transa else (self.sp_row, self.sp_col)
        n_rows = self.sp_shape[1 if self.transa else 0]
        if self.transb:
            dn = dn.swapaxes(-1, -2)
        values = xp.where((row >= 0) & (col >= 0), sp, sp.dtype.type(0))
        products = values[..., None] * dn[self._index(xp, col)]
        y = xp.zeros((*dn.shape[:-2], n_rows, dn.shape[-1]), products.dtype)
        xp.add.at(y, self._index(xp, row), products)
        if self.transc:
            y = y.swapaxes(-1, -2)
        return (utils.force_array(y, self.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        sp, dn = inputs
        row, col = [cuda.to_cpu(a) for a in (self.sp_row, self.sp_col)]
        used = sent_like(sp, (row >= 0) & (col >= 0))
        row, col = (col, row) if self.transa else (row, col)
        if self.transb:
            dn = dn.swapaxes(-1, -2)
        values = chainerx.where(used, sp, 0)
        products = values[..., None] * dn[self._index(numpy, col)]
        shape = (*dn.shape[:-2], self.sp_shape[1 if self.transa else 0], dn.shape[-1])
        places = numpy.arange(math.prod(shape)).reshape(shape)[self._index(numpy, row)]
        y = chainerx.zeros((math.prod(shape),), products.dtype, device=sp.device)
        y = _internal.add_at(y, sent_like(sp, places), products).reshape(shape)
        if self.transc:
            y = y.swapaxes(-1, -2)
        return (utils.force_array(y, self.dtype),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        sp, dn = xs
        (gy,) = gys
        if self.transc:
            gy = m.swapaxes(gy, -1, -2)
        gxs = []
        for i in targets:
            if i == 0:
                gxs.append(self._sparse_gradient(m, sp, dn, gy))
            else:
                matrix = self.sp_row, self.sp_col, self.sp_shape, self.sp_order
                func = CooMatMul(*matrix, not self.transa, False, self.transb, dn.dtype)
                gxs += m.apply(func, (sp, gy))
        return gxs

    def _sparse_gradient(self, m, sp, dn, gy):
        xp = backend.get_array_module(as_array(sp))
        row, col = (self.sp_col, self.sp_row) if self.transa else (self.sp_row, self.sp_col)
        used = ((row >= 0) & (col >= 0)).astype(sp.dtype)
        dense = m.swapaxes(dn, -1, -2) if self.transb else dn
        dtype = numpy.result_type(gy.dtype, dense.dtype)
        gy, dense = m.cast(gy, dtype), m.cast(dense, dtype)
        products = gy[self._index(xp, row)] * dense[self._index(xp, col)]
        return m.cast(m.sum(products, axis=-1), sp.dtype) * used


def sparse_matmul(
    a: VariableLike | CooMatrix,
    b: VariableLike | CooMatrix,
    transa: bool = False,
    transb: bool = False,
) -> Variable:
    """Product of a sparse matrix and a dense matrix, in either order, or of batches of them.

    Args:
        a (:class:`~chainer.Variable`, array or :class:`~chainer.utils.CooMatrix`): Left operand,
            floating point: a matrix or a batch of matrices.
        b (:class:`~chainer.Variable`, array or :class:`~chainer.utils.CooMatrix`): Right operand;
            exactly one operand must be sparse.
        transa (bool): Whether to transpose ``a``.
        transb (bool): Whether to transpose ``b``.

    Returns:
        ~chainer.Variable: Dense product of the shape of a matrix product and the dtype of the dense
        operand.

    Raises:
        ValueError: If not exactly one operand is sparse.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :func:`chainer.utils.to_coo`

    .. admonition:: Example

        >>> a = chainer.utils.to_coo(np.array([[0, 2], [3, 0]], np.float32))
        >>> b = np.array([[1, 10], [2, 20]], np.float32)
        >>> F.sparse_matmul(a, b).array
        array([[ 4., 40.],
               [ 3., 30.]], dtype=float32)

    """
    if isinstance(a, CooMatrix):
        if not isinstance(b, CooMatrix):
            func = CooMatMul(a.row, a.col, a.shape, a.order, transa=transa, transb=transb)
            return func.apply((a.data, b))[0]
    elif isinstance(b, CooMatrix):
        func = CooMatMul(b.row, b.col, b.shape, b.order, not transb, not transa, transc=True)
        return func.apply((b.data, a))[0]
    raise ValueError(
        f'This combination of type of inputs is not supported.\n    a: {type(a)}\n    b: {type(b)}'
    )
