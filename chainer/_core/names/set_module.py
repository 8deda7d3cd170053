"""Where users find what the core defines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    _T = TypeVar('_T', bound=Callable[..., Any])


def set_module(name: str) -> Callable[[_T], _T]:
    """Decorates a function or class of the core with the name of its public module.

    Pickles and messages name this module, that of Chainer 7, whatever file defines the name.
    """

    def decorate(obj: _T) -> _T:
        obj.__module__ = name
        return obj

    return decorate
