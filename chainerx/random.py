"""Arrays of random numbers.

They are drawn by NumPy's global generator (:func:`numpy.random.seed`), so that a program gives the
same numbers on every kind of array, until :func:`seed` is called. From then on they come from
ChainerX's own generator, which is faster: it computes in C++, on all threads, in the dtype that is
asked for, and its numbers depend on the seed only, not on the number of threads. The algorithm is
Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011).

:func:`chainerx.dropout` always draws from ChainerX's own generator, which has a seed of the
operating system until :func:`seed` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainerx import _core, _internal, _random_source
from chainerx._random_order import (
    choice as choice,
    permutation as permutation,
    shuffle as shuffle,
)
from chainerx._random_source import seed as seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

# Where users find them.
for _function in (choice, permutation, seed, shuffle):
    _function.__module__ = __name__
del _function


def _shape(size):
    return () if size is None else size


def _draw(function, args, dtype, device):
    """Numbers of NumPy's global generator."""

    def make():
        return _core.array(function(*args), dtype, device=device)

    # Recordings do not see what arrays are read within.
    if any(isinstance(arg, (_core.ndarray, numpy.ndarray)) for arg in args):
        return make()
    return _random_source.draw(make)


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
    if not _random_source.is_seeded:
        return _draw(numpy.random.normal, (loc, scale, size), dtype, device)
    if not numpy.all(numpy.greater_equal(scale, 0)):
        raise ValueError(f'normal: scale must not be negative, got {scale}')
    if numpy.ndim(loc) == numpy.ndim(scale) == 0:
        numbers: tuple[Any, Any] = loc, scale
        return _internal.random_normal(_shape(size), *numbers, dtype, device)
    return _transform('normal', _internal.random_normal, loc, scale, size, dtype, device)


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
    if not _random_source.is_seeded:
        return _draw(numpy.random.uniform, (low, high, size), dtype, device)
    if numpy.ndim(low) == numpy.ndim(high) == 0:
        numbers: tuple[Any, Any] = low, high
        return _internal.random_uniform(_shape(size), *numbers, dtype, device)
    return _transform(
        'uniform', _internal.random_uniform, low, numpy.subtract(high, low), size, dtype, device
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
    if not _random_source.is_seeded:
        return _draw(numpy.random.randint, (low, high, size), dtype, device)
    if not low < high:
        raise ValueError(f'randint: low must be below high, got {low} and {high}')
    return _internal.random_integers(_shape(size), low, high, device).astype(dtype, copy=False)


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
