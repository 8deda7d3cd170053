"""Contexts in which functions record no graph, or do again."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import chainerx
from chainer import configuration
from chainer._core.names.set_module import set_module

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

_P = ParamSpec('_P')
_R = TypeVar('_R')


@set_module('chainer.function')
def no_backprop_mode() -> _BackpropMode:
    """Returns a context manager that records no graph.

    ChainerX arrays record no graph either. Also usable as a decorator.

    .. admonition:: Example

        >>> w = chainer.Variable(np.array(3.0, np.float32))
        >>> with chainer.no_backprop_mode():
        ...     prediction = w * w
        >>> prediction.creator is None
        True

    """
    return _BackpropMode(False)


@set_module('chainer.function')
def force_backprop_mode() -> _BackpropMode:
    """Returns a context manager that records graphs inside :func:`no_backprop_mode`.

    Also usable as a decorator.

    .. admonition:: Example

        >>> w = chainer.Variable(np.array(3.0, np.float32))
        >>> with chainer.no_backprop_mode(), chainer.force_backprop_mode():
        ...     loss = w * w
        >>> loss.backward()
        >>> w.grad
        array(6., dtype=float32)

    """
    return _BackpropMode(True)


class _BackpropMode:
    """Sets ``config.enable_backprop`` and the mode of ChainerX alike."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._scopes: list[list[AbstractContextManager[Any]]] = []

    def __enter__(self) -> None:
        scopes: list[AbstractContextManager[Any]] = [
            configuration.using_config('enable_backprop', self._enabled)
        ]
        if chainerx.is_available():
            scopes.append(
                chainerx.force_backprop_mode() if self._enabled else chainerx.no_backprop_mode()
            )
        for scope in scopes:
            scope.__enter__()
        self._scopes.append(scopes)

    def __exit__(self, *exc_info: object) -> None:
        for scope in reversed(self._scopes.pop()):
            scope.__exit__(*exc_info)

    def __call__(self, func: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(func)
        def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with self:
                return func(*args, **kwargs)

        return wrapper
