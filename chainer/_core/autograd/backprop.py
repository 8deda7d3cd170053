"""Backpropagation from variables: a backward pass gives the leaves their gradients."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import configuration
from chainer._core.autograd import variable_gradient
from chainer._core.autograd.gradients import Gradients, Owners, force_array
from chainer._core.autograd.leaves import LeafCounter, watchers
from chainer._core.autograd.walk import Queue, device_of, walk
from chainer._core.engines import plan_data
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.autograd.variable_node import VariableNode
    from chainer._core.autograd.variable_state import VariableState


def backward_from_variable(
    var: VariableState, retain_grad: bool, enable_double_backprop: bool, loss_scale: float | None
) -> None:
    """Implements :meth:`chainer.Variable.backward`."""
    array = var._array
    is_one = array.size == 1
    if is_one and array.ndim and var.grad is None:
        _warn_of_one_element()
    if isinstance(array, chainerx.ndarray):
        variable_gradient.hide_shown()
        plan_data.with_loss_scale(array.backward, loss_scale)(
            enable_double_backprop=enable_double_backprop,
            loss_scale=loss_scale,
            retain_grad=retain_grad,
        )
        return
    has_grad = var._grad is not None or var._fresh_grad
    node = var._node
    is_leaf = node is None or node._creator_node is None
    if is_leaf and (has_grad or not is_one):
        return
    if not has_grad and not is_one:
        raise ValueError(
            f'backward() of a variable of shape {var.shape} needs a gradient: set '
            'variable.grad first, or reduce the variable to a scalar (chainer.functions.sum)'
        )
    if not has_grad or loss_scale is not None:
        with device_of(array):
            var._set_grad(scaled_root(array, var._grad, loss_scale))
    if not is_leaf:
        grad = var.grad_var if enable_double_backprop else var._grad
        BackwardPass(retain_grad, enable_double_backprop, loss_scale).run([(node, grad)])


def _warn_of_one_element() -> None:
    warnings.warn(
        'Treating a variable with only one element as a scalar in Variable.backward is '
        'deprecated: a scalar variable has no dimensions. Apply '
        'chainer.functions.squeeze to it.',
        DeprecationWarning,
        stacklevel=5,
    )


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
        self._grads = Gradients(load=True, as_variables=double)
        self._own = keep if double else Owners().own
        self._leaves: dict[VariableNode, None] = {}

    def run(self, roots: Iterable[tuple[VariableNode, Any]]) -> None:
        """Runs the pass from pairs of a node and its gradient."""
        queue = self._start(roots)
        used = None
        on_ready = watchers.on_ready
        if on_ready is not None and not self._double:

            def on_complete(node: VariableNode) -> None:
                # A root that is a leaf waits for the end of the walk.
                leaf = None if node in self._leaves else self._finish(node)
                if leaf is not None:
                    on_ready(leaf)

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
            if node._creator_node is None:
                self._leaves[node] = None
            else:
                queue.push(node._creator_node)
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
        grad = self._own(grad)
        leaf = node._variable()
        if leaf is not None:
            leaf._keep_grad(grad)
            leaf._loss_scale = self._loss_scale
        return leaf


def store(node: VariableNode, grad: Any) -> None:
    """Gives a gradient to the variable of a node, if it still exists."""
    var = node._variable()
    if var is not None:
        var._keep_grad(grad)


def keep(grad: Any) -> Any:
    """Returns a gradient as it is, where :meth:`Owners.own` is not needed."""
    return grad


def unchain_backward(node: VariableNode) -> None:
    """Cuts every edge from ``node`` back to the leaves."""
    stack = [node]
    seen: set[BaseFunction] = set()
    while stack:
        node = stack.pop()
        func = node._creator_node
        if func is None or func in seen:
            continue
        seen.add(func)
        stack.extend(func.inputs)
        func.unchain()
