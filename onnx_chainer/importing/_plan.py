"""Checked graphs, ready to run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from chainer import backend

from . import _values as v
from .errors import ModelError, naming
from .registry import ARRAYS, HOST, VALUES, Operator, find

_WIDENED = np.dtype(ml_dtypes.bfloat16)


class Node:
    """What an operator's function knows of its node.

    Attributes:
        domain: Domain of the operator; the standard's is empty.
        op_type: Name of the operator.
        opset: Version of the domain that the model asks for.
        name: Name of the node, which may be empty.
        inputs: Names of the inputs, empty where one is missing.
        outputs: Names of the outputs, empty where one is not wanted.
    """

    def __init__(
        self,
        domain: str,
        op_type: str,
        opset: int,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> None:
        self.domain = domain
        self.op_type = op_type
        self.opset = opset
        self.name = name
        self.inputs: tuple[str, ...] = tuple(inputs)
        self.outputs: tuple[str, ...] = tuple(outputs)

    def wants(self, i: int) -> bool:
        """Whether something uses output ``i``."""
        return i < len(self.outputs) and self.outputs[i] != ''

    def has(self, i: int | None) -> bool:
        """Whether it has input ``i``."""
        return i is not None and i < len(self.inputs) and self.inputs[i] != ''

    def __str__(self) -> str:
        kind = f'{self.domain}.{self.op_type}' if self.domain else self.op_type
        if self.name:
            return f'node {self.name!r} ({kind})'
        return f'node ({kind}) that gives {", ".join(map(repr, filter(None, self.outputs)))}'


class Step:
    """A node with its operator.

    Attributes:
        node: The node.
        operator: The row of the operator's table.
        attributes: Keyword arguments for its function.
        bodies: Those among them that are graphs.
        fill: Values by the number of the input that they are if the node does not have it.
        last: Names of values that no later step uses.
        is_defined: Whether the standard defines the operator by others, whose nodes run.
    """

    is_defined = False

    def __init__(
        self,
        node: Node,
        operator: Operator,
        attributes: dict[str, Any],
        bodies: dict[str, Any],
        fill: dict[int, Any] | None = None,
    ) -> None:
        self.node = node
        self.operator = operator
        self.attributes = attributes
        self.bodies = bodies
        self._inputs = (*node.inputs, *[''] * (operator.arity - len(node.inputs)))
        self.fill = {i: x for i, x in (fill or {}).items() if not node.has(i)}
        self.last: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        # Functions of the table are looked up again: some have no name to be pickled by.
        state = self.__dict__.copy()
        if find(self.node.domain, self.node.op_type) is self.operator:
            state['operator'] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.operator is None:
            self.operator = find(self.node.domain, self.node.op_type)

    def captured(self) -> set[str]:
        """Names that the node's graphs take from outside of them."""
        return {name for body in self.bodies.values() for name in body.captured}

    def run(self, run: Run, values: dict[str, Any]) -> None:
        """Computes the outputs of the node into ``values``."""
        node = self.node
        with naming(node, self.is_defined):
            ys = self.compute(run, values)
            if not isinstance(ys, tuple):
                ys = (ys,)
            if len(ys) < len(node.outputs):
                raise ModelError(f'it has {len(ys)} outputs, and the file names {node.outputs}')
            for name, y in zip(node.outputs, ys):
                if name:
                    values[name] = y
        for name in self.last:
            del values[name]

    def compute(self, run: Run, values: dict[str, Any]) -> Any:
        """Gives the outputs of the node, a tuple if they are several."""
        inputs = [values[name] if name else None for name in self._inputs]
        if self.fill:
            inputs = [self.fill.get(i, x) for i, x in enumerate(inputs)]
        attributes = self.attributes
        if self.bodies:
            attributes = attributes | {
                name: Body(body, run, values) for name, body in self.bodies.items()
            }
        return _call(self.operator, self.node, run.arguments(self.operator, inputs), attributes)


def _call(operator: Operator, node: Node, inputs: list[Any], attributes: dict[str, Any]) -> Any:
    """Calls an operator's function with what it takes."""
    function = operator.function
    if operator.takes_node:
        function = functools.partial(function, node)
    if operator.takes == VALUES:
        return v.as_arrays(function(*inputs, **attributes))
    if operator.takes in (ARRAYS, HOST):
        some = [x for x in inputs if x is not None and not isinstance(x, list)]
        if len(some) == len(inputs):
            return v.calling_arrays(lambda *xs: function(*xs, **attributes), *some)

        def with_missing(*xs: Any) -> Any:
            rest = iter(xs)
            filled = [x if x is None or isinstance(x, list) else next(rest) for x in inputs]
            return function(*filled, **attributes)

        return v.calling_arrays(with_missing, *some)
    if not operator.any_dtype and any(
        x is not None and not isinstance(x, list) and x.dtype == _WIDENED for x in inputs
    ):
        return _widened(function, inputs, attributes)
    return v.as_arrays(function(*inputs, **attributes))


