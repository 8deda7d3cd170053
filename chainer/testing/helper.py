from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any
from unittest import mock

from chainer.testing import attr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _is_satisfied(requirement):
    """Returns whether an installed distribution meets a requirement such as ``numpy>=1.20``."""
    from importlib import metadata

    from packaging.requirements import Requirement

    requirement = Requirement(requirement)
    if requirement.marker is not None and not requirement.marker.evaluate():
        return True
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)


def with_requires(*requirements: str) -> Callable[..., Any]:
    """Runs a test only if all the given requirements are met.

    Args:
        requirements (str): Requirements in the form of PEP 508, as in ``requirements.txt``.

    Returns:
        A decorator of test functions and classes.

    .. admonition:: Example

       >>> from chainer import testing
       >>> @testing.with_requires('numpy>=1.20', 'scipy')
       ... def test_with_scipy():
       ...     pass

    """
    satisfied = all(_is_satisfied(r) for r in requirements)
    return attr._skip_if(not satisfied, f'requires: {",".join(requirements)}')


def without_requires(*requirements: str) -> Callable[..., Any]:
    """Runs a test only if the given requirements are not all met.

    Args:
        requirements (str): Requirements in the form of PEP 508.

    Returns:
        A decorator of test functions and classes.

    .. admonition:: Example

        >>> from chainer import testing
        >>> @testing.without_requires('numpy')
        ... def test_without_numpy():
        ...     pass
        >>> test_without_numpy.__unittest_skip__
        True

    """
    satisfied = all(_is_satisfied(r) for r in requirements)
    return attr._skip_if(satisfied, f'requires: {",".join(requirements)}')


@contextlib.contextmanager
def assert_warns(expected: type | tuple[type, ...]) -> Iterator[None]:
    """Context manager that asserts that its block issues a warning of a category.

    It drops other warnings and ignores warning filters.

    Args:
        expected (type or tuple of types): Warning category.

    Raises:
        AssertionError: If there was no such warning.

    .. admonition:: Example

        >>> import warnings
        >>> from chainer import testing
        >>> with testing.assert_warns(DeprecationWarning):
        ...     warnings.warn('old', DeprecationWarning)

    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        yield
    if not any(isinstance(w.message, expected) for w in caught):
        name = getattr(expected, '__name__', str(expected))
        raise AssertionError(f'{name} not triggered')


def patch(target: str, *args: Any, **kwargs: Any) -> Any:
    """Patches a name during a test.

    It takes the arguments of :func:`unittest.mock.patch`. In addition, ``wraps`` with
    ``autospec=True`` works for functions and methods: the mock checks its arguments against the
    signature and then calls the wrapped function, including ``self``.

    Args:
        target (str): Dotted name to replace.

    Returns:
        A patcher, to use as a decorator or in a ``with`` statement, which yields the mock.

    .. admonition:: Example

        >>> import math
        >>> from chainer import testing
        >>> with testing.patch('math.sqrt', autospec=True, wraps=math.sqrt) as sqrt:
        ...     math.sqrt(4.)
        2.0
        >>> sqrt.call_count
        1

    """
    if kwargs.get('autospec') and 'wraps' in kwargs and 'side_effect' not in kwargs:
        kwargs['side_effect'] = kwargs.pop('wraps')
    return mock.patch(target, *args, **kwargs)
