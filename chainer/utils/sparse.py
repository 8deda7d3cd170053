"""Sparse matrices in coordinate format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.backends import cuda
from chainer.variable import Variable

if TYPE_CHECKING:
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


class CooMatrix:
    """Sparse matrix or mini-batch of sparse matrices in coordinate format.

    Element ``i`` has the value ``data[i]`` and is in row ``row[i]`` and column ``col[i]``. The
    arrays of a batch have two dimensions; unused elements at the end have negative indexes.

    Args:
        data: Values, of shape ``(nnz,)`` or ``(batch size, nnz)``.
        row: Row indexes, of the same shape.
        col: Column indexes, of the same shape.
        shape (tuple of int): Shape ``(rows, columns)`` of a matrix.
        order: ``'C'`` if the elements are sorted by rows, ``'F'`` if by columns, ``'other'`` or
            ``None`` if neither or unknown.
        requires_grad (bool): Whether ``data`` has a gradient.

    Attributes:
        data (~chainer.Variable): Values.
        row: Row indexes.
        col: Column indexes.
        shape (tuple of int): Shape.
        order: Order.

    Raises:
        ValueError: If shapes do not fit together or the order is unknown.

    .. admonition:: Example

        >>> from chainer import utils
        >>> values = np.array([5., 7.])
        >>> matrix = utils.CooMatrix(values, np.array([0, 1]), np.array([2, 0]), (2, 3), order='C')
        >>> matrix.to_dense()
        array([[0., 0., 5.],
               [7., 0., 0.]])

    """

    def __init__(
        self,
        data: NdArray,
        row: NdArray,
        col: NdArray,
        shape: tuple[int, ...],
        order: str | None = None,
        requires_grad: bool = False,
    ) -> None:
        _check(data, row, col, shape, order)
        self.data: Variable = Variable(data, requires_grad=requires_grad)
        self.row = row
        self.col = col
        self.shape = shape
        self.order = order

    def to_dense(self) -> NdArray:
        """Returns a dense array of shape ``shape``, with the batch size in front for a batch."""
        data = self.data.array
        xp = cuda.get_array_module(data)
        batch_shape = data.shape[:-1]
        dense = xp.zeros((*batch_shape, *self.shape), data.dtype)
        used = (self.row >= 0) & (self.col >= 0)
        index: tuple[NdArray, ...] = self.row[used], self.col[used]
        if batch_shape:
            index = xp.nonzero(used)[0], *index
        xp.add.at(dense, index, data[used])
        return dense


def to_coo(x: VariableLike, ldnz: int | None = None, requires_grad: bool = False) -> CooMatrix:
    """Converts a dense matrix, or a batch of them, to a sparse one.

    Args:
        x: Array of shape ``(rows, columns)`` or ``(batch size, rows, columns)``.
        ldnz (int): Minimum number of elements; pads with unused ones.
        requires_grad (bool): Whether the values have a gradient.

    Returns:
        CooMatrix: Sparse matrices of the nonzero elements.

    Raises:
        ValueError: If ``x`` has neither two nor three axes.

    .. admonition:: Example

        >>> from chainer import utils
        >>> matrix = utils.to_coo(np.array([[0., 0., 5.], [7., 0., 0.]]))
        >>> matrix.data, matrix.row, matrix.col
        (variable([5., 7.]), array([0, 1], dtype=int32), array([2, 0], dtype=int32))

    """
    if x.ndim not in (2, 3):
        raise ValueError(f'ndim of x must be 2 or 3, not {x.ndim}.')
    xp = cuda.get_array_module(x)
    batch = x.reshape(-1, *x.shape[-2:])
    owner, rows, cols = xp.nonzero(batch)
    counts = xp.bincount(owner, minlength=len(batch)) if len(batch) else owner
    length = max(int(counts.max()) if len(batch) else 0, ldnz or 0)

    # The place of an element is its rank among those of its matrix.
    place = xp.arange(len(owner)) - (xp.cumsum(counts) - counts)[owner]
    data = xp.zeros((len(batch), length), x.dtype)
    row = xp.full((len(batch), length), -1, numpy.int32)
    col = xp.full((len(batch), length), -1, numpy.int32)
    data[owner, place] = batch[owner, rows, cols]
    row[owner, place] = rows
    col[owner, place] = cols
    if x.ndim == 2:
        data, row, col = data[0], row[0], col[0]
    return CooMatrix(data, row, col, x.shape[-2:], order='C', requires_grad=requires_grad)


def get_order(row: NdArray, col: NdArray) -> str:
    """Returns the order of the elements of sparse matrices.

    Args:
        row: Row indexes.
        col: Column indexes.

    Returns:
        str: ``'C'`` if they are sorted by rows, ``'F'`` if by columns, else ``'other'``.

    Raises:
        ValueError: If the shapes differ.

    .. admonition:: Example

        >>> from chainer import utils
        >>> utils.get_order(np.array([0, 1, 1]), np.array([2, 0, 1]))
        'C'
        >>> utils.get_order(np.array([1, 1, 0]), np.array([0, 1, 2]))
        'F'

    """
    if row.shape != col.shape:
        raise ValueError(f'shape of row and col must be the same: {row.shape} and {col.shape}')
    if _is_sorted(row, col):
        return 'C'
    if _is_sorted(col, row):
        return 'F'
    return 'other'


def _is_sorted(major, minor):
    steps = major[..., 1:] - major[..., :-1]
    minor_steps = minor[..., 1:] - minor[..., :-1]
    unused = major[..., 1:] < 0
    return bool(((steps > 0) | ((steps == 0) & (minor_steps >= 0)) | unused).all())


def _check(data, row, col, shape, order):
    if not 1 <= data.ndim <= 2:
        raise ValueError(f'ndim of data must be 1 or 2, not {data.ndim}.')
    if not data.ndim == row.ndim == col.ndim:
        raise ValueError('ndim of data, row and col must be the same.')
    if not data.shape == row.shape == col.shape:
        raise ValueError(
            'shape of data, row and col must be the same: '
            f'{data.shape}, {row.shape} and {col.shape}'
        )
    if len(shape) != 2:
        raise ValueError(f'length of shape must be 2, not {len(shape)}.')
    if not (shape[0] > 0 and shape[1] > 0):
        raise ValueError(f'numbers in shape must be greater than 0: {shape}')
    if order not in ('C', 'F', 'other', None):
        raise ValueError(f"order must be 'C', 'F', 'other' or None, not {order!r}.")
