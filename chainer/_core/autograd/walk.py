"""The walk from functions of a graph back to the leaves.

Gradients are plain arrays, or variables with double backprop, which also records the walk. In both
cases the tape of each function computes them (see :mod:`chainer._core.autograd.tape`).
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy

from chainer import configuration
from chainer._core.autograd.gradient_errors import refuse_gradient
from chainer._core.autograd.gradients import find_nan
from chainer._core.autograd.tape import raw, watched_grad
from chainer._core.autograd.thread_hooks import get_hooks, hooks_of
from chainer._core.devices.array_context import using_device_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.autograd.gradients import Gradients
    from chainer._core.autograd.thread_hooks import Hook
    from chainer._core.autograd.variable_node import VariableNode

_ndarray = numpy.ndarray
_config = configuration.config


class Queue:
    """Functions still to be differentiated, last made first."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, BaseFunction]] = []
        self._seen: set[BaseFunction] = set()

    def push(self, func: BaseFunction | None) -> None:
        """Adds a function, unless it was in the queue before."""
        if func is not None and func not in self._seen:
            self._seen.add(func)
            # The count breaks ties, so that functions are never compared.
            heapq.heappush(self._heap, (-func.rank, len(self._seen), func))

    def waiting(self) -> list[BaseFunction]:
        """Returns the functions in no particular order."""
        return [entry[2] for entry in self._heap]

    def __iter__(self) -> Iterator[BaseFunction]:
        while self._heap:
            yield heapq.heappop(self._heap)[2]


def walk(
    queue: Queue,
    grads: Gradients,
    double: bool,
    store: Callable[[VariableNode, Any], None],
    allowed: set[VariableNode] | None = None,
    keep: Collection[VariableNode] = (),
    used: Callable[[VariableNode], None] | None = None,
) -> dict[VariableNode, None]:
    """Differentiates the functions of ``queue`` and those behind them.

    Args:
        store: Called with the node and gradient of every processed output.
        allowed: Nodes that the walk may visit (``None``: all).
        keep: Nodes whose gradients stay in ``grads``.
        used: Called with a leaf after each function that uses it.

    Returns:
        Visited leaf nodes; their gradients are in ``grads``.

    """
    hooks = get_hooks()
    leaves: dict[VariableNode, None] = {}
    for func in queue:
        outputs = []
        gys = []
        some_gy = None
        for ref in func.outputs:
            y = ref()
            gy = None
            # A node without a creator is cut off: it is a leaf now.
            if y is not None and y._creator_node is not None:
                gy = grads.peek(y) if y in keep else grads.pop(y)
                if gy is not None:
                    some_gy = gy
                outputs.append((y, gy))
            gys.append(gy)
        inputs = func.inputs
        targets = tuple(
            [
                i
                for i, x in enumerate(inputs)
                if x.requires_grad and (allowed is None or x in allowed)
            ]
        )
        if not targets:
            continue
        if some_gy is not None:
            tape = func._tape
            # Kernels of CuPy run on the current device, whatever that of their arrays is.
            is_free = isinstance(some_gy, _ndarray) or not tape.needs_device
            if is_free and not hooks and func._extras is None:
                # The usual case costs no further call.
                gxs = tape.grad(func, targets, tuple(gys), double, grads)
                _accept(func, targets, gxs, grads)
                if _config.debug:
                    _check_nan(func, gxs)
            else:
                with using_device_of(raw(some_gy)):
                    _differentiate(func, targets, tuple(gys), grads, double)
        for y, gy in outputs:
            store(y, gy)
        for index in targets:
            node = inputs[index]
            if node._creator_node is None:
                leaves[node] = None
                if used is not None:
                    used(node)
            else:
                queue.push(node._creator_node)
    return leaves


def _differentiate(
    func: BaseFunction,
    targets: tuple[int, ...],
    gys: tuple[Any, ...],
    grads: Gradients,
    double: bool,
) -> None:
    """Differentiates a function of any arrays, with its hooks and the checks of debug mode."""
    hooks = hooks_of(func)
    extras = func._extras
    if extras is not None and extras.contents is not None:
        extras.contents.check(func)
    if hooks:
        in_data = tuple([x._data for x in func.inputs])
        out_grad = tuple([raw(g) for g in gys])
        for hook in hooks:
            hook.backward_preprocess(func, in_data, out_grad)
    if hooks and not double:
        gxs = watched_grad(func, targets, gys, grads)
    else:
        gxs = func._tape.grad(func, targets, gys, double, grads)
    _accept(func, targets, gxs, grads, hooks)
    for hook in hooks:
        hook.backward_postprocess(func, in_data, out_grad)
    if _config.debug:
        _check_nan(func, gxs)


def _accept(
    func: BaseFunction,
    targets: tuple[int, ...],
    gxs: Sequence[Any],
    grads: Gradients,
    hooks: Sequence[Hook] = (),
) -> None:
    """Adds the gradients of the inputs of a function to ``grads``."""
    inputs = func.inputs
    for index, grad in zip(targets, gxs):
        if grad is not None:
            node = inputs[index]
            try:
                fits = grad.shape == node.shape and grad.dtype == node.dtype
            except AttributeError:
                fits = False
            if not fits:
                refuse_gradient(func, index, grad, node.shape, node.dtype)
            grads.add(node, grad)
            if hooks and not func.lazy_grad_sum:
                grads.sum_watched(node)


def _check_nan(func: BaseFunction, gxs: Iterable[Any]) -> None:
    if find_nan([raw(g) for g in gxs if g is not None]):
        raise RuntimeError(f'NaN is detected on backward computation of {func.label}')
