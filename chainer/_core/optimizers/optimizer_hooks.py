"""Registration of hooks, for optimizers and update rules alike.

Each owner keeps two dictionaries, of the hooks before and after an update. A name is taken in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Hooks = dict[str, Callable[..., Any]]


def add(pre: Hooks, post: Hooks, hook: Callable[..., Any], name: str | None, timing: str) -> None:
    """Adds a hook to those before or after an update, in its own name and timing by default."""
    if not callable(hook):
        raise TypeError(f'hook function is not callable: {type(hook)}')
    if name is None:
        name = getattr(hook, 'name', getattr(hook, '__name__', None))
        if name is None:
            raise ValueError('the name of the hook function is not specified')
    if timing not in ('pre', 'post', 'auto'):
        raise ValueError(f"timing must be 'pre', 'post' or 'auto', but {timing!r} was given")
    if timing == 'auto':
        timing = getattr(hook, 'timing', 'pre')
    # A name alone removes a hook, so it must be unique among those of both timings.
    if name in pre or name in post:
        raise KeyError(f'hook "{name}" already exists')
    hooks = pre if timing == 'pre' else post
    hooks[name] = hook


def remove(pre: Hooks, post: Hooks, name: str) -> None:
    """Removes a hook, from wherever it is."""
    for hooks in (pre, post):
        if name in hooks:
            del hooks[name]
            return
    raise KeyError(f'hook "{name}" does not exist')
