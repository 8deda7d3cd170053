"""Views with given strides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.reports.fallback import Fallback
from chainer.backends import cuda
from chainer.functions.array._views import View
from chainer.functions.array.get_item import GetItemGrad

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.variable import Variable


def _numpy_storage(array):
    """Returns the contiguous array that owns the memory of ``array``, or ``None``."""
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    # The transpose of a Fortran-ordered array is C-ordered.
    array = array if array.flags.c_contiguous else array.T
    return array if array.flags.c_contiguous else None


def _memory(array):
    """Returns the address and the size in bytes of the memory behind ``array``."""
    if isinstance(array, numpy.ndarray):
        storage = _numpy_storage(array)
        return storage.ctypes.data, storage.nbytes
    return array.data.mem.ptr, array.data.mem.size


def _with_storage(array):
    """Returns the array, or a copy if it is a view of unknown memory."""
    if isinstance(array, numpy.ndarray) and _numpy_storage(array) is None:
        return array.copy()
    return array


class TensorGeometry:
    """Layout of an array in memory, in elements.

    Attributes:
        shape (tuple of int): Shape.
        strides (tuple of int): Strides.
        storage_offset (int): Position of the first element in the memory.
        itemsize (int): Bytes per element.

    Args:
        array (array): Array.

    .. admonition:: Example

        >>> geometry = TensorGeometry(np.zeros((2, 3), np.float32)[:, 1:])
        >>> geometry.strides, geometry.storage_offset
        ((3, 1), 1)

    """

    def __init__(self, array: NdArray) -> None:
        stored: Any = _with_storage(array)
        address = stored.ctypes.data if isinstance(stored, numpy.ndarray) else stored.data.ptr
        self.shape: tuple[int, ...] = stored.shape
        self.itemsize: int = stored.itemsize
        self.strides: tuple[int, ...] = tuple([s // stored.itemsize for s in stored.strides])
        self.storage_offset: int = (address - _memory(stored)[0]) // stored.itemsize

    @property
    def ndim(self) -> int:
        return len(self.shape)


def _elements(shape, strides, offset):
    """Positions in the memory of the elements of a view."""
    positions = numpy.full(shape, offset)
    for axis, (n, stride) in enumerate(zip(shape, strides)):
        steps = [1] * len(shape)
        steps[axis] = n
        positions += (numpy.arange(n) * stride).reshape(steps)
    return positions


def _stride_array(array, shape, strides, storage_offset):
    """View of the memory behind an array; all in elements."""
    itemsize = array.itemsize
    _check_bounds(shape, strides, storage_offset, _memory(array)[1] // itemsize)
    in_bytes = tuple([s * itemsize for s in strides])
    if isinstance(array, numpy.ndarray):
        storage = _numpy_storage(array)
        return numpy.ndarray(shape, array.dtype, storage, storage_offset * itemsize, in_bytes)
    offset = (storage_offset - TensorGeometry(array).storage_offset) * itemsize
    return cuda.cupy.ndarray(shape, array.dtype, array.data + offset, in_bytes)


def _check_bounds(shape, strides, storage_offset, size):
    if 0 in shape:
        return
    ends = [(n - 1) * s for n, s in zip(shape, strides)]
    first = storage_offset + sum([min(end, 0) for end in ends])
    last = storage_offset + sum([max(end, 0) for end in ends])
    if first < 0 or last >= size:
        raise ValueError(
            f'elements {first} to {last} are outside of the memory of x with {size} '
            f'elements: shape {shape}, strides {strides}, storage_offset {storage_offset}'
        )


class AsStrided(View):
    """Makes a view with given shape and strides."""

    storage_offset: int | None

    def __init__(
        self, shape: tuple[int, ...], strides: tuple[int, ...], storage_offset: int | None = None
    ) -> None:
        self.shape: tuple[int, ...] = tuple(shape)
        self.strides: tuple[int, ...] = tuple(strides)
        self.storage_offset = storage_offset
        if len(self.shape) != len(self.strides):
            raise ValueError(
                f'shape and strides must have the same length: {self.shape} and {self.strides}'
            )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x = _with_storage(inputs[0])
        self._geometry = geometry = TensorGeometry(x)
        if self.storage_offset is None:
            self.storage_offset = geometry.storage_offset
        return (_stride_array(x, self.shape, self.strides, self.storage_offset),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        (x,) = inputs
        offset = self.storage_offset or 0
        places = _elements(self.shape, self.strides, offset)
        # Memory around the array, and strides of views, fall back to NumPy.
        if (
            not x.is_contiguous
            or x.offset
            or (places.size and not 0 <= places.min() <= places.max() < x.size)
        ):
            return Fallback('elements outside of a contiguous array')
        return (x.reshape(-1).take(places, 0),)

    def _sources(self):
        """Index of the element of the flat input behind each element of the output.

        Elements of the memory outside the input have the index ``size``.
        """
        geometry = self._geometry
        positions = _elements(self.shape, self.strides, self.storage_offset)
        x_positions = _elements(geometry.shape, geometry.strides, geometry.storage_offset).ravel()
        length = 1 + max(int(p.max()) for p in (positions, x_positions) if p.size)
        owner = numpy.full(length, x_positions.size)
        owner[x_positions] = numpy.arange(x_positions.size)
        return owner[positions], x_positions.size

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (gy,) = gys
        if gy.size == 0 or 0 in self._geometry.shape:
            raise ValueError('as_strided of an empty array has no gradient')
        sources, size = self._sources()
        (gx,) = m.apply(GetItemGrad((sources,), (size + 1,)), (gy,))
        return (gx[:size].reshape(self._geometry.shape),)


def as_strided(
    x: VariableLike,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    storage_offset: int | None = None,
) -> Variable:
    """Makes a view of an array with given shape and strides.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        shape (tuple of int): Shape of the view.
        strides (tuple of int): Strides of the view, in elements.
        storage_offset (int or None): Position of the first element, in elements from the start
            of the memory behind ``x`` (``None``: where ``x`` starts).

    Returns:
        ~chainer.Variable: View of the memory of ``x``, of the given shape. Gradients of repeated
        elements add up.

    Raises:
        ValueError: If the lengths of ``shape`` and ``strides`` differ or the view exceeds the
            memory.

    .. admonition:: Example

        >>> x = np.arange(4, dtype=np.float32)
        >>> F.as_strided(x, (3, 2), (1, 1), 0).array
        array([[0., 1.],
               [1., 2.],
               [2., 3.]], dtype=float32)

    """
    return AsStrided(shape, strides, storage_offset).apply((x,))[0]
