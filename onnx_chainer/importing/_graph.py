"""Checks the graphs of a model, and plans them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

from chainer.backend import CpuDevice
from onnx_chainer import onnx_helper
from onnx_chainer._schemas import schemas_of

from . import _domains as domains, _standard as standard, _tensors as tensors
from ._plan import Node, Plan, Run, Step
from ._values import is_float
from .errors import ModelError, naming
from .registry import Operator, find

CONSTANT = find('', 'Constant')

# A file may call functions that call functions. This bounds what a small file can grow to.
MOST_NODES = 1_000_000

_WORDS_AND_INTEGERS = AttributeProto.INT, AttributeProto.INTS, AttributeProto.STRING

# Called with the name of an initializer in the file, its array, and whether training changes it;
# gives the name that a run knows it by.
KeepWeight = Callable[[str, np.ndarray[Any, Any], bool], str]


def domain_of(name: str) -> str:
    """The domain's name; the standard's may also be written out."""
    return '' if name == 'ai.onnx' else name


def opsets_of(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Versions by domain."""
    return {domain_of(each.domain): each.version for each in imports}


class Planner:
    """Checks the graphs of a model, and makes plans of them.

    Args:
        model: The model.
        folder: Where its external data is.
        keep: Keeps the array of an initializer.
    """

    def __init__(self, model: ModelProto, folder: Path | None, keep: KeepWeight) -> None:
        self.folder = folder
        self._keep = keep
        self._opsets = opsets_of(model.opset_import) or {'': 1}
        self._functions: dict[tuple[str, str, str], FunctionProto] = {}
        for function in model.functions:
            key = (domain_of(function.domain), function.name, getattr(function, 'overload', ''))
            if key in self._functions:
                raise ModelError(f'function {function.name!r} is defined twice')
            self._functions[key] = function
        self._calling: list[tuple[str, str, str]] = []
        self._sizes: dict[tuple[str, str, str], int] = {}

    def main(self, graph: GraphProto) -> Plan:
        """The plan of the model's graph."""
        if self._size(graph.node) > MOST_NODES:
            raise ModelError(f'the model has more than {MOST_NODES} nodes')
        return self._graph(graph, frozenset(), self._opsets, {})

    def _size(self, nodes: Sequence[NodeProto]) -> int:
        """How many nodes there are when each call has nodes of its own."""
        size = 0
        for node in nodes:
            key = (domain_of(node.domain), node.op_type, getattr(node, 'overload', ''))
            if key in self._functions and key not in self._sizes:
                self._sizes[key] = 1  # for a function that calls itself, which is an error later
                self._sizes[key] = 1 + self._size(self._functions[key].node)
            size += self._sizes.get(key, 1)
            size += sum(self._size(a.g.node) for a in node.attribute if a.HasField('g'))
        return size

    # -- graphs

    def _graph(
        self,
        graph: GraphProto,
        outer: frozenset[str] | set[str],
        opsets: dict[str, int],
        bound: dict[str, AttributeProto],
    ) -> Plan:
        inputs = [value.name for value in graph.input]
        _check_distinct(inputs, f'graph {graph.name!r} has two inputs')
        fixed = _inputs_of(graph.node, lambda row: row.statistics | row.host)
        learned = _inputs_of(graph.node, lambda row: row.trained)
        constants = {t.name for t in graph.initializer if t.doc_string == onnx_helper.CONSTANT}
        weights: dict[str, str] = {}
        for name, array in self._initializers(graph):
            if name in weights:
                raise ModelError(f'graph {graph.name!r} has two initializers {name!r}')
            # A number without dimensions is a constant of a formula, such as 2 in 2 * x.
            varies = name in learned or (array.ndim > 0 and name not in fixed)
            trained = is_float(array) and name not in constants and varies
            weights[name] = self._keep(name, array, trained)
        inputs = [name for name in inputs if name not in weights or outer]
        outputs = [value.name for value in graph.output]
        return self._plan(graph.name, inputs, outputs, graph.node, weights, outer, opsets, bound)

    def _initializers(self, graph: GraphProto) -> Iterable[tuple[str, np.ndarray[Any, Any]]]:
        for tensor in graph.initializer:
            yield tensor.name, tensors.read_tensor(tensor, self.folder)
        for sparse in graph.sparse_initializer:
            yield sparse.values.name, tensors.read_sparse(sparse, self.folder)

    def _plan(
        self,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        nodes: Sequence[NodeProto],
        weights: dict[str, str],
        outer: frozenset[str] | set[str],
        opsets: dict[str, int],
        bound: dict[str, AttributeProto],
    ) -> Plan:
        own = {*inputs, *weights, ''}
        later = {output for proto in nodes for output in proto.output}
        used: set[str] = set()
        constants: dict[str, Any] = {}
        steps = []
        for proto in nodes:
            node = _node_of(proto, opsets)
            visible = own | outer
            with naming(node):
                _check_inputs(node, visible, later)
                _check_outputs(node, own)
                if node.domain not in opsets and (node.domain or opsets):
                    raise ModelError(f'the model imports no version of the domain {node.domain!r}')
                step = self._step(node, proto, visible, opsets, bound)
            used |= {*node.inputs, *step.captured()} - own
            own |= set(node.outputs)
            if step.operator is CONSTANT:
                step.run(Run(_no_weight, CpuDevice()), constants)
            else:
                steps.append(step)
        for value in filter(None, outputs):
            if value not in own and value not in outer:
                raise ModelError(f'nothing gives the output {value!r} of graph {name!r}')
        used |= set(outputs) - own
        return Plan(name, inputs, outputs, steps, weights, used, constants)

    # -- nodes

    def _step(
        self,
        node: Node,
        proto: NodeProto,
        visible: set[str],
        opsets: dict[str, int],
        bound: dict[str, AttributeProto],
    ) -> Step:
        protos = _attributes_of(proto, bound)
        key = (node.domain, node.op_type, getattr(proto, 'overload', ''))
        if key in self._functions:
            return self._call(node, key, protos)
        row = find(node.domain, node.op_type)
        if schemas_of(node.domain, node.op_type):
            for name, attribute in protos.items():
                if attribute.type in _WORDS_AND_INTEGERS:
                    domains.check(node.op_type, name, self._attribute(attribute))
        if row is None:
            return self._standard(node, proto, protos)
        row.check(node, protos)
        attributes: dict[str, Any] = {}
        bodies: dict[str, Plan] = {}
        for name, attribute in protos.items():
            if attribute.type == AttributeProto.GRAPH:
                bodies[name] = self._graph(attribute.g, visible, opsets, bound)
            else:
                attributes[name] = self._attribute(attribute)
        keywords, inputs = row.arguments(node.opset, attributes)
        if row.partial:
            return standard.TypedStep(
                node, _resolved(proto, protos), plan_definition, row, keywords
            )
        return Step(node, row, keywords, bodies, inputs)

    def _attribute(self, attribute: AttributeProto) -> Any:
        kind = attribute.type
        if kind == AttributeProto.TENSOR:
            return tensors.read_tensor(attribute.t, self.folder)
        if kind == AttributeProto.SPARSE_TENSOR:
            return tensors.read_sparse(attribute.sparse_tensor, self.folder)
        with naming(f'attribute {attribute.name!r}'):
            value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            return value.decode('utf-8', 'surrogateescape')
        if kind in (AttributeProto.FLOATS, AttributeProto.INTS, AttributeProto.STRINGS):
            return [x.decode() if isinstance(x, bytes) else x for x in value]
        if kind in (AttributeProto.GRAPHS, AttributeProto.TENSORS):
            raise ModelError(f'attribute {attribute.name!r} is a list of graphs or tensors')
        return value

    # -- functions

    def _call(
        self, node: Node, key: tuple[str, str, str], given: dict[str, AttributeProto]
    ) -> Step:
        """A call of one of the file's functions."""
        if key in self._calling:
            raise ModelError(f'function {node.op_type!r} calls itself')
        self._calling.append(key)
        body = self.function(self._functions[key], node, given)
        self._calling.pop()
        return standard.function_step(node, body)

    def function(
        self, function: FunctionProto, node: Node, given: dict[str, AttributeProto]
    ) -> Plan:
        """The plan of a function that a node calls with attributes."""
        if len(node.inputs) > len(function.input) or len(node.outputs) > len(function.output):
            raise ModelError(f'function {function.name!r} has fewer inputs or outputs')
        unknown = given.keys() - {*function.attribute, *(a.name for a in function.attribute_proto)}
        if unknown:
            raise ModelError(f'function {function.name!r} has no attribute {sorted(unknown)[0]!r}')
        bound = {attribute.name: attribute for attribute in function.attribute_proto} | given
        _check_distinct(function.input, f'function {function.name!r} has two inputs')
        wanted = [name if node.wants(i) else '' for i, name in enumerate(function.output)]
        return self._plan(
            function.name,
            function.input,
            wanted,
            function.node,
            {},
            set(),
            opsets_of(function.opset_import) or self._opsets,
            bound,
        )

    def _standard(self, node: Node, proto: NodeProto, given: dict[str, AttributeProto]) -> Step:
        """An operator without a row, which the standard defines by others."""
        body = standard.function_of(node)
        if body is not None:
            return standard.function_step(node, self.function(body, node, given), True)
        if standard.needs_types(node):
            return standard.TypedStep(node, _resolved(proto, given), plan_definition)
        raise ModelError(f'the operator is not supported in opset {node.opset}')


