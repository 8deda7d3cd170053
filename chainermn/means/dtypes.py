"""Dtypes in which gradients are added and sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

#: Dtypes of 16 bits in which float32 can be sent.
HALVES = 'float16', 'bfloat16'
#: Dtype of 8 bits in which float32 can be sent, see :mod:`~chainermn.means.int8`.
INT8 = 'int8'


def name_of(value: DTypeLike) -> str | None:
    """Returns the name of a dtype that ``allreduce_grad_dtype`` may have, or ``None``.

    Raises:
        ValueError: If gradients cannot be sent in this dtype.

    """
    if value is None:
        return None
    name = 'bfloat16' if value == 'bfloat16' else numpy.dtype(value).name
    if name not in (INT8, *HALVES, 'float32', 'float64'):
        raise ValueError(
            "allreduce_grad_dtype must be int8, float16, 'bfloat16', float32, float64 or None, "
            f'not {name}'
        )
    return name


def dtypes_of(
    grad_dtype: numpy.dtype[Any], setting: str | None
) -> tuple[numpy.dtype[Any], str | None]:
    """Returns the dtype in which gradients are added, and the narrow one in which they are sent.

    The second is ``None`` if they are sent as they are added.

    Args:
        grad_dtype: Dtype of the gradients.
        setting: The configuration ``allreduce_grad_dtype``; ``None`` for ``grad_dtype``.

    """
    name = numpy.dtype(grad_dtype).name if setting is None else setting
    if name in (INT8, *HALVES):
        return numpy.dtype(numpy.float32), name
    return numpy.dtype(name), None
