"""Comparison of arrays, whichever library they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


def _as_numpy(x):
    """The values of an array or a number as a NumPy array, which NumPy can compare."""
    if isinstance(x, chainerx.ndarray):
        x = chainerx.to_numpy(x.as_grad_stopped(), copy=False)
    elif hasattr(x, 'get') and not isinstance(x, numpy.ndarray):  # CuPy
        return x.get()
    x = numpy.asarray(x)
    return x.astype(numpy.float32) if x.dtype.name == 'bfloat16' else x


def assert_array_equal(
    x: ArrayLike | chainerx.ndarray,
    y: ArrayLike | chainerx.ndarray,
    err_msg: str = '',
    verbose: bool = True,
) -> None:
    """Raises :class:`AssertionError` unless two arrays have equal shapes and elements.

    Args:
        x, y: Arrays of ChainerX, NumPy or CuPy, or numbers.
        err_msg (str): Begins the message.
        verbose (bool): Whether the message shows the arrays.

    .. admonition:: Example

        >>> chainerx.testing.assert_array_equal(chainerx.array([1, 2]), np.array([1, 2]))

    """
    numpy.testing.assert_array_equal(_as_numpy(x), _as_numpy(y), err_msg, verbose)


def assert_allclose(
    x: ArrayLike | chainerx.ndarray,
    y: ArrayLike | chainerx.ndarray,
    rtol: float = 1e-7,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = '',
    verbose: bool = True,
) -> None:
    """Raises :class:`AssertionError` unless ``abs(x - y) <= atol + rtol * abs(y)`` everywhere.

    Args:
        x, y: Arrays of ChainerX, NumPy or CuPy, or numbers.
        rtol, atol (float): Relative and absolute tolerance.
        equal_nan (bool): Whether NaNs are equal.
        err_msg (str): Begins the message.
        verbose (bool): Whether the message shows the arrays.

    .. admonition:: Example

        >>> x = chainerx.array([1., 2.])
        >>> chainerx.testing.assert_allclose(x, x + 1e-9)

    """
    numpy.testing.assert_allclose(
        _as_numpy(x), _as_numpy(y), rtol, atol, equal_nan, err_msg, verbose
    )


def _check_attributes(x, y, dtype_check, strides_check):
    if dtype_check is None:
        dtype_check = True
    if strides_check is None:
        strides_check = dtype_check  # distances in bytes differ where dtypes do
    names = ['shape'] + ['dtype'] * dtype_check + ['strides'] * strides_check
    for name in names:
        # Strides mean something only where there is more than one element along each axis.
        if name == 'strides' and (x.size == 0 or 1 in x.shape):
            continue
        a, b = getattr(x, name), getattr(y, name)
        assert a == b, f'{name} differ: {a} and {b}'


def _is_array(x):
    return hasattr(x, 'shape') and hasattr(x, 'dtype') and hasattr(x, 'strides')


def _compare(check, x, y, dtype_check, strides_check):
    """Compares arrays, numbers, or lists and tuples of them."""
    if isinstance(x, (list, tuple)):
        assert isinstance(y, (list, tuple)), f'a sequence and {type(y)}'
        assert len(x) == len(y), f'lengths differ: {len(x)} and {len(y)}'
        for a, b in zip(x, y):
            _compare(check, a, b, dtype_check, strides_check)
        return
    if _is_array(x) and _is_array(y):
        _check_attributes(x, y, dtype_check, strides_check)
    check(x, y)


def assert_array_equal_ex(
    x: ArrayLike | chainerx.ndarray | Sequence[Any],
    y: ArrayLike | chainerx.ndarray | Sequence[Any],
    *args: Any,
    dtype_check: bool | None = None,
    strides_check: bool | None = None,
    **kwargs: Any,
) -> None:
    """Like :func:`assert_array_equal`, and compares dtypes and strides too.

    Args:
        x, y: Arrays or numbers, or lists and tuples of them.
        dtype_check (bool): Whether dtypes are compared; ``True`` unless given.
        strides_check (bool): Whether strides are compared; as ``dtype_check`` unless given.
        args, kwargs: More arguments of :func:`assert_array_equal`.

    Raises:
        AssertionError: If something differs.

    .. admonition:: Example

        >>> x = chainerx.array([1, 2])
        >>> chainerx.testing.assert_array_equal_ex(x, x.astype('float32'), dtype_check=False)
        >>> chainerx.testing.assert_array_equal_ex(x, x.astype('float32'))
        Traceback (most recent call last):
            ...
        AssertionError: dtype differ: int64 and float32

    """

    def check(a, b):
        assert_array_equal(a, b, *args, **kwargs)

    _compare(check, x, y, dtype_check, strides_check)


def assert_allclose_ex(
    x: ArrayLike | chainerx.ndarray | Sequence[Any],
    y: ArrayLike | chainerx.ndarray | Sequence[Any],
    rtol: float = 1e-7,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = '',
    verbose: bool = True,
    **kwargs: Any,
) -> None:
    """Like :func:`assert_allclose`, and compares dtypes and strides too.

    Args:
        x, y: Arrays or numbers, or lists and tuples of them.
        rtol, atol, equal_nan, err_msg, verbose: As for :func:`assert_allclose`.
        dtype_check (bool): Whether dtypes are compared; ``True`` unless given.
        strides_check (bool): Whether strides are compared; as ``dtype_check`` unless given.
        float16_rtol, float16_atol, float32_rtol, float32_atol, float64_rtol, float64_atol (float):
            Tolerances where either array has that dtype, in place of ``rtol`` and ``atol``.

    Raises:
        AssertionError: If something differs.
        TypeError: If there is another argument.

    .. admonition:: Example

        >>> x = chainerx.array([1., 2.], 'float16')
        >>> chainerx.testing.assert_allclose_ex(x, x * 1.001, float16_rtol=1e-2)

    """
    dtype_check = kwargs.pop('dtype_check', None)
    strides_check = kwargs.pop('strides_check', None)
    special = {
        name: kwargs.pop(name)
        for name in list(kwargs)
        if name in {t + s for t in ('float16', 'float32', 'float64') for s in ('_rtol', '_atol')}
    }
    if kwargs:
        raise TypeError('unexpected arguments: {}'.format(', '.join(sorted(kwargs))))

    def check(a, b):
        r, t = rtol, atol
        # The narrowest dtype decides.
        for name in 'float64', 'float32', 'float16':
            if name in (str(getattr(a, 'dtype', '')), str(getattr(b, 'dtype', ''))):
                r = special.get(name + '_rtol', r)
                t = special.get(name + '_atol', t)
        assert_allclose(a, b, r, t, equal_nan, err_msg, verbose)

    _compare(check, x, y, dtype_check, strides_check)
