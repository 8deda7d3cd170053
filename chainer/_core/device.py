"""Base of devices."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from chainer.types import Xp

_null_context = contextlib.nullcontext()


def convert_arrays(arrays: Any, func: Callable[[Any], Any]) -> Any:
    """Applies ``func`` to each array of a nested structure.

    Lists, tuples (named ones too) and dictionaries are walked through; ``None`` stays. An array
    that occurs more than once is converted once, so that what is shared stays shared.
    """
    if not isinstance(arrays, (list, tuple, dict)):
        return func(arrays)

    # The arrays are kept beside the results, so that ids stay unique during the walk.
    converted = {}

    def convert(obj: Any) -> Any:
        if obj is None:
            return None
        if isinstance(obj, dict):
            return type(obj)([(key, convert(value)) for key, value in obj.items()])
        if isinstance(obj, tuple) and hasattr(obj, '_fields'):
            return type(obj)(*map(convert, obj))
        if isinstance(obj, (list, tuple)):
            return type(obj)([convert(item) for item in obj])
        if id(obj) not in converted:
            converted[id(obj)] = obj, func(obj)
        return converted[id(obj)][1]

    return convert(arrays)


class Device:
    """Base class of devices: where arrays live, and the array module that computes there.

    Get instances from :func:`chainer.get_device`. To make a device current for a while, use
    :func:`chainer.using_device`.

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
            arrays: Array of any module, or a list, tuple or dictionary of them, nested at will.
                ``None`` elements stay.

        Returns:
            The same structure of arrays on the device. Arrays that are there already are
            returned themselves, not copied.

        Raises:
            TypeError: If something else than arrays and scalars is found.

        """
        return convert_arrays(arrays, self.send_array)

    def send_array(self, array: Any) -> Any:
        """Transfers one array; devices implement it."""
        raise NotImplementedError('Device implementation must override this method.')
