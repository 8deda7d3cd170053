"""The engine of NumPy and CuPy arrays: it calls ``forward``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer._core.devices.array_types import get_array_types
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.autograd.base_function import BaseFunction

_ndarray = numpy.ndarray


def run(func: BaseFunction, in_vars: Sequence[Any], in_data: tuple[Any, ...]) -> tuple[Any, ...]:
    """Calls ``forward`` and checks the outputs."""
    func._tape = func._rule
    func._input_indexes_to_retain = ()
    func._output_indexes_to_retain = ()
    if in_data and not isinstance(in_data[0], _ndarray):
        with cuda.get_device_from_array(*in_data):
            outputs = func.forward(in_data)
    else:
        outputs = func.forward(in_data)
    if type(outputs) is not tuple:
        if not isinstance(outputs, (tuple, list)):
            raise TypeError(
                f'forward output must be a tuple ({func.label})\nActual: {type(outputs)}'
            )
        outputs = tuple(outputs)
    for y in outputs:
        if type(y) is not _ndarray:
            return _checked(func, outputs)
    return outputs


def _checked(func: BaseFunction, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    checked = []
    for y in outputs:
        if isinstance(y, numpy.generic):
            y = numpy.asarray(y)
        elif y is not None and not isinstance(y, get_array_types()):
            raise TypeError(
                f'forward output must be a tuple of ndarrays, but {func.label} returned {type(y)}'
            )
        checked.append(y)
    return tuple(checked)