def plan_definition(function: FunctionProto, node: Node, given: dict[str, AttributeProto]) -> Plan:
    """The plan of a definition of the standard, which needs nothing of a model."""
    return Planner(ModelProto(), None, _refuse_weight).function(function, node, given)


def _resolved(proto: NodeProto, given: dict[str, AttributeProto]) -> NodeProto:
    """A node with the attributes of the call that it is in."""
    resolved = NodeProto()
    resolved.CopyFrom(proto)
    del resolved.attribute[:]
    resolved.attribute.extend(given.values())
    return resolved


def _no_weight(name: str) -> Any:
    raise KeyError(name)


def _refuse_weight(name: str, array: Any, trained: bool) -> str:
    raise ModelError(f'the definition has an initializer {name!r}')


def _node_of(proto: NodeProto, opsets: dict[str, int]) -> Node:
    domain = domain_of(proto.domain)
    opset = opsets.get(domain, 1)
    return Node(domain, proto.op_type, opset, proto.name, proto.input, proto.output)


def _attributes_of(proto: NodeProto, bound: dict[str, AttributeProto]) -> dict[str, AttributeProto]:
    """The attributes that a node gives, some of which are those of the function's call."""
    protos: dict[str, AttributeProto] = {}
    for attribute in proto.attribute:
        if attribute.name in protos:
            raise ModelError(f'it has two attributes {attribute.name!r}')
        if attribute.ref_attr_name:
            if attribute.ref_attr_name not in bound:
                continue  # the operator has its default
            given = AttributeProto()
            given.CopyFrom(bound[attribute.ref_attr_name])
            given.name = attribute.name
            attribute = given
        protos[attribute.name] = attribute
    return protos


def _check_inputs(node: Node, known: set[str], later: set[str]) -> None:
    for value in node.inputs:
        if value in known:
            continue
        if value in later:
            raise ModelError(
                f'its input {value!r} is the output of a later node: '
                'the nodes are out of order, or in a cycle'
            )
        raise ModelError(f'nothing gives its input {value!r}')


def _check_outputs(node: Node, known: set[str]) -> None:
    if not node.outputs:
        raise ModelError('it has no outputs')
    given: set[str] = set()
    for value in filter(None, node.outputs):
        if value in known or value in given:
            raise ModelError(f'its output {value!r} is there already')
        given.add(value)


def _check_distinct(names: Sequence[str], problem: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f'{problem} {name!r}')
        seen.add(name)


def _inputs_of(
    nodes: Sequence[NodeProto], numbers: Callable[[Operator], frozenset[int]]
) -> set[str]:
    """Names of those inputs whose numbers a function of the operator's row gives."""
    return {
        node.input[i]
        for node in nodes
        if (row := find(domain_of(node.domain), node.op_type)) is not None
        for i in numbers(row)
        if i < len(node.input)
    }
