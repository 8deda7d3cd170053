"""From calls of functions to a graph of ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_chainer import onnx_helper
from onnx_chainer._axes import DynamicAxisError, Varying, merge
from onnx_chainer._builder import Builder, Unsupported
from onnx_chainer._sizes import varying
from onnx_chainer.functions import NODES_NOT_EXPORTED
from onnx_chainer.functions.converter import FunctionConverterParams

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx import GraphProto, NodeProto

    from chainer.function import Function
    from chainer.function_node import FunctionNode
    from onnx_chainer._trace import Call, Trace
    from onnx_chainer.context import Context


class Graph:
    """Nodes of a model.

    Args:
        context (onnx_chainer.context.Context): Names, which get those of the results.
        converters (dict): Converters by the name of the function.
        opset_version (int): Version of the operator set.
        explicit_input_names (set of str): Names that inputs of the graph have.
        network_outputs (dict): Outputs of the model by name.
        trace: Calls of functions.

    """

    def __init__(
        self,
        context: Context,
        converters: Mapping[str, Callable[[FunctionConverterParams], Any]],
        opset_version: int,
        explicit_input_names: set[str],
        network_outputs: Mapping[str, Any],
        trace: Trace | None = None,
    ) -> None:
        self.context = context
        self.converters = converters
        self.opset_version = opset_version
        self.explicit_input_names = explicit_input_names
        self.network_outputs = network_outputs
        self.trace = trace
        self.nodes: list[NodeProto] = []
        self._given = set(explicit_input_names)
        self._outer = context.graph

    def create_node(
        self,
        func_name: str,
        func: FunctionNode | Function,
        input_names: Sequence[str],
        output_names: Sequence[str],
    ) -> Sequence[NodeProto]:
        """Returns the nodes of one function.

        Args:
            func_name (str): Name of the function, which chooses the converter.
            func: Function.
            input_names (list of str): Names of its inputs.
            output_names (list of str): Names that its outputs take.

        Raises:
            ValueError: If there is no converter for it.
            RuntimeError: If the converter cannot convert it.

        """
        converter = self.converters.get(func_name)
        if converter is None:
            raise ValueError(_no_converter(func_name, func))
        params = FunctionConverterParams(
            func, self.opset_version, list(input_names), list(output_names), self.context
        )
        try:
            return converter(params)
        except Unsupported as e:
            raise Unsupported(f'{func_name} cannot be exported here: {e}') from e
        except DynamicAxisError as e:
            raise DynamicAxisError(f'{func_name}: {e}') from e

    def convert_to_onnx_node(self, function: Call) -> None:
        """Adds the nodes of one call.

        Args:
            function: Call.

        """
        context = self.context
        name = context.unique(function.name)
        onnx_helper.set_func_name(name)
        context.call, context.graph = function, self
        input_names = self._input_names(function)
        many = len(function.outputs) > 1
        output_names = []
        for i, y in enumerate(function.outputs):
            # A pinned name is that of an output of the graph, if not of an input. The first
            # function that gives the array has it: others give the same value.
            if context.is_pinned(y) and context.get_name(y) not in self._given:
                output_names.append(context.get_name(y))
                self._given.add(context.get_name(y))
            else:
                output_names.append(f'{name}_{i}' if many else name)
        nodes = self.create_node(function.name, function.func, input_names, output_names)
        for y, output in zip(function.outputs, output_names):
            if not context.is_pinned(y):
                context.set_name(y, output)
        self.add_nodes(nodes)
        context.call, context.graph = None, self._outer

    def add_nodes(self, nodes: Sequence[NodeProto]) -> None:
        """Adds nodes, behind those of the constants that they are the first to take."""
        if self._outer is None:  # others may take the constants of a subgraph
            self.nodes += self.context.take_constant_nodes()
        self.nodes += nodes

    def subgraph(self, trace: Trace) -> GraphProto:
        """The graph of a step of a loop, which is part of the call that is being converted."""
        from onnx import helper

        context = self.context
        name, call = onnx_helper.get_func_name(), context.call
        for x in trace.inputs:
            context.set_name(x, context.unique('Step_input'))
        graph = Graph(context, self.converters, self.opset_version, set(), {}, trace)
        graph.to_onnx_graph()
        results = [context.unique('Step_output') for _ in trace.outputs]
        graph.add_nodes(
            [
                onnx_helper.make_node('Identity', [context.get_name(y)], [result], name=result)
                for y, result in zip(trace.outputs, results)
            ]
        )
        inputs = [_info(context.get_name(x), x) for x in trace.inputs]
        outputs = [_info(result, y) for y, result in zip(trace.outputs, results)]
        onnx_helper.set_func_name(name)
        context.call, context.graph = call, self
        return helper.make_graph(graph.nodes, f'{name}_body', inputs, outputs)

    def _input_names(self, call):
        context = self.context
        axes = context.axes
        if axes is None:
            return [context.get_name(x) for x in call.inputs]
        names = []
        for i, x in enumerate(call.inputs):
            value = x
            if not context.knows(x):
                value = merge([peer.inputs[i] for peer in axes.peers(call)])
            if isinstance(value, Varying):
                func_name = onnx_helper.get_func_name()
                onnx_helper.set_func_name(f'{func_name}_input_{i}')
                g = Builder(call, self.opset_version, [], context)
                try:
                    name = varying(g, value)
                except DynamicAxisError as e:
                    raise DynamicAxisError(f'input {i} of {call.name}: {e}') from e
                self.add_nodes(g.nodes())
                onnx_helper.set_func_name(func_name)
            else:
                name = context.get_name(value)
            names.append(name)
        return names

    def to_onnx_graph(self) -> list[NodeProto]:
        """Returns the nodes of all calls, in an order in which they can run."""
        assert self.trace is not None
        for call in self.trace.calls:
            self.convert_to_onnx_node(call)
        return self.nodes


def _info(name, x):
    from onnx import helper

    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), None)


def _no_converter(name, func):
    reason = NODES_NOT_EXPORTED.get(name)
    because = '' if reason is None else f' ({reason})'
    return (
        f'{name} has no converter to ONNX{because}. Pass one: '
        f"external_converters={{'{name}': convert}}, where convert(params) returns the nodes; "
        f'params.func is the {type(func).__name__} object'
    )
