"""Lets `einops <https://einops.rocks>`_ work on variables and on arrays of ChainerX."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend, functions
from chainer.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

_REDUCTIONS = 'min', 'max', 'sum', 'mean', 'prod', 'any', 'all'
_registered: list[Any] = []  # backends, which einops knows as long as they exist


class _Variables:
    """What einops asks of variables."""

    framework_name = 'chainer'
    _type: Any = Variable

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, self._type)

    def _take(self, result: Variable) -> Any:
        """Returns the result of a function as einops gave its arguments."""
        return result

    def from_numpy(self, x: Any) -> Any:
        return Variable(x)

    def to_numpy(self, x: Any) -> Any:
        return backend.CpuDevice().send(getattr(x, 'array', x))

    def arange(self, start: int, stop: int) -> Any:
        return self.from_numpy(numpy.arange(start, stop))

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        return self._take(functions.reshape(x, shape))

    def transpose(self, x: Any, axes: Sequence[int]) -> Any:
        return self._take(functions.transpose(x, tuple(axes)))

    def reduce(self, x: Any, operation: str, axes: Sequence[int]) -> Any:
        if operation not in _REDUCTIONS:
            raise ValueError(f'operation must be one of {_REDUCTIONS}, but is {operation!r}')
        axes = tuple(axes)
        if operation not in ('any', 'all') and self.is_float_type(x):
            return self._take(getattr(functions, operation)(x, axis=axes))
        # Functions are of floating point numbers. There is no gradient here, so NumPy computes.
        array = numpy.asarray(getattr(self.to_numpy(x), operation)(axis=axes))
        return self._take(as_variable(backend.get_device_from_array(x).send(array)))

    def stack_on_zeroth_dimension(self, tensors: Sequence[Any]) -> Any:
        return self._take(functions.stack(tensors))

    def add_axis(self, x: Any, new_position: int) -> Any:
        return self._take(functions.expand_dims(x, new_position))

    def tile(self, x: Any, repeats: tuple[int, ...]) -> Any:
        return self._take(functions.tile(x, repeats))

    def concat(self, tensors: Sequence[Any], axis: int) -> Any:
        return self._take(functions.concat(tensors, axis=axis))

    def is_float_type(self, x: Any) -> bool:
        return str(x.dtype) in ('bfloat16', 'float16', 'float32', 'float64')

    def einsum(self, pattern: str, *xs: Any) -> Any:
        return self._take(functions.einsum(pattern, *xs))


class _ChainerxArrays(_Variables):
    """What einops asks of arrays of ChainerX, which keep their graph themselves."""

    framework_name = 'chainerx'
    _type = chainerx.ndarray

    def _take(self, result: Variable) -> Any:
        return result.chx_array

    def from_numpy(self, x: Any) -> Any:
        array = chainerx.array(x)
        return array.require_grad() if self.is_float_type(array) else array


def register() -> None:
    """Lets the functions of einops take :class:`chainer.Variable` and ``chainerx.ndarray``.

    Their results have the same type and are differentiable. Reductions of integers and booleans,
    ``'any'`` and ``'all'`` are not. Call it once; further calls do nothing.

    Raises:
        ImportError: If einops is not installed.

    .. admonition:: Example

        >>> import einops  # doctest: +SKIP
        >>> import chainer.backends.einops
        >>> chainer.backends.einops.register()  # doctest: +SKIP
        >>> x = chainer.Variable(np.zeros((2, 3, 4, 4), np.float32))
        >>> einops.rearrange(x, 'b c h w -> b (h w) c').shape  # doctest: +SKIP
        (2, 16, 3)

    """
    if _registered:
        return
    base = importlib.import_module('einops._backends').AbstractBackend
    # einops finds its backends among the subclasses of its base class.
    for cls in (_Variables, _ChainerxArrays) if chainerx.is_available() else (_Variables,):
        _registered.append(type(f'Chainer{cls.__name__}', (cls, base), {}))