def _widened(function: Callable[..., Any], inputs: list[Any], attributes: dict[str, Any]) -> Any:
    """Computes in float32 what has the dtype bfloat16, and rounds the results."""
    wide = [
        v.array_of(x).astype(np.float32) if x is not None and x.dtype == _WIDENED else x
        for x in inputs
    ]
    ys = function(*wide, **attributes)
    if ys is NotImplemented:
        return ys
    ys = ys if isinstance(ys, tuple) else (ys,)
    return tuple(
        v.array_of(y).astype(_WIDENED) if y is not None and y.dtype == np.float32 else y
        for y in v.as_arrays(ys)
    )


class Run:
    """One run of a model: its weights and its device."""

    def __init__(self, weights: Callable[[str], Any], device: Any) -> None:
        self.weights = weights
        self.device = device
        self.on_cpu = isinstance(device, backend.CpuDevice)

    def arguments(self, operator: Operator, inputs: list[Any]) -> list[Any]:
        """Brings the inputs of an operator to where it computes.

        It computes on the device if one of its inputs is there, so that shapes and indices, which
        come from the host, stay there until they meet an array of the device.
        """
        if operator.takes == VALUES:
            return inputs
        if operator.takes == HOST:
            return [v.on_host(x) for x in inputs]
        host = operator.host
        if host:
            inputs = [v.on_host(x) if i in host else x for i, x in enumerate(inputs)]
        if self.on_cpu:
            return inputs
        movable = [x for i, x in enumerate(inputs) if i not in host and x is not None]
        if all(map(v.is_on_host, movable)):
            return inputs
        if all(v.fits(x, self.device) for x in movable if not isinstance(x, list)):
            return [x if i in host else v.send(x, self.device) for i, x in enumerate(inputs)]
        return [v.on_host(x) for x in inputs]


class Plan:
    """A graph whose nodes were checked, in the order of the file.

    Attributes:
        name: Name of the graph.
        inputs: Names of its inputs.
        outputs: Names of its outputs.
        steps: Its nodes.
        weights: For the name of each initializer, the name that :attr:`Run.weights` knows.
        captured: Names that it takes from the graph around it.
        constants: Values of nodes that take nothing, which are not steps.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        steps: Sequence[Step],
        weights: dict[str, str],
        captured: set[str],
        constants: dict[str, Any],
    ) -> None:
        self.name = name
        self.inputs: tuple[str, ...] = tuple(inputs)
        self.outputs: tuple[str, ...] = tuple(outputs)
        self.steps = tuple(steps)
        self.weights = weights
        self.captured = frozenset(captured)
        self.constants = constants
        self._free_early()

    def _free_early(self) -> None:
        """Notes after which step each value that a step gives is not used any more."""
        seen = set(self.outputs)
        for step in reversed(self.steps):
            here = {*step.node.inputs, *step.captured(), *step.node.outputs} - {''}
            step.last = tuple(sorted(here - seen - self.captured))
            seen |= here

    def run(self, run: Run, values: dict[str, Any]) -> list[Any]:
        """Computes the outputs; ``values`` are the inputs and what the graph captures."""
        for name, key in self.weights.items():
            if name not in values:
                values[name] = run.weights(key)
        values.update(self.constants)
        for step in self.steps:
            step.run(run, values)
        return [values[name] if name else None for name in self.outputs]


class Body:
    """The graph of a branch or a loop, as a function."""

    def __init__(self, plan: Plan, run: Run, outer: dict[str, Any]) -> None:
        self._plan = plan
        self._run = run
        self._outer = {name: outer[name] for name in plan.captured}

    @property
    def arity(self) -> int:
        """Number of inputs."""
        return len(self._plan.inputs)

    def __call__(self, *inputs: Any) -> list[Any]:
        plan = self._plan
        if len(inputs) != len(plan.inputs):
            raise ModelError(
                f'graph {plan.name!r} takes {len(plan.inputs)} inputs and gets {len(inputs)}'
            )
        return plan.run(self._run, self._outer | dict(zip(plan.inputs, inputs)))
