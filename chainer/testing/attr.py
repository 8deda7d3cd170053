"""Marks for tests that need special hardware or take long.

Select them with ``pytest -m``, for example ``pytest -m "not slow and not gpu"``.
"""

from __future__ import annotations

import importlib
import os
import unittest
from typing import TYPE_CHECKING, Any

from chainer.backends import cuda
from chainer.testing import _bundle

if TYPE_CHECKING:
    from collections.abc import Callable

pytest: Any = None  # not by a statement, which would make it a module for checkers
_error: ImportError | None = None
try:
    pytest = importlib.import_module('pytest')
except ImportError as _e:
    _error = _e


def get_error() -> ImportError | None:
    """Returns the error of importing pytest, or ``None``.

    Returns:
        ImportError: The error.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> attr.get_error() is None
        True

    """
    return _error


def is_available() -> bool:
    """Returns whether marks are available, i.e. whether pytest is installed.

    Returns:
        bool: Whether they are available.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> attr.is_available()
        True

    """
    return _error is None


def check_available() -> None:
    """Raises an error unless pytest is installed.

    Raises:
        RuntimeError: If it is not installed.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> attr.check_available()

    """
    if _error is not None:
        raise RuntimeError(
            f'chainer.testing is not available; install pytest.\n  '
            f'{type(_error).__name__}: {_error}'
        ) from _error


def _mark(name, args, kwargs):
    check_available()
    mark = getattr(pytest.mark, name)
    if len(args) == 1 and not kwargs:
        return _bundle.decorate(mark, args[0])
    return mark(*args, **kwargs)


def _skip_if(condition, reason):
    """Makes a decorator that skips a function, a class or a bundle of classes."""
    skip = unittest.skipIf(condition, reason)

    def decorate(f):
        # pytest looks at unittest's decorator only on subclasses of TestCase and on functions. Its
        # marks take a lambda for an argument of the mark.
        if pytest is not None and getattr(f, '__name__', None) != '<lambda>':
            f = pytest.mark.skipif(condition, reason=reason)(f)
        return skip(f)

    return lambda target: _bundle.decorate(decorate, target)


def slow(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Marks a test that takes long.

    Args:
        args, kwargs: The test, or arguments of pytest's mark.

    Returns:
        The test, or a decorator of tests.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> @attr.slow
        ... def test_everything():
        ...     pass
        >>> [mark.name for mark in test_everything.pytestmark]
        ['slow']

    """
    return _mark('slow', args, kwargs)


def cudnn(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Marks a test that needs cuDNN.

    Args:
        args, kwargs: The test, or arguments of pytest's mark.

    Returns:
        The test, or a decorator of tests.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> @attr.cudnn
        ... def test_with_cudnn():
        ...     pass
        >>> [mark.name for mark in test_with_cudnn.pytestmark]
        ['cudnn']

    """
    return _mark('cudnn', args, kwargs)


def ideep(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Marks a test that needs iDeep.

    Args:
        args, kwargs: The test, or arguments of pytest's mark.

    Returns:
        The test, or a decorator of tests.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> @attr.ideep
        ... def test_with_ideep():
        ...     pass
        >>> [mark.name for mark in test_with_ideep.pytestmark]
        ['ideep']

    """
    return _mark('ideep', args, kwargs)


def chainerx(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Marks a test that needs ChainerX.

    Args:
        args, kwargs: The test, or arguments of pytest's mark.

    Returns:
        The test, or a decorator of tests.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> @attr.chainerx
        ... def test_with_chainerx():
        ...     pass
        >>> [mark.name for mark in test_with_chainerx.pytestmark]
        ['chainerx']

    """
    return _mark('chainerx', args, kwargs)


def _skip_without_gpus(gpu_num):
    # The limit lets one machine stand in for a smaller one; by default the real number counts.
    limit = int(os.environ.get('CHAINER_TEST_GPU_LIMIT', '-1'))
    if limit < 0:
        enough = cuda.available and (
            gpu_num <= 1 or cuda.cupy.cuda.runtime.getDeviceCount() >= gpu_num
        )
    else:
        enough = cuda.available and limit >= gpu_num
    return _skip_if(not enough, f'{gpu_num} GPUs required')


def multi_gpu(gpu_num: int) -> Callable[..., Any]:
    """Marks a test that needs several GPUs and skips it if there are fewer.

    The environment variable ``CHAINER_TEST_GPU_LIMIT`` limits the number of available GPUs.

    Args:
        gpu_num (int): Required number of GPUs.

    Returns:
        A decorator of test functions and classes.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> @attr.multi_gpu(2)
        ... def test_with_two_gpus():
        ...     pass
        >>> sorted(mark.name for mark in test_with_two_gpus.pytestmark)
        ['gpu', 'multi_gpu', 'skipif']

    """
    check_available()
    skip = _skip_without_gpus(gpu_num)
    mark = pytest.mark.multi_gpu(gpu_num)
    return lambda target: skip(_bundle.decorate(lambda f: mark(pytest.mark.gpu(f)), target))


def gpu(f: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a test that needs a GPU and skips it if there is none.

    Args:
        f: Test function or class.

    Returns:
        The test.

    .. admonition:: Example

        >>> from chainer.testing import attr
        >>> @attr.gpu
        ... def test_with_gpu():
        ...     pass
        >>> sorted(mark.name for mark in test_with_gpu.pytestmark)
        ['gpu', 'skipif']

    """
    check_available()
    return _skip_without_gpus(1)(_bundle.decorate(pytest.mark.gpu, f))
