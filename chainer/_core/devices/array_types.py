"""The array classes of all backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._core.names.set_module import set_module
from chainer.backends import cuda, intel64

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer._core.settings.types import NdArray


@set_module('chainer')
def get_array_types() -> tuple[type[Any], ...]:
    """Returns the tuple of all array classes, of every available backend.

    .. admonition:: Example

        >>> np.ndarray in chainer.get_array_types()
        True

    """
    return _array_types()


@set_module('chainer')
def get_cpu_array_types() -> tuple[type[Any], ...]:
    """Returns the tuple of the array classes that live in host memory.

    .. admonition:: Example

        >>> np.ndarray in chainer.get_cpu_array_types()
        True

    """
    return (numpy.ndarray, intel64.mdarray) if intel64.is_ideep_available() else _numpy_only


_numpy_only = (numpy.ndarray,)
_known_array_types: tuple[type[Any], ...] | None = None


def _array_types() -> tuple[type[Any], ...]:
    global _known_array_types
    if _known_array_types is None:
        types_ = [*get_cpu_array_types()]
        if cuda.available:
            types_.append(cuda.ndarray)
        if chainerx.is_available():
            types_.append(chainerx.ndarray)
        _known_array_types = tuple(types_)
    return _known_array_types


@set_module('chainer')
def is_arrays_compatible(arrays: Iterable[NdArray | None]) -> bool:
    """Returns whether arrays (or ``None``) can be inputs of one function.

    They can if all are of one backend: NumPy (with iDeep), CuPy or ChainerX.

    Args:
        arrays (sequence of arrays or None): Arrays to look at.

    Returns:
        bool: Whether they can.

    .. admonition:: Example

        >>> chainer.is_arrays_compatible([np.zeros(2), None, np.ones(3)])
        True

    """
    arrays = [a for a in arrays if a is not None]
    if not arrays:
        return True
    first = arrays[0]
    for types_ in ((chainerx.ndarray,), (cuda.ndarray,)):
        if isinstance(first, types_):
            return all(isinstance(a, types_) for a in arrays)
    cpu_types = get_cpu_array_types()
    return all(isinstance(a, cpu_types) for a in arrays)
