"""Routines that are made of others, or of NumPy's where text and files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy

from chainerx import _core, _internal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import DTypeLike

    from chainerx._core import Device, ndarray


def asanyarray(
    a: Any, dtype: DTypeLike | None = None, device: Device | str | None = None
) -> ndarray:
    """Converts an object to an array, like :func:`chainerx.asarray`.

    Args:
        a: Array, NumPy array, number or nested sequences.
        dtype: Data type of the result; that of ``a`` unless given.
        device (~chainerx.Device): Device of the result; for a ChainerX array its own, for other
            objects the default one unless given.

    Returns:
        ~chainerx.ndarray: ``a`` itself where nothing has to change.

    Raises:
        ~chainerx.DtypeError: If ChainerX does not have the dtype.

    .. admonition:: Example

        >>> x = chainerx.ones(2)
        >>> chainerx.asanyarray(x) is x
        True

    """
    return _core.asarray(a, dtype, device)


def broadcast_arrays(*args: ndarray) -> list[ndarray]:
    """Broadcasts arrays against each other.

    Args:
        *args (~chainerx.ndarray): Arrays whose shapes fit together.

    Returns:
        list of ~chainerx.ndarray: Views of equal shapes, through which gradients flow.

    Raises:
        ~chainerx.DimensionError: If the shapes do not fit together.

    .. admonition:: Example

        >>> x, y = chainerx.broadcast_arrays(chainerx.ones((3, 1)), chainerx.ones(2))
        >>> x.shape, y.shape
        ((3, 2), (3, 2))

    """
    try:
        shape = numpy.broadcast_shapes(*(a.shape for a in args))
    except ValueError:
        raise _core.DimensionError(
            'broadcast_arrays: shapes {} do not fit together'.format(
                ', '.join(str(a.shape) for a in args)
            )
        ) from None
    return [_core.broadcast_to(a, shape) for a in args]


def fix(arr: ndarray) -> ndarray:
    """Rounds elements towards zero. Stops gradients.

    Args:
        arr (~chainerx.ndarray): Array of any dtype.

    Returns:
        ~chainerx.ndarray: Array of the shape and dtype of ``arr``.

    .. admonition:: Example

        >>> chainerx.fix(chainerx.array([1.5, -1.5]))
        array([ 1., -1.], shape=(2,), dtype=float64, device='native:0')

    """
    return _core.trunc(arr)


def meshgrid(*xi: ndarray | list[ndarray], indexing: Literal['xy', 'ij'] = 'xy') -> list[ndarray]:
    """Makes coordinate matrices from coordinate vectors.

    Args:
        *xi (~chainerx.ndarray): Coordinates along each dimension, one array for each, which is
            flattened; or one list of them.
        indexing (str): ``'xy'`` exchanges the first two axes of the results, ``'ij'`` does not.

    Returns:
        list of ~chainerx.ndarray: One array of the grid's shape for each of ``xi``.

    Raises:
        ValueError: If ``indexing`` has no meaning.

    .. admonition:: Example

        >>> x, y = chainerx.meshgrid(chainerx.array([1, 2]), chainerx.array([3, 4, 5]))
        >>> x
        array([[1, 2],
               [1, 2],
               [1, 2]], shape=(3, 2), dtype=int64, device='native:0')
        >>> y
        array([[3, 3],
               [4, 4],
               [5, 5]], shape=(3, 2), dtype=int64, device='native:0')

    """
    vectors: Any = xi[0] if len(xi) == 1 and isinstance(xi[0], (list, tuple)) else xi
    return _internal.meshgrid(vectors, indexing)


def fromfile(
    file: Any,
    dtype: DTypeLike | None = float,
    count: int = -1,
    sep: str = '',
    device: Device | str | None = None,
) -> ndarray:
    """Reads an array from a file, like :func:`numpy.fromfile`.

    Args:
        file: Open file, or path.
        dtype: Data type of the elements.
        count (int): Number of elements; ``-1`` for all.
        sep (str): What stands between the elements of a text file; empty for a binary file.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: One-dimensional array.

    .. admonition:: Example

        >>> import tempfile
        >>> with tempfile.TemporaryFile() as file:
        ...     _ = file.write(bytes([1, 2, 3]))
        ...     _ = file.seek(0)
        ...     chainerx.fromfile(file, 'uint8')
        array([1, 2, 3], shape=(3,), dtype=uint8, device='native:0')

    """
    return _core.array(numpy.fromfile(file, dtype, count, sep), device=device)


def fromfunction(function: Callable[..., Any], shape: tuple[int, ...], **kwargs: Any) -> Any:
    """Makes an array by calling a function with the coordinates of its elements.

    Args:
        function: Takes one array for each dimension, filled with the coordinates along it.
        shape (tuple of ints): Shape of those arrays.
        dtype: Data type of the coordinates, ``float`` unless given. Keyword only.
        device (~chainerx.Device): Device of the coordinates; the default one unless given.
            Keyword only.
        **kwargs: More arguments of ``function``.

    Returns:
        What ``function`` returns.

    .. admonition:: Example

        >>> chainerx.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype='int32')
        array([[ 0,  1,  2],
               [10, 11, 12]], shape=(2, 3), dtype=int32, device='native:0')

    """
    dtype = kwargs.pop('dtype', float)
    device = kwargs.pop('device', None)
    axes = [_core.arange(n, dtype=dtype, device=device) for n in shape]
    return function(*_internal.meshgrid(axes, 'ij'), **kwargs)


def fromiter(
    iterable: Iterable[Any],
    dtype: DTypeLike | None,
    count: int = -1,
    device: Device | str | None = None,
) -> ndarray:
    """Makes a one-dimensional array of what an iterable yields.

    Args:
        iterable: Yields numbers.
        dtype: Data type of the elements.
        count (int): Number of elements to take; ``-1`` for all.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: One-dimensional array.

    Raises:
        ValueError: If the iterable yields less than ``count`` numbers.

    .. admonition:: Example

        >>> chainerx.fromiter((n * n for n in range(4)), 'float32')
        array([0., 1., 4., 9.], shape=(4,), dtype=float32, device='native:0')

    """
    return _core.array(numpy.fromiter(iterable, dtype, count), device=device)


def fromstring(
    string: str | bytes,
    dtype: DTypeLike | None = float,
    count: int = -1,
    sep: str = '',
    device: Device | str | None = None,
) -> ndarray:
    """Makes a one-dimensional array from text, or from the bytes of a string.

    Args:
        string (str or bytes): Numbers as text, or raw bytes if ``sep`` is empty.
        dtype: Data type of the elements.
        count (int): Number of elements; ``-1`` for all.
        sep (str): What stands between the numbers.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: One-dimensional array.

    Raises:
        ValueError: If raw bytes are no whole number of elements.

    .. admonition:: Example

        >>> chainerx.fromstring('1 2 3', dtype='int32', sep=' ')
        array([1, 2, 3], shape=(3,), dtype=int32, device='native:0')
        >>> chainerx.fromstring(b'\\x01\\x02', dtype='uint8')
        array([1, 2], shape=(2,), dtype=uint8, device='native:0')

    """
    if sep:
        values = numpy.fromstring(string, dtype, count, sep=sep)
    else:
        data = string.encode('latin1') if isinstance(string, str) else string
        values = numpy.frombuffer(data, dtype, count)
    return _core.array(values, device=device)


def loadtxt(
    fname: Any,
    dtype: DTypeLike | None = float,
    comments: str = '#',
    delimiter: str | None = None,
    converters: Any = None,
    skiprows: int = 0,
    usecols: int | Sequence[int] | None = None,
    unpack: bool = False,
    ndmin: Literal[0, 1, 2] = 0,
    encoding: str = 'bytes',
    device: Device | str | None = None,
) -> ndarray:
    """Reads an array from a text file, one row a line, like :func:`numpy.loadtxt`.

    Args:
        fname: Path, open file, or lines.
        dtype: Data type of the elements.
        comments (str): Begins a comment.
        delimiter (str): Stands between the values; white space unless given.
        converters (dict): Functions that convert the text of columns.
        skiprows (int): Number of lines to leave out at the beginning.
        usecols (int or sequence of ints): Columns to read; all unless given.
        unpack (bool): Transposes the result.
        ndmin (int): Least number of dimensions of the result.
        encoding (str): Encoding of the file. ``'bytes'`` means latin-1.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Array.

    Raises:
        ValueError: If a value cannot be read, or lines have different numbers of values.

    .. admonition:: Example

        >>> chainerx.loadtxt(['1,2', '3,4'], delimiter=',')
        array([[1., 2.],
               [3., 4.]], shape=(2, 2), dtype=float64, device='native:0')

    """
    if encoding == 'bytes':
        encoding = 'latin1'
    values = numpy.loadtxt(
        fname,
        dtype=dtype,
        comments=comments,
        delimiter=delimiter,
        converters=converters,
        skiprows=skiprows,
        usecols=usecols,
        unpack=unpack,
        ndmin=ndmin,
        encoding=encoding,
    )
    return _core.array(values, device=device)
