"""The ``mixed16`` dtype and the default dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from chainer.types import DTypeSpec


class _Mixed16:
    """Pseudo dtype: float16, and float32 where a link needs the precision for its parameters."""

    __slots__ = ()

    dtype: numpy.dtype[Any] = numpy.dtype(numpy.float16)

    def __repr__(self) -> str:
        return "dtype('mixed16')"

    __str__ = __repr__

    def __copy__(self) -> _Mixed16:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> _Mixed16:
        return self

    def __reduce__(self) -> str:
        return 'mixed16'


mixed16: _Mixed16 = _Mixed16()


def get_dtype(dtype: DTypeSpec = None, map_mixed16: DTypeSpec = None) -> numpy.dtype[Any]:
    """Resolves a dtype given to a function or a link, ``None`` being the configured one.

    Args:
        dtype: Dtype specifier, ``chainer.mixed16``, or ``None`` for ``chainer.config.dtype``.
        map_mixed16: Dtype that stands for ``chainer.mixed16`` (``None``: float16).

    Returns:
        numpy.dtype: The dtype.

    .. admonition:: Example

        >>> import chainer
        >>> chainer.get_dtype()
        dtype('float32')
        >>> chainer.get_dtype(chainer.mixed16, map_mixed16='f')
        dtype('float32')

    """
    if dtype is None:
        from chainer import configuration

        dtype = configuration.config.dtype
    if dtype is mixed16 and map_mixed16 is not None:
        dtype = map_mixed16
    return numpy.dtype(dtype)
