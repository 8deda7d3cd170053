"""Dtypes that users choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.names.set_module import set_module
from chainer._core.settings.half import find_bfloat16
from chainer._core.settings.mixed16 import is_mixed, is_mixed_bfloat16, mixed16
from chainer.configuration import config

if TYPE_CHECKING:
    from chainer._core.settings.types import DTypeSpec


@set_module('chainer')
def get_dtype(dtype: DTypeSpec = None, map_mixed16: DTypeSpec = None) -> numpy.dtype[Any]:
    """Resolves a dtype given to a function or a link; ``None`` is the configured one.

    Args:
        dtype: Dtype specifier, ``chainer.mixed16``, or ``None`` for ``chainer.config.dtype``.
        map_mixed16: Dtype for ``chainer.mixed16`` (``None``: float16) and ``'mixed_bfloat16'``
            (``None`` and float16: bfloat16).

    Returns:
        numpy.dtype: The dtype.

    Raises:
        TypeError: If the dtype does not exist.
        ImportError: If it is bfloat16, and the package ``ml_dtypes`` is not installed.

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
    if is_mixed(dtype):
        half = find_bfloat16() if is_mixed_bfloat16(dtype) else mixed16.dtype
        is_half = map_mixed16 is None or numpy.dtype(map_mixed16) == mixed16.dtype
        dtype = half if is_half else map_mixed16
    if isinstance(dtype, str) and dtype == 'bfloat16':
        return find_bfloat16()
    try:
        return numpy.dtype(dtype)
    except TypeError:
        raise TypeError(
            f"{name} must be a dtype such as 'float32', but {dtype!r} was given"
        ) from None
