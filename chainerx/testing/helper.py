"""Decorators that run a test with NumPy and with ChainerX and compare what it returns."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy

from chainerx.testing import array

if TYPE_CHECKING:
    from collections.abc import Callable

_IGNORED = object()


def ignore() -> object:
    """What a test returns whose results shall not be compared.

    Returns:
        object: Mark of such a result.

    .. admonition:: Example

        >>> @chainerx.testing.numpy_chainerx_array_equal()
        ... def check(xp):
        ...     return chainerx.testing.ignore() if xp.e > 2 else xp.ones(3)
        >>> check()

    """
    return _IGNORED


def _call(function, name, module, accept_error, args, kwargs):
    """Returns (result, None) or (None, error)."""
    try:
        result = function(*args, **{**kwargs, name: module})
    except accept_error as error:
        return None, error
    if result is None:
        raise AssertionError(f'the test returned None with {name} = {module.__name__}')
    return result, None


def _call_both(modules, function, name, accept_error, args, kwargs):
    """Returns the results of ChainerX and NumPy, ``None`` if there is nothing to compare."""
    (expected, numpy_error), (actual, chainerx_error) = [
        _call(function, name, module, accept_error, args, kwargs) for module in modules
    ]
    if numpy_error is not None or chainerx_error is not None:
        if numpy_error is None or chainerx_error is None:
            raise AssertionError(
                f'only one library raised an error: NumPy {numpy_error!r}, '
                f'ChainerX {chainerx_error!r}'
            ) from (numpy_error or chainerx_error)
        return None
    if expected is _IGNORED or actual is _IGNORED:
        assert expected is actual, 'only one result was to be ignored'
        return None
    return actual, expected


def _make_decorator(check, name, *accepted):
    accept_error: tuple[type[BaseException], ...] = ()
    for errors in accepted:
        accept_error += errors if isinstance(errors, tuple) else (errors,)

    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            import chainerx

            modules = numpy, chainerx
            results = _call_both(modules, function, name, accept_error, args, kwargs)
            if results is not None:
                check(*results)

        # pytest shall not look for a fixture of that name.
        signature = inspect.signature(function)
        wrapper.__signature__ = signature.replace(  # type: ignore[attr-defined]  # of functions
            parameters=[p for p in signature.parameters.values() if p.name != name]
        )
        del wrapper.__wrapped__
        return wrapper

    return decorator


def numpy_chainerx_array_equal(
    *,
    dtype_check: bool | None = None,
    strides_check: bool | None = None,
    name: str = 'xp',
    accept_error: type | tuple[type, ...] = (),
    accept_errors: type | tuple[type, ...] = (),
    **kwargs: Any,
) -> Callable[..., Any]:
    """Decorator: a test has to return equal arrays with NumPy and with ChainerX.

    Args:
        dtype_check, strides_check (bool): Whether dtypes and strides are compared as well, see
            :func:`assert_array_equal_ex`.
        name (str): Argument of the test that takes the module.
        accept_error, accept_errors (type or tuple of types): Errors that the test may raise, if
            it does with both.
        kwargs: ``err_msg`` and ``verbose``, see :func:`assert_array_equal_ex`.

    Returns:
        Decorator of test functions.

    .. admonition:: Example

        >>> @chainerx.testing.numpy_chainerx_array_equal()
        ... def check(xp):
        ...     return xp.arange(6).reshape(2, 3).sum(axis=0)
        >>> check()

    """

    def check(actual, expected):
        array.assert_array_equal_ex(
            actual, expected, dtype_check=dtype_check, strides_check=strides_check, **kwargs
        )

    return _make_decorator(check, name, accept_error, accept_errors)


def numpy_chainerx_allclose(
    *,
    dtype_check: bool | None = None,
    strides_check: bool | None = None,
    name: str = 'xp',
    accept_error: type | tuple[type, ...] = (),
    accept_errors: type | tuple[type, ...] = (),
    **kwargs: Any,
) -> Callable[..., Any]:
    """Decorator: a test has to return nearly equal arrays with NumPy and with ChainerX.

    Args:
        dtype_check, strides_check (bool): Whether dtypes and strides are compared as well.
        name (str): Argument of the test that takes the module.
        accept_error, accept_errors (type or tuple of types): Errors that the test may raise, if
            it does with both.
        kwargs: Tolerances, see :func:`assert_allclose_ex`.

    Returns:
        Decorator of test functions.

    .. admonition:: Example

        >>> @chainerx.testing.numpy_chainerx_allclose(rtol=1e-12)
        ... def check(xp):
        ...     return xp.exp(xp.array([1., 2.]))
        >>> check()

    """

    def check(actual, expected):
        array.assert_allclose_ex(
            actual, expected, dtype_check=dtype_check, strides_check=strides_check, **kwargs
        )

    return _make_decorator(check, name, accept_error, accept_errors)
