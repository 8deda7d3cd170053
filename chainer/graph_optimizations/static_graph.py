from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from chainer._core.engines import plan_data
from chainer.configuration import config

if TYPE_CHECKING:
    from collections.abc import Callable


def static_graph(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Declares that the graph of a link is the same in every iteration.

    The decorator is for ``forward`` or ``__call__`` of a chain, as ``@static_graph`` or with
    arguments. Where no graph is needed, within :func:`~chainer.no_backprop_mode`, calls run as
    those of :func:`chainer.compile`: on ChainerX's native devices, they repeat without Python. All
    other calls run eagerly; compile the whole training step instead. Results never
    depend on the decorator. The plans keep the last eight models alive.

    ``chainer.config.use_static_graph = False`` makes the decorator do nothing.

    Args:
        args: The function, if used without parentheses.
        minimize_cache_size (bool): Accepted for compatibility.
        verbosity_level (int): Accepted for compatibility.
        enable_double_backprop (bool): Accepted for compatibility; double backprop always works.

    Returns:
        callable: The function, or the decorator if none is given.

    Raises:
        TypeError: If the arguments are invalid.

    .. admonition:: Example

        >>> class Square(chainer.Chain):
        ...     @chainer.static_graph
        ...     def forward(self, x):
        ...         return x * x
        >>> Square()(chainer.Variable(np.array([1, 2], np.float32)))
        variable([1., 4.])

    """
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return _decorate(args[0])
    _check_arguments(*args, **kwargs)
    return _decorate


def _check_arguments(*, minimize_cache_size=True, verbosity_level=0, enable_double_backprop=False):
    if not isinstance(verbosity_level, int):
        raise TypeError(f'verbosity_level must be an integer, not {verbosity_level!r}')


_MAX_PLANS = 8  # which keep so many models alive


def _decorate(func):
    if not callable(func):
        raise TypeError(f'static_graph decorates functions, not {type(func)}')
    from chainer import compilation  # a sixth of the time of `import chainer`

    compiled = compilation.compile(func, max_plans=_MAX_PLANS)

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        if (
            config.enable_backprop
            or not config.use_static_graph
            or plan_data.local.recording is not None  # of a function that calls this one
        ):
            return func(*args, **kwargs)
        return compiled(*args, **kwargs)

    return wrapped
