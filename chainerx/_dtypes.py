"""Questions about dtypes, and their conversion."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from chainerx import _core

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from chainerx._core import Device, ndarray

#: The dtypes that arrays can have, by their names; but for bfloat16, which NumPy does not have.
DTYPES: dict[str, numpy.dtype[Any]] = {
    name: numpy.dtype(name)
    for name in (
        'bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 '
        'complex64 complex128'.split()
    )
}
_BFLOAT16 = 'bfloat16'
_RANKS = {'b': 0, 'i': 1, 'u': 1, 'f': 2, 'c': 3}
_DTYPES_OF_NUMBERS = {bool: 'bool', int: 'int64', float: 'float32', complex: 'complex64'}
_KINDS = {
    'bool': 'b',
    'signed integer': 'i',
    'unsigned integer': 'u',
    'integral': 'iu',
    'real floating': 'f',
    'complex floating': 'c',
    'numeric': 'iufc',
}


class FloatInfo(NamedTuple):
    """What :func:`chainerx.finfo` tells.

    Attributes:
        bits (int): Number of bits of an element.
        eps (float): Difference of one and the next larger number.
        max (float): Largest finite number.
        min (float): Smallest finite number, the negative of ``max``.
        smallest_normal (float): Smallest positive number of full precision.
        dtype (numpy.dtype): The dtype.

    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: numpy.dtype[Any]


class IntegerInfo(NamedTuple):
    """What :func:`chainerx.iinfo` tells.

    Attributes:
        bits (int): Number of bits of an element.
        max (int): Largest number.
        min (int): Smallest number.
        dtype (numpy.dtype): The dtype.

    """

    bits: int
    max: int
    min: int
    dtype: numpy.dtype[Any]


def bfloat16() -> type[numpy.generic]:
    """NumPy's type of bfloat16, from a package that is imported only here."""
    try:
        import ml_dtypes
    except ImportError:
        raise AttributeError(
            "chainerx.bfloat16 is NumPy's type, which needs the package ml_dtypes: install it (pip "
            "install ml_dtypes), or name the dtype 'bfloat16'"
        ) from None
    return ml_dtypes.bfloat16


def _numpy_dtype(value: DTypeLike) -> numpy.dtype[Any]:
    # The name is one of NumPy's only after the import.
    return numpy.dtype(bfloat16() if isinstance(value, str) and value == _BFLOAT16 else value)


def _kind(dtype: numpy.dtype[Any]) -> str:
    return 'f' if dtype.name == _BFLOAT16 else dtype.kind


def _dtype(value: ndarray | DTypeLike) -> numpy.dtype[Any]:
    """The dtype of an array, or the one that a name, type or dtype stands for."""
    dtype = value.dtype if isinstance(value, _core.ndarray) else _numpy_dtype(value)
    if dtype.name not in DTYPES and dtype.name != _BFLOAT16:
        raise _core.DtypeError(f'chainerx has no dtype {dtype}, but {", ".join(DTYPES)}')
    return dtype


