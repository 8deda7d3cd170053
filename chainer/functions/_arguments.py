"""Checks of arguments of functions."""

from __future__ import annotations

import numbers

from chainer.utils import type_check


def parse_axis(axis):
    """Checks an ``axis`` argument of a reduction: ``None``, an int or a tuple of distinct ints.

    Returns:
        ``None`` or a tuple of ints.

    Raises:
        TypeError: If the type of ``axis`` is wrong.
        ValueError: If an axis appears twice.

    """
    if axis is None:
        return None
    if isinstance(axis, numbers.Integral) and not isinstance(axis, bool):
        return (int(axis),)
    if isinstance(axis, tuple) and all(isinstance(a, numbers.Integral) for a in axis):
        if len(set(axis)) != len(axis):
            raise ValueError(f'duplicate value in axis: {axis}')
        return tuple([int(a) for a in axis])
    raise TypeError(f'axis must be None, an int or a tuple of ints, not {axis!r}')


def parse_single_axis(axis):
    """Checks an ``axis`` argument that is ``None`` or one int.

    Raises:
        TypeError: If the type of ``axis`` is wrong.

    """
    if axis is not None and (isinstance(axis, bool) or not isinstance(axis, numbers.Integral)):
        raise TypeError(f'axis must be None or an int, not {axis!r}')
    return axis


def parse_int(value, name='axis'):
    """Checks an argument that is one int.

    Raises:
        TypeError: If its type is wrong.

    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f'{name} must be an int, not {value!r}')
    return int(value)


def parse_ints(value, name):
    """Checks an argument that is one int or a tuple of ints; returns a tuple.

    Raises:
        TypeError: If its type is wrong.

    """
    values = value if isinstance(value, tuple) else (value,)
    try:
        return tuple([parse_int(v, name) for v in values])
    except TypeError:
        raise TypeError(f'{name} must be an int or a tuple of ints, not {value!r}') from None


def pair(name, x):
    """Values for height and width, of which one number serves both.

    Raises:
        ValueError: If there are not two.

    """
    if not hasattr(x, '__len__'):
        return x, x
    if len(x) != 2:
        raise ValueError(f'{name} must be an integer or a pair of integers, but is {x!r}')
    return x[0], x[1]


def expect_axis(in_type, axis):
    """Type check that every axis of a parsed ``axis`` exists in the input."""
    for a in axis or ():
        if a >= 0:
            type_check.expect(a < in_type.ndim)
        else:
            type_check.expect(-a - 1 < in_type.ndim)


def check_reduce(reduce, allowed=('mean', 'no')):
    """Checks a ``reduce`` option.

    Raises:
        ValueError: If ``reduce`` is not one of ``allowed``.

    """
    if reduce not in allowed:
        *first, last = map(repr, allowed)
        raise ValueError(
            f"only {', '.join(first)} and {last} are valid for 'reduce', but {reduce!r} is given"
        )
