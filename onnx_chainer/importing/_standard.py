"""Operators that the standard itself defines by other operators.

They need no row of the table: what the ``onnx`` package says of them is planned like a function of
the file. Some definitions depend on the types of the inputs and are made when the node runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto, defs, helper

from ._plan import Body, Node, Plan, Run, Step
from ._tensors import elem_type_of
from .registry import VALUES, Operator


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
    data = schema.get_function_with_opset_version(version)
    return _completed(FunctionProto.FromString(data), schema, node)


def needs_types(node: Node) -> bool:
    """Whether the definition of the operator depends on types."""
    schema = _schema(node)
    return schema is not None and schema.has_context_dependent_function


def _version(versions: list[int], node: Node) -> int:
    """The newest version of a definition that the model's version allows."""
    fitting = [version for version in versions if version <= node.opset or node.domain]
    return max(fitting) if fitting else min(versions)


def _completed(function: FunctionProto, schema: Any, node: Node) -> FunctionProto:
    """Adds what the schema says to a definition, some of which lack it."""
    if not function.input:
        function.input.extend(each.name for each in schema.inputs)
    if not function.output:
        function.output.extend(each.name for each in schema.outputs)
    if not any(each.domain in ('', 'ai.onnx') for each in function.opset_import):
        version = defs.onnx_opset_version() if node.domain else node.opset
        function.opset_import.append(helper.make_opsetid('', version))
    known = {*function.attribute, *(each.name for each in function.attribute_proto)}
    for name, attribute in schema.attributes.items():
        if attribute.default_value.name:
            function.attribute_proto.append(attribute.default_value)
        elif name not in known:
            function.attribute.append(name)
    return function


MakePlan = Callable[[FunctionProto, Node, dict[str, AttributeProto]], Plan]
# The element type and the number of dimensions of each input.
_Types = tuple[tuple[int, int] | None, ...]


class TypedStep(Step):
    """A node whose operator's definition depends on the types of the inputs.

    Args:
        node: The node.
        proto: The node as in the file, with the attributes of the call that it is in.
        make_plan: Plans a definition for the node and its attributes.
        operator: A row whose function gives ``NotImplemented`` where the definition has to run.
        attributes: Keyword arguments for it.
    """

    is_defined = True

    def __init__(
        self,
        node: Node,
        proto: NodeProto,
        make_plan: MakePlan,
        operator: Operator | None = None,
        attributes: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(node, operator or _DEFINED, attributes or {}, {})
        self._make_plan = make_plan
        self._proto = proto.SerializeToString()
        self._plans: dict[_Types, Plan] = {}

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {'_plans': {}}

    def compute(self, run: Run, values: dict[str, Any]) -> Any:
        """Gives the outputs of the node."""
        if self.operator.partial:
            ys = super().compute(run, values)
            if ys is not NotImplemented:
                return ys
        xs = [values[name] if name else None for name in self.node.inputs]
        types = tuple(None if x is None else (elem_type_of(x.dtype), x.ndim) for x in xs)
        if types not in self._plans:
            self._plans[types] = self._plan(types)
        return run_function(self.node, *xs, body=Body(self._plans[types], run, {}))

    def _plan(self, types: _Types) -> Plan:
        schema = _schema(self.node)
        data = schema.get_context_dependent_function_with_opset_version(
            _version(schema.context_dependent_function_opset_versions, self.node),
            self._proto,
            [_tensor_type(each).SerializeToString() for each in types],
        )
        proto = NodeProto.FromString(self._proto)
        function = _completed(FunctionProto.FromString(data), schema, self.node)
        return self._make_plan(function, self.node, {a.name: a for a in proto.attribute})


def run_function(node: Node, *inputs: Any, body: Body) -> tuple[Any, ...]:
    """Calls the body of a function; inputs at the end may be missing."""
    return tuple(body(*inputs, *[None] * (body.arity - len(inputs))))


_DEFINED = Operator(run_function, VALUES, any_dtype=True)


def function_step(node: Node, body: Plan, is_defined: bool = False) -> Step:
    """A step that runs the plan of a function, of the file or, if it ``is_defined``, of ONNX."""
    step = Step(node, _DEFINED, {}, {'body': body})
    step.is_defined = is_defined
    return step


def _tensor_type(of: tuple[int, int] | None) -> TypeProto:
    return TypeProto() if of is None else helper.make_tensor_type_proto(of[0], [None] * of[1])
