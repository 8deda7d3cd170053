"""Dtypes that users choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.names.set_module import set_module
from chainer._core.settings.mixed16 import mixed16
from chainer.configuration import config

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec


@set_module('chainer')
def get_dtype(dtype: DTypeSpec = None, map_mixed16: DTypeSpec = None) -> numpy.dtype[Any]:
    """Resolves a dtype given to a function or a link; ``None`` is the configured one.

    Args:
        dtype: Dtype specifier, ``chainer.mixed16``, or ``None`` for ``chainer.config.dtype``.
        map_mixed16: Dtype for ``chainer.mixed16`` (``None``: float16).

    Returns:
        numpy.dtype: The dtype.

    Raises:
        TypeError: If the dtype does not exist.

    .. admonition:: Example

        >>> import chainer
        >>> chainer.get_dtype()
        dtype('float32')
        >>> chainer.get_dtype(chainer.mixed16, map_mixed16='f')
        dtype('float32')

    """
    name = 'dtype'
    if dtype is None:
        name, dtype = 'chainer.config.dtype', config.dtype
    if dtype is mixed16 and map_mixed16 is not None:
        dtype = map_mixed16
    try:
        return numpy.dtype(dtype)
    except TypeError:
        raise TypeError(
            f"{name} must be a dtype such as 'float32', but {dtype!r} was given"
        ) from None
