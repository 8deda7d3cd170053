"""Leaves whose gradients are complete while a backward pass goes on."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.autograd.gradients import Gradients
    from chainer._core.autograd.variable_node import VariableNode


class Pass:
    """A backward pass that goes on: gradients that it adds up, and the factor in them."""

    __slots__ = ('gradients', 'loss_scale')

    def __init__(self, gradients: Gradients, loss_scale: float | None) -> None:
        self.gradients = gradients
        self.loss_scale = loss_scale


class Watchers(threading.local):
    """What watches the backward passes of a thread, and those that go on."""

    on_ready: Callable[[Any], None] | None = None
    on_late: Callable[[Any], None] | None = None
    variables: Sequence[Any] = ()

    def __init__(self) -> None:
        #: The passes that go on, the outermost first. The gradient of `chainer.functions.forget`,
        #: and of functions that users write, runs a pass of its own inside of another one.
        self.passes: list[Pass] = []

    @property
    def loss_scale(self) -> float | None:
        """Factor in the gradients of the innermost pass that goes on."""
        return self.passes[-1].loss_scale if self.passes else None


watchers = Watchers()


@contextlib.contextmanager
def watching_leaves(
    on_ready: Callable[[Any], None],
    variables: Sequence[Any] = (),
    on_late: Callable[[Any], None] | None = None,
) -> Iterator[None]:
    """Context in which a backward tells of each leaf variable once its gradient is complete.

    Does not concern backward passes that are recorded, by the graph or for a plan.

    Args:
        on_ready: Called with the variable, which has its gradient, while the backward goes on. It
            may take the gradient away, to read it.
        variables: The leaf variables of ChainerX arrays to tell of: an array does not know its own.
        on_late: Called with a variable to whose gradient a pass inside of another one has added.
            The outer one may have told of it before, or will never do so.

    """
    before = watchers.on_ready, watchers.variables, watchers.on_late
    watchers.on_ready, watchers.variables, watchers.on_late = on_ready, variables, on_late
    try:
        yield
    finally:
        watchers.on_ready, watchers.variables, watchers.on_late = before


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
