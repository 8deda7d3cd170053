"""Base class and helpers of the communication functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backends import cuda
from chainer.functions._base import CallableFunction
from chainer.variable import Variable
from chainermn import _arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer.types import NdArray, VariableLike


def make_dummy(device: Any = None) -> Variable:
    """Placeholder for an input, so that backward reaches a function without inputs.

    Args:
        device: Device of the outputs of the function; NumPy's by default.

    """
    zero = numpy.zeros((), numpy.float32)
    return Variable(zero if device is None else device.send(zero))


def dummy_output(inputs: tuple[NdArray, ...]) -> NdArray:
    """Placeholder for an output, from which backward starts."""
    return cuda.get_array_module(*inputs).zeros((), numpy.float32)


def device_of(x: Any) -> Any:
    """Device of an array or a variable."""
    return backend.get_device_from_array(getattr(x, 'array', x))


class Communication(CallableFunction):
    """Base class of communication functions."""

    _kernels = NO_KERNELS

    #: Arrays that were received before the function was applied, to find out its device.
    received: tuple[Any, ...] | None = None
    _is_chainerx = False

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self._specs: list[tuple[Any, Any]] = []  # shapes and dtypes of the outputs

    def apply(self, inputs: Sequence[VariableLike | None]) -> tuple[Variable, ...]:
        self._is_chainerx = any(
            [isinstance(getattr(x, 'array', x), chainerx.ndarray) for x in inputs]
        )
        return super().apply(inputs)

    def _given(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        """Inputs of ``forward`` on their original device, which receivers use, too."""
        return tuple([backend.to_chx(x) for x in inputs]) if self._is_chainerx else inputs

    def backward(self, inputs: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]) -> Any:
        """Computes the gradients in a backward pass that builds a graph.

        Args:
            inputs: Indexes of the inputs.
            grad_outputs: Gradients of the outputs.

        """
        return super().backward(inputs, grad_outputs)

    def _outputs(self, arrays: Any) -> tuple[NdArray, ...]:
        """Stores the shapes and dtypes of the outputs, for missing gradients."""
        arrays = tuple(arrays)
        self._specs = [(array.shape, array.dtype) for array in arrays]
        return arrays

    def _filled(self, gys: Sequence[Any]) -> tuple[Any, ...]:
        """Gradients of all outputs; missing ones are zeros, since other ranks wait for them."""
        example = next(g for g in gys if g is not None)
        xp = backend.get_array_module(getattr(example, 'array', example))
        return tuple(
            [
                xp.zeros(shape, dtype) if gy is None else gy
                for gy, (shape, dtype) in zip(gys, self._specs)
            ]
        )

    def _to_inputs(self, array: Any, inputs: tuple[NdArray, ...]) -> NdArray:
        """Received array, on the device of the inputs."""
        return backend.get_device_from_array(inputs[0]).send(_arrays.plain(array))
