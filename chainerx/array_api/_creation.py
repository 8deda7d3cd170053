"""Creation functions, with the default dtypes of the standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainerx import _core

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from chainerx._core import Device, ndarray


def _dtype_of(*numbers):
    """The default dtype for numbers of Python."""
    if all(isinstance(n, bool) for n in numbers):
        return 'bool'
    if any(isinstance(n, complex) for n in numbers):
        return 'complex128'
    return 'int64' if all(isinstance(n, int) for n in numbers) else 'float64'


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> ndarray:
    """Makes an array of numbers in equal steps; see :func:`chainerx.arange`.

    Args:
        start (number): First element; the end if there is no ``stop``.
        stop (number or None): End, which is not part of the result.
        step (number): Difference of neighbours.
        dtype: Dtype; int64 for integers and float64 for others unless given.
        device (~chainerx.Device or str): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Vector.

    .. admonition:: Example

        >>> chainerx.array_api.arange(3)
        array([0, 1, 2], shape=(3,), dtype=int64, device='native:0')

    """
    if dtype is None:
        dtype = _dtype_of(*(int(n) if isinstance(n, bool) else n for n in (start, stop or 0, step)))
    if stop is None:
        start, stop = 0, start
    return _core.arange(start, stop, step, dtype, device)


def _shares_memory(y, obj):
    """Whether an array has the memory of an object in host memory."""
    if isinstance(obj, (bool, int, float, complex, list, tuple)):
        return False
    return y.data_ptr + y.offset == numpy.asarray(obj).__array_interface__['data'][0]


def asarray(
    obj: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
    copy: bool | None = None,
) -> ndarray:
    """Converts an object to an array; see :func:`chainerx.asarray`.

    Args:
        obj: Array, NumPy array, number or nested sequences.
        dtype: Dtype of the result; that of the elements unless given.
        device (~chainerx.Device or str): Device of the result; that of ``obj``, or the default one
            unless given.
        copy (bool or None): Whether to copy: always, never, or where the conversion needs it.

    Returns:
        ~chainerx.ndarray: Array.

    Raises:
        ValueError: If ``copy`` is false and the conversion needs a copy.

    .. admonition:: Example

        >>> chainerx.array_api.asarray([1., 2.])
        array([1., 2.], shape=(2,), dtype=float64, device='native:0')

    """
    if copy:
        return _core.array(obj, dtype, True, device)
    y = _core.asarray(obj, dtype, device)
    if copy is False and y is not obj:
        if isinstance(obj, _core.ndarray) or not _shares_memory(y, obj):
            raise _core.ValueError(f'asarray: {type(obj).__name__} needs a copy, but copy is False')
    return y


def empty(
    shape: int | tuple[int, ...],
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> ndarray:
    """Makes an array whose elements are not set; see :func:`chainerx.empty`.

    Args:
        shape (int or tuple of int): Shape.
        dtype: Dtype; float64 unless given.
        device (~chainerx.Device or str): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Array.

    .. admonition:: Example

        >>> chainerx.array_api.empty(3).dtype
        dtype('float64')

    """
    return _core.empty(shape, dtype or 'float64', device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> ndarray:
    """Makes a matrix with ones on a diagonal; see :func:`chainerx.eye`.

    Args:
        n_rows (int): Number of rows.
        n_cols (int or None): Number of columns; that of rows unless given.
        k (int): Distance from the main diagonal, positive above it.
        dtype: Dtype; float64 unless given.
        device (~chainerx.Device or str): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Matrix.

    .. admonition:: Example

        >>> chainerx.array_api.eye(2, k=1)
        array([[0., 1.],
               [0., 0.]], shape=(2, 2), dtype=float64, device='native:0')

    """
    return _core.eye(n_rows, n_cols, k, dtype or 'float64', device)


def full(
    shape: int | tuple[int, ...],
    fill_value: complex,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> ndarray:
    """Makes an array filled with a value; see :func:`chainerx.full`.

    Args:
        shape (int or tuple of int): Shape.
        fill_value (number): Value.
        dtype: Dtype; bool, int64, float64 or complex128, by the value, unless given.
        device (~chainerx.Device or str): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Array.

    .. admonition:: Example

        >>> chainerx.array_api.full(2, 7)
        array([7, 7], shape=(2,), dtype=int64, device='native:0')

    """
    return _core.full(shape, fill_value, dtype or _dtype_of(fill_value), device)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
    endpoint: bool = True,
) -> ndarray:
    """Makes an array of evenly spaced numbers; see :func:`chainerx.linspace`.

    Args:
        start, stop (number): First and last number.
        num (int): Number of elements.
        dtype: Dtype; float64, or complex128 for complex numbers, unless given.
        device (~chainerx.Device or str): Device of the result; the default one unless given.
        endpoint (bool): Whether ``stop`` is the last element, or would be the next one.

    Returns:
        ~chainerx.ndarray: Vector.

    .. admonition:: Example

        >>> chainerx.array_api.linspace(0, 1, 3)
        array([0. , 0.5, 1. ], shape=(3,), dtype=float64, device='native:0')

    """
    if not (isinstance(start, complex) or isinstance(stop, complex)):
        return _core.linspace(start, stop, num, endpoint, dtype or 'float64', device)
    start, stop = complex(start), complex(stop)
    y = _core.empty(num, 'complex128', device)
    for part, a, b in (
        (_core.real(y), start.real, stop.real),
        (_core.imag(y), start.imag, stop.imag),
    ):
        part[...] = _core.linspace(a, b, num, endpoint, 'float64', device)
    return y.astype(dtype or 'complex128', False)


def ones(
    shape: int | tuple[int, ...],
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> ndarray:
    """Makes an array of ones; see :func:`chainerx.ones`.

    Args:
        shape (int or tuple of int): Shape.
        dtype: Dtype; float64 unless given.
        device (~chainerx.Device or str): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Array.

    .. admonition:: Example

        >>> chainerx.array_api.ones(2)
        array([1., 1.], shape=(2,), dtype=float64, device='native:0')

    """
    return _core.ones(shape, dtype or 'float64', device)


def zeros(
    shape: int | tuple[int, ...],
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> ndarray:
    """Makes an array of zeros; see :func:`chainerx.zeros`.

    Args:
        shape (int or tuple of int): Shape.
        dtype: Dtype; float64 unless given.
        device (~chainerx.Device or str): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Array.

    .. admonition:: Example

        >>> chainerx.array_api.zeros(2)
        array([0., 0.], shape=(2,), dtype=float64, device='native:0')

    """
    return _core.zeros(shape, dtype or 'float64', device)
