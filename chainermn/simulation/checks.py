"""Checks of numbers that users give."""

from __future__ import annotations

import math
import numbers


def check_number(name: str, value: object, is_positive: bool = False) -> None:
    """Raises an error unless a value is a finite number of at least 0.

    Args:
        name: Name of the argument.
        value: Its value.
        is_positive: Whether 0 is too little.

    Raises:
        TypeError: If it is no real number.
        ValueError: If it is another number.

    """
    if not isinstance(value, numbers.Real):
        raise TypeError(f'{name} must be a number, not {value!r}')
    number = float(value)
    is_enough = number > 0 if is_positive else number >= 0
    if not (is_enough and math.isfinite(number)):
        kind = 'a positive' if is_positive else 'a nonnegative'
        raise ValueError(f'{name} must be {kind} finite number, not {value!r}')


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raises an error unless a value is an integer that is large enough.

    Args:
        name: Name of the argument.
        value: Its value.
        least: The least that it may be.

    Raises:
        TypeError: If it is no integer.
        ValueError: If it is less.

    """
    if not isinstance(value, numbers.Integral):
        raise TypeError(f'{name} must be an integer, not {value!r}')
    if value < least:
        raise ValueError(f'{name} must be at least {least}, not {value!r}')
