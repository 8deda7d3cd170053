"""Debug mode and compute mode of the current thread."""

from __future__ import annotations

import warnings

from chainer._core.names.set_module import set_module
from chainer.configuration import config, using_config


@set_module('chainer')
def get_compute_mode() -> str | None:
    """Returns ``chainer.config.compute_mode``.

    .. admonition:: Example

        >>> chainer.get_compute_mode() is None
        True

    """
    return config.compute_mode


@set_module('chainer')
def is_debug() -> bool:
    """Returns whether debug mode is on in this thread.

    .. admonition:: Example

        >>> with chainer.using_config('debug', True):
        ...     chainer.is_debug()
        True

    """
    return bool(config.debug)


@set_module('chainer')
def set_debug(debug: bool) -> None:
    """Turns debug mode on or off in this thread.

    In debug mode functions check their results for NaN, record their call stack, and warn of NumPy
    arrays that changed in place between forward and backward.

    Args:
        debug (bool): New debug mode.

    .. admonition:: Example

        >>> chainer.set_debug(True)
        >>> x = np.array([-1], np.float32)
        >>> with np.errstate(invalid='ignore'):
        ...     F.log(x)
        Traceback (most recent call last):
            ...
        RuntimeError: NaN is detected on forward computation of log
        >>> chainer.set_debug(False)

    """
    config.debug = debug


@set_module('chainer')
class DebugMode:
    """Context manager that sets debug mode.

    .. deprecated:: v2.0
        Use ``chainer.using_config('debug', debug)``.

    Args:
        debug (bool): Debug mode inside the context.

    .. admonition:: Example

        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter('ignore', DeprecationWarning)
        ...     with chainer.DebugMode(True):
        ...         chainer.is_debug()
        True

    """

    def __init__(self, debug: bool) -> None:
        warnings.warn(
            "chainer.DebugMode is deprecated. Use chainer.using_config('debug', ...).",
            DeprecationWarning,
            stacklevel=2,
        )
        self._using = using_config('debug', debug)

    def __enter__(self) -> None:
        self._using.__enter__()

    def __exit__(self, *args: object) -> None:
        self._using.__exit__(*args)
