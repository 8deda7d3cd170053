"""The table of array kinds: what Chainer knows of an array by its class.

A row is a :class:`Kind`; ``array_table`` has the rows. A function that needs to know where an array
lives asks once: ``KINDS[type(array)]``.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

import chainerx
from chainer._core.names.set_module import set_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer._core.devices.device import Device
    from chainer._core.settings.types import Xp


class Kind(NamedTuple):
    """A row. Devices send arrays of other kinds to theirs (:meth:`.Device.send_array`)."""

    #: Class of the arrays, looked up when it is needed: that of CuPy may not be imported yet.
    array_class: Callable[[], type[Any]]
    #: Whether such arrays can exist.
    is_available: Callable[[], bool]
    #: Array module of an array.
    xp_of: Callable[[Any], Xp]
    #: Device of an array.
    device_of: Callable[[Any], Device]
    #: Converts an array to NumPy, without a copy if it can share memory.
    to_numpy: Callable[[Any], Any]
    #: Writes an array of any kind, the second argument, into one of this kind.
    assign: Callable[[Any, Any], object]
    #: Of arrays that stand for others: a variable of such an array, made by a function of variables
    #: from those that it stands for.
    lift: Callable[[Callable[[Any], Any], Any], Any] | None = None
    #: Name of the device in specifiers: ``'cupy'`` for ``'@cupy'`` and ``'@cupy:0'``.
    name: str = ''
    #: Device of a specifier without an index.
    current_device: Callable[[], Device] | None = None
    #: Device of a specifier with one.
    device_of_index: Callable[[int], Device] | None = None


class _Kinds(dict[type[Any], Kind]):
    """Rows by class. A subclass has the row of its base, and any other class the last row."""

    def __missing__(self, cls: type[Any]) -> Kind:
        kind = next(kind for kind in TABLE if issubclass(cls, kind.array_class()))
        # Other classes may be of parts of a program that end before it.
        if cls.__module__.partition('.')[0] in _LASTING:
            self[cls] = kind
        return kind


_LASTING = frozenset({'builtins', 'chainer', 'chainerx', 'cupy', 'numpy'})
TABLE: list[Kind] = []
KINDS = _Kinds()
_variable_class: Any = ()
array_of_variable: Any = operator.attrgetter('_array')


def set_variable_class(cls: type[Any]) -> None:
    """Declares the class of variables, which keep an array as ``_array``."""
    global _variable_class
    _variable_class = cls


def variable_class() -> Any:
    return _variable_class


def array_of(obj: Any) -> Any:
    """Returns the array of a variable, and any other object itself."""
    return array_of_variable(obj) if isinstance(obj, _variable_class) else obj


@set_module('chainer.backends.cuda')
def get_array_module(*args: Any) -> Xp:
    """Gets the array module of the arguments.

    Args:
        args: Arrays, variables or scalars.

    Returns:
        ``chainerx`` if there is a ChainerX array, else ``cupy`` if there is a CuPy array, else
        ``numpy``.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.get_array_module(np.zeros(2), 1) is np
        True
        >>> def softplus(x):  # for arrays of any module
        ...     xp = cuda.get_array_module(x)
        ...     return xp.maximum(x, 0) + xp.log1p(xp.exp(-abs(x)))
        >>> float(softplus(np.array([0.]))[0].round(3))
        0.693

    """
    found: Xp = numpy
    for arg in args:
        if type(arg) is not numpy.ndarray:
            xp = KINDS[type(arg)].xp_of(arg)
            if xp is chainerx:
                return xp
            if xp is not numpy:
                found = xp
    return found