def _promote(a: numpy.dtype[Any], b: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """The dtype of results of arrays of two dtypes, as the core chooses it."""
    rank = _RANKS[_kind(a)] - _RANKS[_kind(b)]
    if {a.name, b.name} == {'float64', 'complex64'}:
        return DTYPES['complex128']
    if rank != 0:
        return a if rank > 0 else b
    if {a.name, b.name} == {_BFLOAT16, 'float16'}:
        return DTYPES['float32']
    return numpy.promote_types(a, b)


def astype(
    x: ndarray, dtype: DTypeLike, copy: bool = True, device: Device | str | None = None
) -> ndarray:
    """Converts the elements of an array.

    Differentiable any number of times between floating point and complex dtypes. Complex numbers
    that become real ones lose their imaginary parts, with the warning of NumPy.

    Args:
        x (~chainerx.ndarray): Array.
        dtype: Dtype of the result.
        copy (bool): Whether to copy an array that has the dtype already.
        device (~chainerx.Device or str): Device of the result, that of ``x`` unless given.

    Returns:
        ~chainerx.ndarray: Array of the dtype.

    Raises:
        ~chainerx.DtypeError: If ChainerX does not have the dtype.

    .. admonition:: Example

        >>> chainerx.astype(chainerx.array([0.5, 2.5]), 'int32')
        array([0, 2], shape=(2,), dtype=int32, device='native:0')

    """
    y = x.astype(dtype, copy)
    return y if device is None else y.to_device(device)


def can_cast(from_: ndarray | DTypeLike, to: DTypeLike) -> bool:
    """Tells whether one dtype can be cast to another one safely.

    The standard has it for dtypes of one kind, where promotion decides; for others this is the
    answer of :func:`numpy.can_cast`. So booleans become any dtype, and integers a floating point
    dtype that is wide enough in NumPy's eyes.

    Args:
        from_: Array, or a dtype as a name, type or :class:`numpy.dtype`.
        to: Dtype of the result.

    Returns:
        bool: The answer.

    Raises:
        ~chainerx.DtypeError: If ChainerX does not have a dtype.

    .. admonition:: Example

        >>> chainerx.can_cast('uint8', 'int16'), chainerx.can_cast('bool', 'float32')
        (True, True)
        >>> chainerx.can_cast('int32', 'float16'), chainerx.can_cast('float32', 'int64')
        (False, False)

    """
    a, b = _dtype(from_), _dtype(to)
    if b.name == _BFLOAT16 and _kind(a) in 'iu':
        return a.itemsize == 1
    if _BFLOAT16 in (a.name, b.name):
        return _promote(a, b) == b
    return numpy.can_cast(a, b)


def finfo(type: ndarray | DTypeLike) -> FloatInfo:
    """Tells the limits of a floating point dtype, or of the parts of a complex one.

    Args:
        type: Array, or a dtype as a name, type or :class:`numpy.dtype`.

    Returns:
        object: It has the attributes ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal``
        and ``dtype``.

    Raises:
        ~chainerx.DtypeError: If the dtype is neither of floating point nor complex.

    .. admonition:: Example

        >>> chainerx.finfo('float16').max
        65504.0

    """
    dtype = _dtype(type)
    if dtype.kind == 'c':
        dtype = numpy.finfo(dtype).dtype
    if _kind(dtype) != 'f':
        raise _core.DtypeError(f'finfo: the dtype must be of floating point, not {dtype}')
    info: Any
    if dtype.name == _BFLOAT16:
        import ml_dtypes

        info = ml_dtypes.finfo(dtype)
    else:
        info = numpy.finfo(dtype)
    eps, high, low, normal = map(float, (info.eps, info.max, info.min, info.smallest_normal))
    return FloatInfo(8 * dtype.itemsize, eps, high, low, normal, dtype)


def iinfo(type: ndarray | DTypeLike) -> IntegerInfo:
    """Tells the limits of an integer dtype.

    Args:
        type: Array, or a dtype as a name, type or :class:`numpy.dtype`.

    Returns:
        object: It has the attributes ``bits``, ``max``, ``min`` and ``dtype``.

    Raises:
        ~chainerx.DtypeError: If the dtype is not of integers.

    .. admonition:: Example

        >>> chainerx.iinfo('int8').min
        -128

    """
    dtype = _dtype(type)
    if dtype.kind not in 'iu':
        raise _core.DtypeError(f'iinfo: the dtype must be of integers, not {dtype}')
    info = numpy.iinfo(dtype)
    return IntegerInfo(info.bits, info.max, info.min, dtype)


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> bool:
    """Tells whether a dtype is of a kind.

    Args:
        dtype: Dtype, as a name, type or :class:`numpy.dtype`.
        kind: Another dtype, ``'bool'``, ``'signed integer'``, ``'unsigned integer'``,
            ``'integral'``, ``'real floating'``, ``'complex floating'`` or ``'numeric'``; or a
            tuple of them, one of which has to fit.

    Returns:
        bool: The answer.

    Raises:
        TypeError: If ``kind`` has no meaning.

    .. admonition:: Example

        >>> chainerx.isdtype(chainerx.float32, 'real floating')
        True
        >>> chainerx.isdtype(chainerx.int8, ('unsigned integer', 'int16'))
        False

    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return _kind(_numpy_dtype(dtype)) in _KINDS[kind]
    return _numpy_dtype(dtype) == _numpy_dtype(kind)


def result_type(*arrays_and_dtypes: ndarray | DTypeLike | complex) -> numpy.dtype[Any]:
    """Tells the dtype of results of arrays, as the table of promotion has it.

    Args:
        *arrays_and_dtypes: Arrays, dtypes, or numbers of Python, which have a kind but no width.

    Returns:
        numpy.dtype: The dtype.

    Raises:
        ValueError: If there is no argument.
        ~chainerx.DtypeError: If ChainerX does not have a dtype.

    .. admonition:: Example

        >>> chainerx.result_type('uint8', 'int8')
        dtype('int16')
        >>> chainerx.result_type(chainerx.ones(2, 'float16'), 3)
        dtype('float16')

    """
    if not arrays_and_dtypes:
        raise _core.ValueError('result_type needs at least one argument')
    dtypes = []
    numbers = []
    for value in arrays_and_dtypes:
        if isinstance(value, (bool, int, float, complex)):
            numbers.append(numpy.dtype(_DTYPES_OF_NUMBERS[type(value)]))
        else:
            dtypes.append(_dtype(value))
    if not dtypes:
        return reduce(_promote, numbers)
    result = reduce(_promote, dtypes)
    for number in numbers:
        if _RANKS[number.kind] > _RANKS[_kind(result)]:
            result = _promote(result, number)
    return result
