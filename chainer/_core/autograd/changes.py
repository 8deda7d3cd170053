"""Changes of arrays in place between forward and backward, which debug mode notices."""

from __future__ import annotations

import warnings
import zlib
from typing import TYPE_CHECKING, Any, Protocol

import numpy

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Function(Protocol):
    stack: Any

    @property
    def label(self) -> str: ...


class Contents:
    """What arrays held when a function ran. Looks at NumPy arrays only.

    Args:
        arrays: Arrays that the gradient may read, or ``None``.

    """

    def __init__(self, arrays: Iterable[Any]) -> None:
        self._sums = [(a, _checksum(a)) for a in arrays if isinstance(a, numpy.ndarray)]

    def check(self, func: _Function) -> None:
        """Warns if an array has other contents now.

        Args:
            func: Function that ran.

        """
        for array, checksum in self._sums:
            if _checksum(array) != checksum:
                message = (
                    f'{func.label} (Backward): an array of shape {array.shape} and dtype '
                    f'{array.dtype} was changed in place after the forward pass; if the gradient '
                    'reads it, the result is wrong. Change a copy.'
                )
                if func.stack:
                    message += f'\nThe function was called here:\n{"".join(func.stack.format())}'
                warnings.warn(message, RuntimeWarning, stacklevel=2)
                return


def _checksum(array: numpy.ndarray[Any, Any]) -> int:
    return zlib.crc32(numpy.ascontiguousarray(array).view(numpy.uint8).data)
