"""Handling of obsolete keyword arguments."""

from __future__ import annotations

import sys
from typing import Any

from chainer._core.names import hints


def check_unexpected_kwargs(kwargs: dict[str, Any], **unexpected: str) -> None:
    """Raises an error with a hint for an argument that is no longer supported.

    Args:
        kwargs (dict): Keyword arguments of a function.
        unexpected (str): Messages by the name of the argument.

    Raises:
        ValueError: If one of ``unexpected`` is in ``kwargs``.

    .. admonition:: Example

        >>> from chainer.utils import argument
        >>> def func(x, **kwargs):
        ...     argument.check_unexpected_kwargs(kwargs, train='Use chainer.using_config.')
        >>> func(1, train=True)
        Traceback (most recent call last):
            ...
        ValueError: Use chainer.using_config.

    """
    for key, message in unexpected.items():
        if key in kwargs:
            raise ValueError(message)


def assert_kwargs_empty(kwargs: dict[str, Any]) -> None:
    """Raises an error for remaining keyword arguments.

    Args:
        kwargs (dict): Keyword arguments that the calling function has not handled.

    Raises:
        TypeError: If there are any.

    .. admonition:: Example

        >>> from chainer.utils import argument
        >>> def func(x, **kwargs):
        ...     argument.assert_kwargs_empty(kwargs)
        >>> func(1, y=2)
        Traceback (most recent call last):
            ...
        TypeError: func() got unexpected keyword argument(s) 'y'

    """
    if kwargs:
        _raise_unexpected(kwargs, sys._getframe(1))


def parse_kwargs(
    kwargs: dict[str, Any], *name_and_values: tuple[str, Any], **unexpected: str
) -> tuple[Any, ...]:
    """Takes keyword arguments with defaults.

    Args:
        kwargs (dict): Keyword arguments of a function.
        name_and_values: Pairs of names and default values.
        unexpected (str): Messages for arguments that are no longer supported.

    Returns:
        tuple: Values in the order of the pairs.

    Raises:
        ValueError: If one of ``unexpected`` is in ``kwargs``.
        TypeError: If ``kwargs`` has other names.

    .. admonition:: Example

        >>> from chainer.utils import argument
        >>> def func(x, **kwargs):
        ...     return argument.parse_kwargs(kwargs, ('dilate', 1), ('groups', 1))
        >>> func(0, groups=2)
        (1, 2)

    """
    if unexpected:
        check_unexpected_kwargs(kwargs, **unexpected)
    values = tuple([kwargs.get(name, default) for name, default in name_and_values])
    names = [name for name, _ in name_and_values]
    if any(key not in names for key in kwargs):
        _raise_unexpected([key for key in kwargs if key not in names], sys._getframe(1))
    return values


def _raise_unexpected(keys, frame):
    names = ', '.join(f"'{key}'" for key in sorted(keys))
    function = frame.f_code.co_name
    hint = hints.of_arguments(function, keys)
    raise TypeError(f'{function}() got unexpected keyword argument(s) {names}{hint}')
