"""Cached properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import configuration

if TYPE_CHECKING:
    from collections.abc import Callable


class cached_property:
    """Property that is computed at its first use and then stored as an attribute.

    A value computed without backprop is not stored, because a variable in it would lack its graph.

    Args:
        func: Getter.

    .. admonition:: Example

        >>> from chainer.utils import cached_property
        >>> class Circle:
        ...     @cached_property
        ...     def area(self):
        ...         print('computed')
        ...         return 3.14
        >>> circle = Circle()
        >>> circle.area, circle.area
        computed
        (3.14, 3.14)

    """

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self._func = func
        self.__doc__ = func.__doc__

    def __get__(self, obj: object, cls: type | None) -> Any:
        if obj is None:
            return self
        value = self._func(obj)
        if configuration.config.enable_backprop:
            # The instance attribute takes precedence over this descriptor, which has no `__set__`.
            obj.__dict__[self._func.__name__] = value
        return value
