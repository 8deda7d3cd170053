"""The array classes of all backends."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.devices.array_kinds import KINDS, TABLE
from chainer._core.names.set_module import set_module
from chainer.backends import intel64

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


@functools.cache
def _array_types() -> tuple[type[Any], ...]:
    return tuple([kind.array_class() for kind in TABLE if kind.is_available()])


@set_module('chainer')
def get_cpu_array_types() -> tuple[type[Any], ...]:
    """Returns the tuple of the array classes that live in host memory.

    .. admonition:: Example

        >>> np.ndarray in chainer.get_cpu_array_types()
        True

    """
    return (numpy.ndarray, intel64.mdarray) if intel64.is_ideep_available() else _numpy_only


_numpy_only = (numpy.ndarray,)


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
    given = [a for a in arrays if a is not None]
    return (
        all([isinstance(a, get_array_types()) for a in given])
        and len({KINDS[type(a)].xp_of(a) for a in given}) <= 1
    )
