"""Mixed precision, as a dtype."""

from __future__ import annotations

import sys
from typing import Any

import numpy


class _Mixed16:
    """Pseudo dtype: float16, and float32 where a link needs the precision for its parameters."""

    __module__ = 'chainer'  # the name in pickles
    __slots__ = ()

    dtype: numpy.dtype[Any] = numpy.dtype(numpy.float16)

    def __repr__(self) -> str:
        return "dtype('mixed16')"

    def __str__(self) -> str:
        return repr(self)

    def __copy__(self) -> _Mixed16:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> _Mixed16:
        return self

    def __reduce__(self) -> str:
        return 'mixed16'


mixed16: _Mixed16 = _Mixed16()
#: The same with bfloat16 in place of float16, as a value of ``chainer.config.dtype``.
MIXED_BFLOAT16 = 'mixed_bfloat16'


def is_mixed_bfloat16(dtype: Any) -> bool:
    return isinstance(dtype, str) and dtype == MIXED_BFLOAT16


def is_mixed(dtype: Any) -> bool:
    """Tells whether a dtype means half precision, with float32 where a link needs it."""
    return dtype is mixed16 or is_mixed_bfloat16(dtype)


# Pickles of versions before the folders of the core name this module.
sys.modules['chainer._core.mixed16'] = sys.modules[__name__]
