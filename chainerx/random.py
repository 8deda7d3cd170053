"""Arrays of random numbers.

They are drawn by NumPy's global generator (:func:`numpy.random.seed`), so that a program gives the
same numbers on every kind of array, until :func:`seed` is called. From then on they come from
ChainerX's own generator, which is faster: it computes in C++, on all threads, in the dtype that is
asked for, and its numbers depend on the seed only, not on the number of threads. The algorithm is
Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011).

:func:`chainerx.dropout` always draws from ChainerX's own generator, which the system seeds if
nobody does.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy

from chainerx import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

_is_seeded = False


def seed(seed: int | None = None) -> None:
    """Seeds ChainerX's own generator, and makes the functions of this module use it.

    Args:
        seed (int or None): Number from zero up to :math:`2^{63} - 1`. With ``None`` the functions
            of this module draw from NumPy's global generator again.

    Raises:
        ValueError: If ``seed`` is out of range.

    .. admonition:: Example

        >>> chainerx.random.seed(0)
        >>> x = chainerx.random.uniform(size=3)
        >>> chainerx.random.seed(0)
        >>> bool((chainerx.random.uniform(size=3) == x).all())
        True
        >>> chainerx.random.seed()

    """
    global _is_seeded
    if seed is not None:
        if not 0 <= seed < 2**63:
            raise ValueError(f'seed must be from 0 up to 2**63 - 1, got {seed}')
        _core._random_seed(seed)
    _is_seeded = seed is not None


def _shape(size):
    return () if size is None else size


def _transform(name, standard, shift, factor, size, dtype, device):
    """Numbers ``shift + factor * x`` for arrays of parameters and standard numbers ``x``."""
    shift, factor = numpy.broadcast_arrays(shift, factor)
    shape = shift.shape if size is None else numpy.empty(size, bool).shape
    if numpy.broadcast_shapes(shape, shift.shape) != shape:
        raise ValueError(
            f'{name}: parameters of shape {shift.shape} cannot be broadcast to size {shape}'
        )
    x = standard(shape, 0, 1, dtype, device)
    return x * _core.array(factor, dtype, device=device) + _core.array(shift, dtype, device=device)


def normal(
    loc: float | _core.ndarray = 0.0,
    scale: float | _core.ndarray = 1.0,
    size: int | Sequence[int] | None = None,
    dtype: DTypeLike = 'float64',
    device: _core.Device | str | None = None,
) -> _core.ndarray:
    """Draws samples of normal distributions.

    Args:
        loc (float or array): Means.
        scale (float or array): Standard deviations.
        size (int, tuple of ints or None): Shape of the result; that of the parameters unless given.
        dtype: Floating point dtype of the result.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Samples.

    Raises:
        ValueError: If ``scale`` is negative, or the parameters do not fit to ``size``.

    .. admonition:: Example

        >>> x = chainerx.random.normal(10., 2., size=1000)
        >>> abs(float(x.mean()) - 10) < 1
        True

    """
    if not _is_seeded:
        return _core.array(numpy.random.normal(loc, scale, size), dtype, device=device)
    if not numpy.all(numpy.greater_equal(scale, 0)):
        raise ValueError(f'normal: scale must not be negative, got {scale}')
    if numpy.ndim(loc) == numpy.ndim(scale) == 0:
        numbers: tuple[Any, Any] = loc, scale
        return _core._random_normal(_shape(size), *numbers, dtype, device)
    return _transform('normal', _core._random_normal, loc, scale, size, dtype, device)


def standard_normal(
    size: int | Sequence[int] | None = None,
    dtype: DTypeLike = 'float64',
    device: _core.Device | str | None = None,
) -> _core.ndarray:
    """Draws samples of the standard normal distribution; see :func:`normal`.

    Args:
        size (int, tuple of ints or None): Shape of the result.
        dtype: Floating point dtype of the result.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Samples.

    .. admonition:: Example

        >>> chainerx.random.standard_normal((2, 3)).shape
        (2, 3)

    """
    return normal(0.0, 1.0, size, dtype, device)


def uniform(
    low: float | _core.ndarray = 0.0,
    high: float | _core.ndarray = 1.0,
    size: int | Sequence[int] | None = None,
    dtype: DTypeLike = 'float64',
    device: _core.Device | str | None = None,
) -> _core.ndarray:
    """Draws samples of uniform distributions, from ``low`` on and, up to rounding, below ``high``.

    Args:
        low (float or array): Lower ends.
        high (float or array): Upper ends.
        size (int, tuple of ints or None): Shape of the result; that of the parameters unless given.
        dtype: Floating point dtype of the result.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Samples.

    Raises:
        ValueError: If the parameters do not fit to ``size``.

    .. admonition:: Example

        >>> x = chainerx.random.uniform(-1, 1, size=(2, 3), dtype='float32')
        >>> x.shape, bool((abs(x) <= 1).all())
        ((2, 3), True)

    """
    if not _is_seeded:
        return _core.array(numpy.random.uniform(low, high, size), dtype, device=device)
    if numpy.ndim(low) == numpy.ndim(high) == 0:
        numbers: tuple[Any, Any] = low, high
        return _core._random_uniform(_shape(size), *numbers, dtype, device)
    return _transform(
        'uniform', _core._random_uniform, low, numpy.subtract(high, low), size, dtype, device
    )


def randint(
    low: int,
    high: int | None = None,
    size: int | Sequence[int] | None = None,
    dtype: DTypeLike = 'int64',
    device: _core.Device | str | None = None,
) -> _core.ndarray:
    """Draws integers from ``low`` on and below ``high``.

    Args:
        low (int): Smallest integer; if ``high`` is ``None``, the end, and the smallest is zero.
        high (int or None): End, which is not drawn.
        size (int, tuple of ints or None): Shape of the result.
        dtype: Dtype of the result.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Integers.

    Raises:
        ValueError: If there is no integer to draw.

    .. admonition:: Example

        >>> x = chainerx.random.randint(1, 7, size=100)
        >>> bool((x >= 1).all() and (x < 7).all())
        True

    """
    if high is None:
        low, high = 0, low
    if not _is_seeded:
        return _core.array(numpy.random.randint(low, high, size), dtype, device=device)
    if not low < high:
        raise ValueError(f'randint: low must be below high, got {low} and {high}')
    return _core._random_integers(_shape(size), low, high, device).astype(dtype, copy=False)


def rand(
    *size: int, dtype: DTypeLike = 'float64', device: _core.Device | str | None = None
) -> _core.ndarray:
    """Draws samples of the uniform distribution from 0 up to 1; see :func:`uniform`.

    Args:
        *size (int): Lengths of the dimensions of the result.
        dtype: Floating point dtype of the result.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Samples.

    .. admonition:: Example

        >>> chainerx.random.rand(2, 3).shape
        (2, 3)

    """
    return uniform(0.0, 1.0, size, dtype, device)


def randn(
    *size: int, dtype: DTypeLike = 'float64', device: _core.Device | str | None = None
) -> _core.ndarray:
    """Draws samples of the standard normal distribution; see :func:`normal`.

    Args:
        *size (int): Lengths of the dimensions of the result.
        dtype: Floating point dtype of the result.
        device (~chainerx.Device): Device of the result; the default one unless given.

    Returns:
        ~chainerx.ndarray: Samples.

    .. admonition:: Example

        >>> chainerx.random.randn(2, 3, dtype='float32').dtype
        dtype('float32')

    """
    return normal(0.0, 1.0, size, dtype, device)


def _order(n, device):
    """The numbers from zero up to ``n`` in random order."""
    if not _is_seeded:
        return _core.array(numpy.random.permutation(n), 'int64', device=device)
    # In the order of numbers of which hardly two are equal.
    return _core.argsort(_core._random_integers((n,), 0, 2**63 - 1, device))


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
            return _core._random_integers(shape, 0, n, device)
        return _order(n, device)[:count].reshape(shape)
    if replace:
        ends = p.cumsum()
        x = _core._random_uniform(shape, 0, 1, 'float64', device)
        return _core.array(ends / ends[-1], device=device).searchsorted(x, side='right')
    # The first ones to arrive, if each waits for an exponentially distributed time.
    x = _core._random_uniform((n,), 0, 1, 'float64', device)
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
    if array is not None and array.ndim != 1:
        raise ValueError(f'choice: a must have one dimension, has shape {array.shape}')
    n = operator.index(a) if array is None else len(array)
    if array is not None:
        device = array.device
    shape = numpy.broadcast_to(False, _shape(size)).shape
    count = math.prod(shape)
    if n < 0 or (n == 0 and count > 0):
        given = f'is {n}' if array is None else f'has shape {array.shape}'
        raise ValueError(f'choice: there must be elements to choose from, a {given}')
    if p is not None:
        p = _probabilities(p, n)
    if not replace and count > (n if p is None else numpy.count_nonzero(p)):
        raise ValueError(f'choice: cannot choose {count} elements of {n} without replacement')
    if _is_seeded:
        index = _draw_seeded(n, shape, count, replace, p, device)
    else:
        index = _core.array(numpy.random.choice(n, shape, replace, p), 'int64', device=device)
    return index if array is None else array.take(index)
