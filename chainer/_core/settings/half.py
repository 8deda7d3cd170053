"""Half precision: float16, and bfloat16, which NumPy has with a package only."""

from __future__ import annotations

from typing import Any

import numpy

#: Kinds of floating point dtypes. NumPy counts bfloat16, which is not its own, as 'V'.
FLOAT_KINDS = 'fV'


def is_half(dtype: numpy.dtype[Any]) -> bool:
    """Tells whether a dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in FLOAT_KINDS


class FloatDtype:
    """A dtype that has the kind 'f', for code that asks for floating point."""

    kind = 'f'

    def __init__(self, dtype: numpy.dtype[Any]) -> None:
        self._dtype = dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dtype, name)

    def __eq__(self, other: object) -> bool:
        return self._dtype == (other._dtype if isinstance(other, FloatDtype) else other)

    def __hash__(self) -> int:
        return hash(self._dtype)

    def __repr__(self) -> str:
        return repr(self._dtype)

    def __str__(self) -> str:
        return str(self._dtype)


def find_bfloat16() -> numpy.dtype[Any]:
    """Returns the dtype.

    Raises:
        ImportError: If the package is not installed.

    """
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            'bfloat16 is a dtype of NumPy only with the package ml_dtypes: install it with '
            '"pip install ml_dtypes"'
        ) from None
    return numpy.dtype(ml_dtypes.bfloat16)
