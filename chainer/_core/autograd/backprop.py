"""Backpropagation from variables: a backward pass gives the leaves their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import configuration
from chainer._core.autograd.gradients import Gradients, Owners, force_array
from chainer._core.autograd.leaves import LeafCounter, Pass, watchers
from chainer._core.autograd.variable_gradient import store
from chainer._core.autograd.walk import Queue, walk
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.autograd.variable_node import VariableNode
    from chainer._core.autograd.variable_state import VariableState


def scaled_root(array: Any, grad: Any, loss_scale: float | None) -> Any:
    """Returns the gradient that a walk starts from: ones by default, times the loss scale."""
    if grad is None:
        grad = cuda.get_array_module(array).ones_like(array)
        if loss_scale is not None:
            grad *= loss_scale
    elif loss_scale is not None:
        grad = force_array(grad * array.dtype.type(loss_scale))
    return grad


class BackwardPass:
    """Walk from some nodes to the leaves, whose variables get the gradients.

    Args:
        retain_grad: Whether other variables get their gradients, too.
        double: Whether to record the pass, with variables for gradients.
        loss_scale: Factor in the gradients, which the leaves remember.

    """

    def __init__(self, retain_grad: bool, double: bool, loss_scale: float | None) -> None:
        self._retain_grad = retain_grad
        self._double = double
        self._loss_scale = loss_scale
        passes = watchers.passes
        around = [p.gradients for p in passes] if passes else ()
        self._grads = Gradients(load=True, as_variables=double, around=around)
        self._owners = Owners()
        self._own = as_is if double else self._owners.own
        self._leaves: dict[VariableNode, None] = {}

    def run(self, roots: Iterable[tuple[VariableNode, Any]]) -> None:
        """Runs the pass from pairs of a node and its gradient."""
        passes = watchers.passes
        on_ready = None if passes or self._double else watchers.on_ready
        passes.append(Pass(self._grads, self._loss_scale))
        try:
            self._run(roots, on_ready)
        finally:
            passes.pop()

    def _run(
        self, roots: Iterable[tuple[VariableNode, Any]], on_ready: Callable[[Any], None] | None
    ) -> None:
        queue = self._start(roots)
        used = None
        if on_ready is not None:

            def on_complete(node: VariableNode) -> None:
                # A root that is a leaf waits for the end of the walk.
                leaf = None if node in self._leaves else self._finish(node)
                if leaf is not None:
                    grad = leaf._grad
                    on_ready(leaf)
                    if leaf._grad is None:  # taken away
                        self._owners.disown(grad)

            used = LeafCounter(queue.waiting(), on_complete)
        with configuration.using_config('enable_backprop', bool(self._double)):
            self._leaves.update(walk(queue, self._grads, self._double, self._store, used=used))
        for node in self._leaves:
            self._finish(node)

    def _start(self, roots: Iterable[tuple[VariableNode, Any]]) -> Queue:
        queue = Queue()
        for node, grad in roots:
            if not self._retain_grad:
                self._own(grad)
            self._grads.add(node, grad)
            if node.creator_node is None:
                self._leaves[node] = None
            else:
                queue.push(node.creator_node)
        return queue

    def _store(self, node: VariableNode, grad: Any) -> None:
        if grad is not None:
            grad = self._own(grad) if self._retain_grad else None
        store(node, grad)

    def _finish(self, node: VariableNode) -> VariableState | None:
        """Gives a leaf its complete gradient; returns its variable if there are both."""
        grad = self._grads.pop(node) if node in self._grads else None
        if grad is None:
            return None
        # The pass around this one has begun to add up the gradient, and would replace this one.
        if self._grads.around:
            waiting = self._grads.waiting(node)
            if waiting is not None:
                waiting.add(node, grad)
                return None
        grad = self._own(grad)
        leaf = store(node, grad)
        if leaf is not None:
            leaf._loss_scale = self._loss_scale
            if watchers.on_late is not None and len(watchers.passes) > 1:
                watchers.on_late(leaf)
        return leaf


def as_is(grad: Any) -> Any:
    """Returns a gradient as it is, where :meth:`Owners.own` is not needed."""
    return grad


def unchain_backward(node: VariableNode) -> None:
    """Cuts every edge from ``node`` back to the leaves."""
    stack = [node]
    seen: set[BaseFunction] = set()
    while stack:
        node = stack.pop()
        func = node.creator_node
        if func is None or func in seen:
            continue
        seen.add(func)
        stack.extend(func.inputs)
        func.unchain()
