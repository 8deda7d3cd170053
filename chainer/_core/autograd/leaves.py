"""Leaves whose gradients are complete while a backward pass goes on."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.autograd.variable_node import VariableNode


class Watchers(threading.local):
    """What watches the backward passes of a thread."""

    on_ready: Callable[[Any], None] | None = None


watchers = Watchers()


@contextlib.contextmanager
def watching_leaves(on_ready: Callable[[Any], None] | None) -> Iterator[None]:
    """Context in which a backward tells of each leaf variable once its gradient is complete.

    Does not concern ChainerX's arrays, nor backward passes that are recorded.

    Args:
        on_ready: Called with the variable, which has its gradient, while the backward goes on. It
            may take the gradient away, to read it. ``None`` for nothing.

    """
    before, watchers.on_ready = watchers.on_ready, on_ready
    try:
        yield
    finally:
        watchers.on_ready = before


class LeafCounter:
    """Counts the functions that a leaf's gradient still lacks.

    Args:
        funcs: Functions that the backward starts from.
        on_complete: Called with each leaf that no function is left for.

    """

    def __init__(
        self, funcs: Iterable[BaseFunction], on_complete: Callable[[VariableNode], None]
    ) -> None:
        self._on_complete = on_complete
        self._left: dict[VariableNode, int] = {}
        stack = list(funcs)
        seen = set(stack)
        while stack:
            for node in stack.pop().inputs:
                if node.requires_grad:
                    creator = node.creator_node
                    if creator is None:
                        self._left[node] = self._left.get(node, 0) + 1
                    elif creator not in seen:
                        seen.add(creator)
                        stack.append(creator)

    def __call__(self, node: VariableNode) -> None:
        self._left[node] -= 1
        if self._left[node] == 0:
            self._on_complete(node)
