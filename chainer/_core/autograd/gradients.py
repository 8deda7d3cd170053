"""Accumulation of gradients, and which of them may change in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd import variable_gradient
from chainer._core.autograd.thread_hooks import thread_hooks
from chainer._core.names.namespace import F
from chainer._core.settings.half import FLOAT_KINDS
from chainer.backends import cuda

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer._core.autograd.variable_node import VariableNode

_chx_ndarray = chainerx.ndarray


class Gradients:
    """Gradients known so far, by variable node.

    With ``load``, a newly met leaf starts from the existing gradient of its variable.
    Contributions stay in a list until the gradient is needed, so functions with
    ``lazy_grad_sum`` add all of them at once.

    Args:
        load: See above.
        as_variables: Whether the gradients are variables.
        around: Gradients of the passes in which this one runs.

    """

    def __init__(self, load: bool, as_variables: bool, around: Iterable[Gradients] = ()) -> None:
        self._grads: dict[VariableNode, list[Any]] = {}
        self._load = load
        self._as_variables = as_variables
        #: Those of the kind of this one.
        self.around = around and [g for g in around if g._as_variables == as_variables]

    def __contains__(self, node: object) -> bool:
        return node in self._grads

    def _first(self, node: VariableNode) -> list[Any]:
        grads = []
        is_leaf = self._load and node._creator_node is None
        if is_leaf and not (self.around and self.waiting(node) is not None):
            grad = self._of_variable(node)
            if grad is not None:
                grads.append(grad)
        self._grads[node] = grads
        return grads

    def waiting(self, node: VariableNode) -> Gradients | None:
        """Returns the gradients of a pass around this one that will give a leaf its gradient."""
        for grads in self.around:
            if node in grads:
                return grads
        return None

    def set(self, node: VariableNode, grad: Any) -> None:
        self._grads[node] = [] if grad is None else [grad]

    def add(self, node: VariableNode, grad: Any) -> None:
        grads = self._grads.get(node)
        if grads is None:
            grads = self._first(node)
        grads.append(grad)

    def sum_watched(self, node: VariableNode) -> None:
        """Adds up the gradients of a node by functions, which hooks see."""
        grads = self._grads[node]
        if len(grads) > 1:
            total = F.add(*grads)
            grads[:] = [total if self._as_variables else total.raw_array]

    def peek(self, node: VariableNode) -> Any:
        grads = self._grads.get(node)
        if grads is None:
            grads = self._first(node)
        return grads[0] if len(grads) == 1 else self._sum(grads)

    def pop(self, node: VariableNode) -> Any:
        """Takes the gradient; if there is none yet, that of the variable."""
        grads = self._grads.pop(node, None)
        if grads is None:
            return self._of_variable(node) if self._load else None
        return grads[0] if len(grads) == 1 else self._sum(grads)

    def _of_variable(self, node: VariableNode) -> Any:
        var = node._variable()
        if var is None:
            return None
        if var._fresh_grad:
            variable_gradient.clear_untouched(var)
            if var._grad is None and thread_hooks.hooks:
                # Hooks see how the first gradient is added to the one before.
                with backend.using_device(var.device):
                    var._set_grad(var.xp.zeros_like(var.raw_array))
        return var.grad_var if self._as_variables else var.grad

    def _sum(self, grads: list[Any]) -> Any:
        if not grads:
            return None
        grads[:] = [_add(grads, self._as_variables)]
        return grads[0]


def _add(grads: list[Any], as_variables: bool) -> Any:
    if as_variables:
        if len(grads) > 2:
            return F.add(*grads)
        return grads[0] + grads[1]
    if isinstance(grads[0], numpy.ndarray):
        return force_array(_total(grads))
    # The walk may be on another GPU: that of a function behind this variable.
    with cuda.get_device_from_array(grads[0]):
        return _total(grads)


def _total(grads: list[Any]) -> Any:
    total = grads[0] + grads[1]
    for grad in grads[2:]:
        total += grad  # nobody else has it
    return total


def force_array(result: Any) -> Any:
    # Sums and products of 0-d NumPy arrays are scalars.
    return numpy.asarray(result) if isinstance(result, numpy.generic) else result


def find_nan(arrays: Iterable[Any]) -> bool:
    for array in arrays:
        if array is not None and array.dtype.kind in FLOAT_KINDS:
            if isinstance(array, _chx_ndarray):
                array = array.as_grad_stopped()
                if bool((array != array).any()):
                    return True
            else:
                with cuda.get_device_from_array(array):
                    if bool(cuda.get_array_module(array).isnan(array).any()):
                        return True
    return False


def _copy(grad: Any) -> Any:
    # CuPy copies to the current device.
    with cuda.get_device_from_array(grad):
        return grad.copy()


class Owners:
    """Makes the gradients that users get safe to change in place, as optimizer hooks do.

    Functions may return views of the given gradients: repeated ones, or the same one for several
    inputs.
    """

    def __init__(self) -> None:
        self._grads: dict[int, list[Any]] = {}

    def own(self, grad: Any) -> Any:
        """Returns the array, or a copy if it repeats its elements or shares memory."""
        base = grad.base
        if base is None:
            base = grad
        elif 0 in grad.strides:
            return _copy(grad)
        others = self._grads.get(id(base))
        if others is None:
            self._grads[id(base)] = [grad]
            return grad
        xp = cuda.get_array_module(grad)
        if any([xp.may_share_memory(grad, other) for other in others]):
            return _copy(grad)
        others.append(grad)
        return grad

    def disown(self, grad: Any) -> None:
        """Forgets an array that nobody will change in place, so that its memory can go."""
        key = id(grad if grad.base is None else grad.base)
        self._grads[key] = [other for other in self._grads.get(key, []) if other is not grad]
        if not self._grads[key]:
            del self._grads[key]
