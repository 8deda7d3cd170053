"""Base of devices."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from chainer._core.names.set_module import set_module

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from chainer._core.settings.types import Xp

_null_context = contextlib.nullcontext()


def convert_arrays(arrays: Any, func: Callable[[Any], Any]) -> Any:
    """Applies ``func`` to each array of a nested structure.

    Walks through lists, tuples (named ones too) and dictionaries; keeps ``None``. Converts an
    array that occurs more than once only once, so it stays shared.
    """
    if not isinstance(arrays, (list, tuple, dict)):
        return func(arrays)

    # Keeping the arrays beside the results keeps ids unique during the walk.
    converted: dict[int, tuple[Any, Any]] = {}

    def convert_once(array: Any) -> Any:
        if id(array) not in converted:
            converted[id(array)] = array, func(array)
        return converted[id(array)][1]

    return _map_structure(arrays, convert_once)


def _map_structure(obj: Any, func: Callable[[Any], Any]) -> Any:
    if obj is None:
        return None
    if isinstance(obj, dict):
        return type(obj)([(key, _map_structure(value, func)) for key, value in obj.items()])
    if isinstance(obj, tuple) and hasattr(obj, '_fields'):
        return type(obj)(*[_map_structure(item, func) for item in obj])
    if isinstance(obj, (list, tuple)):
        return type(obj)([_map_structure(item, func) for item in obj])
    return func(obj)


@set_module('chainer._backend')
class Device:
    """Base class of devices, which hold arrays and have an array module to compute on them.

    Get instances from :func:`chainer.get_device`. :func:`chainer.using_device` makes a device
    current in a ``with`` statement.

    .. admonition:: Example

        >>> device = chainer.get_device('@numpy')
        >>> isinstance(device, chainer.backend.Device), device.name
        (True, '@numpy')
        >>> device.is_array_supported(np.zeros(2))
        True
        >>> device.send({'x': np.zeros(2), 'y': None})
        {'x': array([0., 0.]), 'y': None}

    """

    @property
    def name(self) -> str:
        """Device specifier that :func:`chainer.get_device` understands."""
        raise NotImplementedError('Device implementation must override this property.')

    @property
    def xp(self) -> Xp:
        """Array module of the device."""
        raise NotImplementedError('Device implementation must override this property.')

    @property
    def supported_array_types(self) -> tuple[type[Any], ...]:
        """Tuple of the array types of the device."""
        raise NotImplementedError('Device implementation must override this property.')

    def __enter__(self) -> Any:
        raise RuntimeError(
            'Device does not support the with statement directly. '
            'Use chainer.using_device(device) instead.'
        )

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        raise RuntimeError(
            'Device does not support the with statement directly. '
            'Use chainer.using_device(device) instead.'
        )

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError('Device implementation must override this method.')

    def __hash__(self) -> int:
        raise NotImplementedError('Device implementation must override this method.')

    def __str__(self) -> str:
        return self.name

    def create_context(self) -> AbstractContextManager[Any]:
        """Returns a context manager in which the device is current."""
        return _null_context

    def use(self) -> None:
        """Makes the device current for the thread."""

    def is_array_supported(self, array: object) -> bool:
        """Tells whether the device can compute with ``array`` as it is."""
        raise NotImplementedError('Device implementation must override this method.')

    def send(self, arrays: Any) -> Any:
        """Transfers arrays to the device.

        Args:
            arrays: Array of any module, or a list, tuple or dictionary of them, also nested.
                ``None`` elements stay.

        Returns:
            The same structure of arrays on the device. Arrays that are already there are not
            copied.

        Raises:
            TypeError: If an element is neither an array nor a scalar.

        """
        return convert_arrays(arrays, self.send_array)

    def send_array(self, array: Any) -> Any:
        """Transfers one array; devices implement it."""
        raise NotImplementedError('Device implementation must override this method.')
