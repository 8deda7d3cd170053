"""Storage for the hooks of optimizers and update rules.

The owner has two ordered dictionaries, ``_pre_update_hooks`` and
``_post_update_hooks``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def add(owner: Any, hook: Callable[..., Any], name: str | None, timing: str) -> None:
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
    if name in owner._pre_update_hooks or name in owner._post_update_hooks:
        raise KeyError(f'hook "{name}" already exists')
    hooks = owner._pre_update_hooks if timing == 'pre' else owner._post_update_hooks
    hooks[name] = hook


def remove(owner: Any, name: str) -> None:
    for hooks in (owner._pre_update_hooks, owner._post_update_hooks):
        if name in hooks:
            del hooks[name]
            return
    raise KeyError(f'hook "{name}" does not exist')
