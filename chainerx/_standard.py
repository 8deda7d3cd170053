"""Routines of the array API standard that are made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainerx import _core
from chainerx._results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from chainerx._core import ndarray


def positive(x: ndarray) -> ndarray:
    """Returns a copy of an array, as the operator ``+`` returns a view of it.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Array of any dtype.

    Returns:
        ~chainerx.ndarray: Array of the same elements.

    .. admonition:: Example

        >>> chainerx.positive(chainerx.array([1, -1]))
        array([ 1, -1], shape=(2,), dtype=int64, device='native:0')

    """
    return _core.copy(x)


def sum_dtype(x):
    """The dtype of sums and products: in contrast to those of Chainer 7, unsigned of unsigned."""
    kind = x.dtype.kind
    return x.dtype if kind in 'fc' else 'uint64' if kind == 'u' else 'int64'


def _cumulate(routine, name, x, axis, dtype, include_initial, initial):
    if axis is None:
        if x.ndim > 1:
            raise _core.DimensionError(f'{name}: an array of shape {x.shape} needs an axis')
        axis, x = 0, _core.ravel(x)
    dtype = dtype or sum_dtype(x)
    y = routine(x.astype(dtype, False), axis).astype(dtype, False)
    if not include_initial:
        return y
    shape = list(y.shape)
    shape[axis] = 1
    return _core.concatenate([_core.full(shape, initial, y.dtype, y.device), y], axis)


def cumulative_sum(
    x: ndarray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> ndarray:
    """Cumulative sum along an axis; see :func:`chainerx.cumsum`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        axis (int or None): Axis; not needed for one dimension.
        dtype: Dtype of the sums. Unless given, a floating point dtype is kept; booleans and signed
            integers are summed in int64, unsigned ones in uint64.
        include_initial (bool): Whether the sum of no elements, zero, stands before the others.

    Returns:
        ~chainerx.ndarray: Sums, of the shape of ``x``; one longer along the axis with the
        initial one.

    Raises:
        ~chainerx.DimensionError: If the axis is out of range, or missing for several dimensions.

    .. admonition:: Example

        >>> chainerx.cumulative_sum(chainerx.array([1, 2, 3]), include_initial=True)
        array([0, 1, 3, 6], shape=(4,), dtype=int64, device='native:0')

    """
    return _cumulate(_core.cumsum, 'cumulative_sum', x, axis, dtype, include_initial, 0)


def cumulative_prod(
    x: ndarray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> ndarray:
    """Cumulative product along an axis; see :func:`chainerx.cumprod`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Array of any dtype.
        axis (int or None): Axis; not needed for one dimension.
        dtype: Dtype of the products, by default that of :func:`chainerx.cumulative_sum`.
        include_initial (bool): Whether the product of no elements, one, stands before the others.

    Returns:
        ~chainerx.ndarray: Products, of the shape of ``x``; one longer along the axis with the
        initial one.

    Raises:
        ~chainerx.DimensionError: If the axis is out of range, or missing for several dimensions.

    .. admonition:: Example

        >>> chainerx.cumulative_prod(chainerx.array([1, 2, 3]), include_initial=True)
        array([1, 1, 2, 6], shape=(4,), dtype=int64, device='native:0')

    """
    return _cumulate(_core.cumprod, 'cumulative_prod', x, axis, dtype, include_initial, 1)


def isin(x1: ndarray | float, x2: ndarray | float, invert: bool = False) -> ndarray:
    """Tells which elements of an array are in another one. Not differentiable.

    Args:
        x1 (~chainerx.ndarray or number): Elements to look for.
        x2 (~chainerx.ndarray or number): Where they are looked for; one of both must be an array.
        invert (bool): Whether to tell which ones are not there.

    Returns:
        ~chainerx.ndarray: Booleans, of the shape of ``x1``. Not-a-number is nowhere.

    Raises:
        TypeError: If there is no array.

    .. admonition:: Example

        >>> chainerx.isin(chainerx.array([1, 2, 3]), chainerx.array([3, 1]))
        array([ True, False,  True], shape=(3,), dtype=bool, device='native:0')

    """
    if not isinstance(x1, _core.ndarray):
        if not isinstance(x2, _core.ndarray):
            raise TypeError('isin needs at least one array among its arguments')
        # Nothing that is not an integer is among integers.
        is_fraction = isinstance(x1, float) and x2.dtype.kind != 'f'
        x1 = _core.full((), x1, 'float64' if is_fraction else x2.dtype, x2.device)
    if not isinstance(x2, _core.ndarray):
        found = x1 == x2
    elif x2.size == 0:
        found = _core.zeros(x1.shape, 'bool', x1.device)
    else:
        ordered = _core.sort(x2, None)
        places = _core.searchsorted(ordered, x1)
        found = ordered.take(places, mode='clip') == x1
    return ~found if invert else found


def unique_all(x: ndarray) -> UniqueAllResult:
    """Finds the distinct elements of an array; see :func:`chainerx.unique`.

    Differentiable any number of times; the gradient of an element goes to its first occurrence.

    Args:
        x (~chainerx.ndarray): Array of any dtype.

    Returns:
        tuple of ~chainerx.ndarray: The elements ``values`` in ascending order, each not-a-number by
        itself; the ``indices`` of their first occurrences in the flattened array; the
        ``inverse_indices`` that make ``x`` of the elements; and ``counts``, how often they occur.

    .. admonition:: Example

        >>> values, indices, inverse, counts = chainerx.unique_all(chainerx.array([3, 1, 3]))
        >>> values
        array([1, 3], shape=(2,), dtype=int64, device='native:0')
        >>> counts
        array([1, 2], shape=(2,), dtype=int64, device='native:0')

    """
    return UniqueAllResult(*_core.unique(x, True, True, True, False))


def unique_counts(x: ndarray) -> UniqueCountsResult:
    """Finds the distinct elements of an array and counts them; see :func:`chainerx.unique_all`.

    Args:
        x (~chainerx.ndarray): Array of any dtype.

    Returns:
        tuple of ~chainerx.ndarray: The elements ``values``, and ``counts``.

    .. admonition:: Example

        >>> chainerx.unique_counts(chainerx.array([3, 1, 3])).counts
        array([1, 2], shape=(2,), dtype=int64, device='native:0')

    """
    return UniqueCountsResult(*_core.unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: ndarray) -> UniqueInverseResult:
    """Finds the distinct elements of an array and their places; see :func:`chainerx.unique_all`.

    Args:
        x (~chainerx.ndarray): Array of any dtype.

    Returns:
        tuple of ~chainerx.ndarray: The elements ``values``, and ``inverse_indices``.

    .. admonition:: Example

        >>> chainerx.unique_inverse(chainerx.array([3, 1, 3])).inverse_indices
        array([1, 0, 1], shape=(3,), dtype=int64, device='native:0')

    """
    return UniqueInverseResult(*_core.unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: ndarray) -> ndarray:
    """Finds the distinct elements of an array; see :func:`chainerx.unique_all`.

    Args:
        x (~chainerx.ndarray): Array of any dtype.

    Returns:
        ~chainerx.ndarray: The elements in ascending order.

    .. admonition:: Example

        >>> chainerx.unique_values(chainerx.array([3, 1, 3]))
        array([1, 3], shape=(2,), dtype=int64, device='native:0')

    """
    return _core.unique(x, equal_nan=False)


def unstack(x: ndarray, axis: int = 0) -> tuple[ndarray, ...]:
    """Splits an array along an axis, which goes; the inverse of :func:`chainerx.stack`.

    Differentiable any number of times.

    Args:
        x (~chainerx.ndarray): Array of at least one dimension.
        axis (int): Axis.

    Returns:
        tuple of ~chainerx.ndarray: Views.

    Raises:
        ~chainerx.DimensionError: If the axis is out of range.

    .. admonition:: Example

        >>> x, y = chainerx.unstack(chainerx.array([[1, 2], [3, 4]]), axis=1)
        >>> y
        array([2, 4], shape=(2,), dtype=int64, device='native:0')

    """
    return tuple(_core.moveaxis(x, axis, 0))
