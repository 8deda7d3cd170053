"""Gradients of some variables by others: :func:`chainer.grad`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import configuration
from chainer._core.autograd.backprop import as_is, scaled_root
from chainer._core.autograd.base_variable import BaseVariable, from_array
from chainer._core.autograd.batched_array import mapping_of
from chainer._core.autograd.gradients import Gradients, Owners
from chainer._core.autograd.tape import raw
from chainer._core.autograd.variable_gradient import store
from chainer._core.autograd.walk import Queue, walk
from chainer._core.devices.array_context import using_device_of
from chainer._core.engines import plan_data
from chainer._core.names.set_module import set_module

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.autograd.batched_array import Mapping
    from chainer._core.autograd.variable_node import VariableNode
    from chainer._core.variables.variable import Variable


@set_module('chainer.function_node')
def grad(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None = None,
    grad_inputs: Sequence[Variable | None] | None = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
) -> list[Variable | None]:
    """Computes the gradients of ``outputs`` with respect to ``inputs`` only.

    Unlike :meth:`chainer.Variable.backward` this differentiates only the functions on a path
    between inputs and outputs, and by default changes no variable.

    Args:
        outputs (tuple or list of Variable): Variables to differentiate.
        inputs (tuple or list of Variable): Variables to differentiate by.
        grad_outputs (sequence of Variable or None): Gradients of the outputs, of their shapes
            and dtypes (default: ones).
        grad_inputs (sequence of Variable or None): Gradients to add to the results.
        set_grad (bool): Whether to store results in ``grad_var`` of the inputs, too.
        retain_grad (bool): Whether to store gradients in intermediate variables, too.
        enable_double_backprop (bool): Whether results can be differentiated again.
        loss_scale (float or None): Factor of the initial gradients.

    Returns:
        list of Variable or None: One gradient per input, ``None`` where no path leads to it.

    Raises:
        TypeError: If an argument is not a sequence of variables.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> gx, = chainer.grad([x * x * x], [x], enable_double_backprop=True)
        >>> gx  # 3 x^2
        variable([ 3., 12.])
        >>> chainer.grad([gx], [x])  # 6 x
        [variable([ 6., 12.])]
        >>> x.grad is None
        True

    """
    request = _Request(
        outputs,
        inputs,
        grad_outputs,
        grad_inputs,
        set_grad,
        retain_grad,
        enable_double_backprop,
        loss_scale,
    )
    request.check()
    mapping = mapping_of([v.raw_array for v in (*outputs, *inputs)])
    if mapping is not None:
        return request.run_on_samples(mapping)
    if any(isinstance(v.raw_array, chainerx.ndarray) for v in (*outputs, *inputs)):
        return request.run_on_chainerx()
    return request.run()


@dataclasses.dataclass(frozen=True)
class _Request:
    """Arguments of :func:`grad`."""

    outputs: Sequence[Variable]
    inputs: Sequence[Variable]
    grad_outputs: Sequence[Variable | None] | None
    grad_inputs: Sequence[Variable | None] | None
    set_grad: bool
    retain_grad: bool
    double: bool
    loss_scale: float | None

    def check(self) -> None:
        """Raises an error unless there are variables, and as many as there must be."""
        _check_sequence('outputs', self.outputs, BaseVariable)
        _check_sequence('inputs', self.inputs, BaseVariable)
        for name, values, others in (
            ('grad_outputs', self.grad_outputs, self.outputs),
            ('grad_inputs', self.grad_inputs, self.inputs),
        ):
            if values is not None:
                _check_sequence(name, values, (BaseVariable, type(None)))
                if len(values) != len(others):
                    raise ValueError(f'{name} has {len(values)} elements, expected {len(others)}')

    def run(self) -> list[Variable | None]:
        """Computes the gradients on NumPy or CuPy."""
        double = self.double
        allowed = _nodes_between(self.outputs, self.inputs)
        grads = Gradients(load=False, as_variables=double)
        own = as_is if double else Owners().own
        queue = Queue()
        input_nodes = {x.node for x in self.inputs}
        with configuration.using_config('enable_backprop', bool(double)):
            for x, gx in zip(self.inputs, self.grad_inputs or ()):
                if gx is not None:
                    grads.add(x.node, gx if double else gx.raw_array)
            for y, gy in zip(self.outputs, self.grad_outputs or (None,) * len(self.outputs)):
                grads.add(y.node, self._root(y, gy, own))
                if y.node in allowed:
                    queue.push(y.node.creator_node)
            on_output = store if self.retain_grad else _ignore
            walk(queue, grads, double, on_output, allowed, input_nodes)
            return self._results(grads, own)

    def _root(self, y: Variable, gy: Any, own: Any) -> Any:
        """Gradient of an output, from which the walk starts."""
        if gy is not None and self.double:
            return gy if self.loss_scale is None else gy * self.loss_scale
        with using_device_of(y.raw_array):
            array = scaled_root(y.raw_array, raw(gy), self.loss_scale)
        own(array)
        return from_array(array, True) if self.double else array

    def _results(self, grads: Gradients, own: Any) -> list[Variable | None]:
        results = []
        for x in self.inputs:
            gx = grads.peek(x.node) if x.node in grads else None
            if gx is not None and not self.double:
                gx = from_array(own(gx), True)
            if self.set_grad and gx is not None:
                x.grad_var = gx
            results.append(gx)
        return results

    def run_on_samples(self, mapping: Mapping) -> list[Variable | None]:
        """Lets :func:`chainer.vmap` compute the gradients of all samples."""
        for name in ('grad_inputs', 'set_grad', 'retain_grad'):
            if getattr(self, name):
                raise ValueError(f'{name} is not supported inside of chainer.vmap')
        return mapping.grad(
            self.outputs,
            self.inputs,
            grad_outputs=self.grad_outputs,
            enable_double_backprop=self.double,
            loss_scale=self.loss_scale,
        )

    def run_on_chainerx(self) -> list[Variable | None]:
        """Lets ChainerX compute the gradients."""
        ys: list[Any] = [y.raw_array for y in self.outputs]
        xs: list[Any] = [x.raw_array for x in self.inputs]
        gxs = plan_data.backward(chainerx.grad)(
            ys,
            xs,
            enable_double_backprop=self.double,
            set_grad=self.set_grad,
            retain_grad=self.retain_grad,
            grad_outputs=[None if gy is None else gy.raw_array for gy in self.grad_outputs or ()],
            loss_scale=self.loss_scale,
        )
        results: list[Variable | None] = [
            None if gx is None else from_array(gx, gx.is_backprop_required()) for gx in gxs
        ]
        if self.grad_inputs is None:
            return results
        results = [
            a if b is None else b if a is None else a + b for a, b in zip(results, self.grad_inputs)
        ]
        if self.set_grad:
            for x, gx in zip(self.inputs, results):
                if gx is not None:
                    x.grad_var = gx
        return results


def _check_sequence(name: str, values: Any, types: type | tuple[type, ...]) -> None:
    if not isinstance(values, (tuple, list)):
        raise TypeError(f'{name} must be a tuple or a list, not {type(values)}')
    for value in values:
        if not isinstance(value, types):
            raise TypeError(f'{name} must contain variables, got {type(value)}')


def _ignore(node: VariableNode, grad: Any) -> None:
    pass


def _nodes_between(outputs: Iterable[Variable], inputs: Iterable[Variable]) -> set[VariableNode]:
    """Returns the nodes on a path from an input to an output."""
    found = {x.node for x in inputs}
    # A function that uses an input, even indirectly, has at least its rank.
    lowest = min([x.rank for x in found], default=0)
    funcs: list[BaseFunction] = []
    seen: set[BaseFunction] = set()
    stack = [y.node.creator_node for y in outputs]
    while stack:
        func = stack.pop()
        if func is None or func.rank < lowest or func in seen:
            continue
        seen.add(func)
        funcs.append(func)
        stack.extend([x.creator_node for x in func.inputs if x.requires_grad])
    # A function has a larger rank than its predecessors.
    funcs.sort(key=lambda f: f.rank)
    for func in funcs:
        if any(x in found for x in func.inputs if x.requires_grad):
            found.update(y for y in (ref() for ref in func.outputs) if y is not None)
    return found
