"""Converters, which turn a batch into the arguments of a model, and how updaters call them.

The public names are in ``convert``.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, SupportsAbs, TypeVar, overload

import numpy

from chainer import backend
from chainer._core.names.set_module import set_module
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.devices.types import DeviceSpec
    from chainer._core.settings.types import NdArray
    from chainer.backend import Device

    # Arrays, numbers and lists of them: what tuples and dictionaries are not.
    _Stacked = SupportsAbs[Any] | list[Any]

_Key = TypeVar('_Key')
_Result = TypeVar('_Result')


@set_module('chainer.dataset.convert')
class Converter:
    """Interface of converters.

    A converter turns a batch, which is a list of examples, into the arguments of a model
    on the given device: an array, or a tuple or dictionary of arrays.

    .. admonition:: Example

        >>> class Scale(chainer.dataset.Converter):
        ...     def __call__(self, batch, device):
        ...         x, t = chainer.dataset.concat_examples(batch, device)
        ...         return x / 255, t
        >>> x, t = Scale()([(np.full(2, 51.), 0), (np.full(2, 255.), 1)], None)
        >>> x
        array([[0.2, 0.2],
               [1. , 1. ]])

    """

    def __call__(self, batch: list[Any], device: Device) -> Any:
        """Converts a batch.

        Args:
            batch (list): List of examples.
            device (~chainer.backend.Device): Device of the arrays; ``None`` does not move
                them.

        """
        raise NotImplementedError


@set_module('chainer.dataset.convert')
class _ArbitraryCallableConverter(Converter):
    """Converter from a callable, called with a normalized ``device`` argument."""

    def __init__(self, base_callable: Callable[..., Any]) -> None:
        if not callable(base_callable):
            raise TypeError(
                f'A converter must be a callable, but a {type(base_callable).__name__} is given.'
            )
        self.base_callable = base_callable
        self.__doc__ = base_callable.__doc__
        self.__wrapped__ = base_callable

    # The types are those of `concat_examples`, the only public object of this class.
    @overload
    def __call__(
        self,
        batch: Sequence[tuple[Any, ...]],
        device: DeviceSpec | None = None,
        padding: Any = None,
    ) -> tuple[NdArray, ...]: ...
    @overload
    def __call__(
        self,
        batch: Sequence[dict[_Key, Any]],
        device: DeviceSpec | None = None,
        padding: Any = None,
    ) -> dict[_Key, NdArray]: ...
    @overload
    def __call__(
        self, batch: Sequence[_Stacked], device: DeviceSpec | None = None, padding: Any = None
    ) -> NdArray: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) >= 2:
            args = args[:1] + (get_device(args[1]),) + args[2:]
        elif 'device' in kwargs:
            kwargs['device'] = get_device(kwargs['device'])
        return self.base_callable(*args, **kwargs)


@set_module('chainer.dataset.convert')
def converter() -> Callable[[Callable[..., Any]], Converter]:
    """Decorator that makes a converter from a function ``f(batch, device)``.

    The function gets ``device`` as a :class:`chainer.backend.Device` or ``None``, regardless of
    the form that the caller used. Undecorated functions are old-style converters, which get an
    integer (negative for CPU) and do not support ChainerX devices.

    Returns:
        callable: Decorator, which takes ``f`` and returns a
        :class:`~chainer.dataset.Converter`.

    .. admonition:: Example

        >>> @chainer.dataset.converter()
        ... def convert(batch, device):
        ...     return device.send(np.stack(batch))
        >>> convert([np.zeros(3), np.ones(3)], '@numpy').shape
        (2, 3)

    """

    def wrap(func: Callable[..., Any]) -> Converter:
        return _ArbitraryCallableConverter(func)

    return wrap


def get_device(device_spec: DeviceSpec | None) -> Device | None:
    """Normalizes a device argument that may also be ``None`` or an integer."""
    if device_spec is None or isinstance(device_spec, backend.Device):
        return device_spec
    if isinstance(device_spec, numbers.Integral):
        if device_spec < 0:
            return backend.CpuDevice()
        return cuda.GpuDevice.from_device_id(int(device_spec))
    return backend.get_device(device_spec)


def call_converter(converter: Callable[..., Any], batch: list[Any], device: Any) -> Any:
    """Calls a converter of either style with a device object or ``None``."""
    if isinstance(converter, Converter):
        return converter(batch, device)
    if device is None:
        return converter(batch, None)
    if isinstance(device, cuda.GpuDevice):
        return converter(batch, device.device.id)
    if device.xp is numpy:
        return converter(batch, -1)
    raise RuntimeError(
        'A converter that is not decorated by chainer.dataset.converter() knows CPU and '
        f'GPU devices only, but the device is {device}.'
    )


def call_with(func: Callable[..., _Result], in_arrays: Any) -> _Result:
    """Calls a function with the result of a converter, as several arguments or as one."""
    if isinstance(in_arrays, tuple):
        return func(*in_arrays)
    if isinstance(in_arrays, dict):
        return func(**in_arrays)
    return func(in_arrays)


@set_module('chainer.dataset.convert')
def to_device(device: DeviceSpec | None, x: Any) -> Any:
    """Sends an array, or a list, tuple or dictionary of arrays, to a device.

    Args:
        device: Device specifier, an integer (GPU number, negative for CPU) or ``None``,
            which returns ``x`` unchanged.
        x: Array or container of arrays.

    Returns:
        The converted ``x``.

    .. admonition:: Example

        >>> chainer.dataset.to_device('@numpy', {'x': np.zeros(2)})
        {'x': array([0., 0.])}

    """
    target: Device | None = get_device(device)
    return x if target is None else target.send(x)
