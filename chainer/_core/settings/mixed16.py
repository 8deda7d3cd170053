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
# Pickles of versions before the folders of the core name this module.
sys.modules['chainer._core.mixed16'] = sys.modules[__name__]
