"""Random orders and choices of elements."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

import numpy

from chainerx import _core, _internal, _random_source

if TYPE_CHECKING:
    from collections.abc import Sequence


def _order(n, device):
    """The numbers from zero up to ``n`` in random order."""
    if not _random_source.is_seeded:
        return _random_source.draw(
            lambda: _core.array(numpy.random.permutation(n), 'int64', device=device)
        )
    # In the order of numbers of which hardly two are equal.
    return _core.argsort(_internal.random_integers((n,), 0, 2**63 - 1, device))


def permutation(x: int | _core.ndarray, device: _core.Device | str | None = None) -> _core.ndarray:
    """Puts numbers, or the elements of an array, into random order.

    Args:
        x (int or ~chainerx.ndarray): Array, whose first axis is permuted; or a number :math:`n`,
            which stands for the integers from 0 to :math:`n - 1`.
        device (~chainerx.Device): Device of permuted integers; the default one unless given.

    Returns:
        ~chainerx.ndarray: Integers, or a permuted copy of the array, through which gradients flow.

    Raises:
        ValueError: If ``x`` is negative.
        ~chainerx.DimensionError: If ``x`` is an array without dimensions.

    .. admonition:: Example

        >>> x = chainerx.random.permutation(5)
        >>> sorted(x.tolist())
        [0, 1, 2, 3, 4]

    """
    if isinstance(x, _core.ndarray):
        if x.ndim == 0:
            raise _core.DimensionError('permutation: an array without dimensions has no order')
        return x.take(_order(len(x), x.device), axis=0)
    n = operator.index(x)
    if n < 0:
        raise ValueError(f'permutation: x must not be negative, got {n}')
    return _order(n, device)


def shuffle(x: _core.ndarray) -> None:
    """Puts the elements of an array into random order along the first axis, in place.

    Args:
        x (~chainerx.ndarray): Array of at least one dimension that belongs to no graph.

    Raises:
        ~chainerx.DimensionError: If ``x`` has no dimension.
        ~chainerx.ChainerxError: If ``x`` belongs to a graph.

    .. admonition:: Example

        >>> x = chainerx.arange(5)
        >>> chainerx.random.shuffle(x)
        >>> sorted(x.tolist())
        [0, 1, 2, 3, 4]

    """
    if not isinstance(x, _core.ndarray):
        raise TypeError(f'x must be chainerx.ndarray, not {type(x).__name__}')
    if x.ndim == 0:
        raise _core.DimensionError('shuffle: an array without dimensions has no order')
    x[:] = x.as_grad_stopped().take(_order(len(x), x.device), axis=0)


def _probabilities(p, n):
    """Checks what ``choice`` is given."""
    p = numpy.asarray(_core.to_numpy(p) if isinstance(p, _core.ndarray) else p, 'float64')
    if p.shape != (n,):
        raise ValueError(f'choice: p has shape {p.shape}, but there are {n} elements')
    if not (p >= 0).all():
        raise ValueError('choice: p must not be negative or NaN')
    if abs(p.sum() - 1) > 1e-8:
        raise ValueError(f'choice: the sum of p must be one, is {p.sum()}')
    return p


def _draw_seeded(n, shape, count, replace, p, device):
    """Indices below ``n`` by ChainerX's own generator."""
    if count == 0:
        return _core.zeros(shape, 'int64', device)
    if p is None:
        if replace:
            return _internal.random_integers(shape, 0, n, device)
        return _order(n, device)[:count].reshape(shape)
    if replace:
        ends = p.cumsum()
        x = _internal.random_uniform(shape, 0, 1, 'float64', device)
        return _core.array(ends / ends[-1], device=device).searchsorted(x, side='right')
    # The first ones to arrive, if each waits for an exponentially distributed time.
    x = _internal.random_uniform((n,), 0, 1, 'float64', device)
    times = -_core.log1p(-x) / _core.array(p, device=device)
    return _core.argsort(times)[:count].reshape(shape)


def choice(
    a: int | _core.ndarray,
    size: int | Sequence[int] | None = None,
    replace: bool = True,
    p: _core.ndarray | Sequence[float] | None = None,
    device: _core.Device | str | None = None,
) -> _core.ndarray:
    """Chooses elements at random.

    Args:
        a (int or ~chainerx.ndarray): Vector; or a number :math:`n`, which stands for the integers
            from 0 to :math:`n - 1`.
        size (int, tuple of ints or None): Shape of the result.
        replace (bool): Whether an element can be chosen again.
        p (array or None): Probabilities of the elements; equal ones unless given.
        device (~chainerx.Device): Device of chosen integers; the default one unless given.

    Returns:
        ~chainerx.ndarray: Integers, or elements of the array, through which gradients flow.

    Raises:
        ValueError: If there are not enough elements to choose from, ``a`` is no vector, or ``p``
            are no probabilities of its elements.

    .. admonition:: Example

        >>> x = chainerx.random.choice(5, 3, replace=False)
        >>> len(set(x.tolist()))
        3
        >>> chainerx.random.choice(chainerx.array([1., 2.]), 2, p=[0, 1])
        array([2., 2.], shape=(2,), dtype=float64, device='native:0')

    """
    array = a if isinstance(a, _core.ndarray) else None
    n = _count(a)
    if array is not None:
        device = array.device
    shape = numpy.broadcast_to(False, () if size is None else size).shape
    count = math.prod(shape)
    if n < 0 or (n == 0 and count > 0):
        given = f'is {n}' if array is None else f'has shape {array.shape}'
        raise ValueError(f'choice: there must be elements to choose from, a {given}')
    if p is not None:
        p = _probabilities(p, n)
    if not replace and count > (n if p is None else numpy.count_nonzero(p)):
        raise ValueError(f'choice: cannot choose {count} elements of {n} without replacement')
    if _random_source.is_seeded:
        index = _draw_seeded(n, shape, count, replace, p, device)
    else:
        index = _random_source.draw(
            lambda: _core.array(numpy.random.choice(n, shape, replace, p), 'int64', device=device)
        )
    return index if array is None else array.take(index)


def _count(a):
    """Number of elements to choose from."""
    if not isinstance(a, _core.ndarray):
        return operator.index(a)
    if a.ndim != 1:
        raise ValueError(f'choice: a must have one dimension, has shape {a.shape}')
    return len(a)
