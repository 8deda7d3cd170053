"""Methods that subclasses must not override."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class _FinalMeta(type):
    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        for key in namespace:
            for base in cls.__mro__[1:]:
                action = getattr(base.__dict__.get(key), '__override_action', None)
                if action is not None:
                    _act(action, key, cls, base)
                    break


def _act(action, name, cls, base):
    message = (
        f'Overriding method {name!r} of class {base.__module__}.{base.__name__!r} '
        f'in {cls.__module__}.{cls.__name__!r} is not allowed'
    )
    if issubclass(action, Warning):
        warnings.warn(message.replace('not allowed', 'deprecated'), action, stacklevel=4)
    else:
        raise action(message)


def final(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Declares that a method must not be overridden; see :func:`enable_final`.

    Usable as ``@final`` and as ``@final(action=DeprecationWarning)``.

    Args:
        args: The method, if used without parentheses.
        action: Exception to raise or warning to issue at the definition of a class that
            overrides the method; ``TypeError`` by default.

    Returns:
        callable: The method, or the decorator if no method is given.

    Raises:
        TypeError: If ``action`` is not an exception class.

    .. admonition:: Example

        >>> from chainer.utils import enable_final, final
        >>> class Base(enable_final()):
        ...     @final
        ...     def identity(self):
        ...         return 0
        >>> class Derived(Base):
        ...     def identity(self):
        ...         return 1
        Traceback (most recent call last):
            ...
        TypeError: Overriding method 'identity' of class ... is not allowed

    """
    if args:
        if len(args) != 1 or kwargs or not callable(args[0]):
            raise TypeError('final takes the method, or the keyword argument action')
        return _set_action(args[0], TypeError)
    action = kwargs.pop('action', TypeError)
    if kwargs:
        raise TypeError(f'final() got unexpected keyword argument(s) {sorted(kwargs)}')
    if not (isinstance(action, type) and issubclass(action, Exception)):
        raise TypeError(f'action must be an exception class, not {action!r}')
    return lambda method: _set_action(method, action)


def _set_action(method, action):
    setattr(method, '__override_action', action)
    return method


def enable_final(base: tuple[type, ...] = (), meta_base: tuple[type, ...] = ()) -> type:
    """Returns a base class that enforces :func:`final` in its subclasses.

    Args:
        base (tuple of type): Bases of the class.
        meta_base (tuple of type): Bases of its metaclass.

    Returns:
        type: The base class.

    .. admonition:: Example

        >>> import abc
        >>> from chainer.utils import enable_final
        >>> class Base(enable_final(meta_base=abc.ABCMeta)):
        ...     pass
        >>> isinstance(Base, abc.ABCMeta)
        True

    """

    def as_tuple(classes):
        return classes if isinstance(classes, tuple) else (classes,)

    metaclass = type('_EnableFinal', (_FinalMeta, *as_tuple(meta_base)), {})
    return metaclass('base', as_tuple(base), {})
