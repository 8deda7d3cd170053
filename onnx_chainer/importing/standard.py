"""Operators that the standard itself defines by other operators.

They need no row of the table: what the ``onnx`` package says of them is planned like a function of
the file. Some definitions depend on the types of the inputs and are made when the node runs.
"""

from __future__ import annotations

from typing import Any

from onnx import FunctionProto, ModelProto, NodeProto, TypeProto, defs

from .errors import ModelError, naming
from .plan import Body, Node, Plan, Run, Step
from .registry import VALUES, Operator
from .tensors import elem_type_of


def _schema(node: Node) -> Any:
    try:
        return defs.get_schema(node.op_type, node.opset, node.domain)
    except defs.SchemaError:
        return None


def function_of(node: Node) -> FunctionProto | None:
    """The definition of an operator, if it is the same for all types."""
    schema = _schema(node)
    if schema is None or not schema.has_function:
        return None
    version = _version(schema.function_opset_versions, node)
    return FunctionProto.FromString(schema.get_function_with_opset_version(version))


def needs_types(node: Node) -> bool:
    """Whether the definition of the operator depends on types."""
    schema = _schema(node)
    return schema is not None and schema.has_context_dependent_function


def _version(versions: list[int], node: Node) -> int:
    """The newest version of a definition that the model's version allows."""
    fitting = [version for version in versions if version <= node.opset or node.domain]
    return max(fitting) if fitting else min(versions)


class TypedStep(Step):
    """A node whose operator's definition depends on the types of the inputs.

    Args:
        node: The node.
        proto: The node as in the file, with the attributes of the call that it is in.
    """

    def __init__(self, node: Node, proto: NodeProto) -> None:
        super().__init__(node, _DEFINED, {}, {})
        self._proto = proto.SerializeToString()
        self._plans: dict[tuple[int, ...], Plan] = {}

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {'_plans': {}}

    def run(self, run: Run, values: dict[str, Any]) -> None:
        with naming(self.node):
            xs = [values[name] if name else None for name in self.node.inputs]
            types = tuple(0 if x is None else elem_type_of(x.dtype) for x in xs)
            if types not in self._plans:
                self._plans[types] = self._plan(types)
            ys = run_function(self.node, *xs, body=Body(self._plans[types], run, {}))
            values.update((name, y) for name, y in zip(self.node.outputs, ys) if name)
        for name in self.last:
            del values[name]

    def _plan(self, types: tuple[int, ...]) -> Plan:
        from .graph import Planner  # which plans these steps

        schema = _schema(self.node)
        data = schema.get_context_dependent_function_with_opset_version(
            _version(schema.context_dependent_function_opset_versions, self.node),
            self._proto,
            [_tensor_type(each).SerializeToString() for each in types],
        )
        proto = NodeProto.FromString(self._proto)
        return Planner(ModelProto(), None, refuse_weights).function(
            FunctionProto.FromString(data), self.node, {a.name: a for a in proto.attribute}
        )


def refuse_weights(name: str, array: Any, trained: bool) -> str:
    """Definitions of the standard have no initializers."""
    raise ModelError(f'the definition has an initializer {name!r}')


def run_function(node: Node, *inputs: Any, body: Body) -> tuple[Any, ...]:
    """Calls the body of a function; inputs at the end may be missing."""
    return tuple(body(*inputs, *[None] * (body.arity - len(inputs))))


_NONE: frozenset[Any] = frozenset()
_DEFINED = Operator(run_function, VALUES, _NONE, _NONE, True, _NONE, _NONE, (0, float('inf')))


def function_step(node: Node, body: Plan) -> Step:
    """A step that runs the plan of a function."""
    return Step(node, _DEFINED, {}, {'body': body})


def _tensor_type(elem_type: int) -> TypeProto:
    proto = TypeProto()
    if elem_type:
        proto.tensor_type.elem_type = elem_type
    return proto
