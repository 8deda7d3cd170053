"""Hooks of functions that are active in a thread. :mod:`chainer.function_hook` sets them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.autograd.base_function import BaseFunction


class Hook(Protocol):
    """What runs functions calls these methods of a :class:`chainer.FunctionHook`."""

    def forward_preprocess(self, function: Any, in_data: tuple[Any, ...], /) -> None: ...
    def forward_postprocess(self, function: Any, in_data: tuple[Any, ...], /) -> None: ...
    def backward_preprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...], /
    ) -> None: ...
    def backward_postprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...], /
    ) -> None: ...


#: Gives the hooks that a thread begins with, where something watches all threads.
initial: Callable[[], dict[str, Any]] | None = None


class ThreadHooks(threading.local):
    """Hooks of the current thread."""

    #: Hooks by name that are active for all functions; ``None`` before the first one.
    hooks: dict[str, Any] | None = None

    def __init__(self) -> None:
        if initial is not None:
            self.hooks = initial()


thread_hooks = ThreadHooks()


def get_hooks() -> dict[str, Any]:
    """Returns the hooks of the current thread by name, in order of activation."""
    hooks = thread_hooks.hooks
    if hooks is None:
        hooks = thread_hooks.hooks = {}
    return hooks


def hooks_of(func: BaseFunction) -> Sequence[Hook]:
    """Returns the hooks of the thread and of the function, in the order in which they run."""
    shared = thread_hooks.hooks
    own = getattr(func._extras, 'hooks', None)
    if shared or own:
        return [*(shared or {}).values(), *(own or {}).values()]
    return ()
