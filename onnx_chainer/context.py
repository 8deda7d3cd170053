"""Names of the values of a graph, and what is constant in it."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, Protocol

import chainer
from onnx_chainer import onnx_helper

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import GraphProto, NodeProto

    from chainer.types import NdArray, VariableLike
    from chainer.variable import VariableNode
    from onnx_chainer._axes import Axes
    from onnx_chainer._trace import Call, Trace


# Equal constants of up to so many elements are one.
_MOST_ELEMENTS = 1024


class MakesSubgraphs(Protocol):
    """The graph that is being made."""

    def subgraph(self, trace: Trace) -> GraphProto:
        """The graph of a step of a loop."""


class Context:
    """Names of arrays, and the parameters and constants of a graph.

    Arrays are told apart by identity: a variable, its array and its node have one name.

    Args:
        model (~chainer.Link): Model. Its parameters and persistent arrays have the names of their
            paths.

    Attributes:
        parameters: Dictionary of the used parameters by name.
        constants: Dictionary of constant arrays by name.
        initializers: Those of them that have no node: large ones, and inputs of functions.

    """

    def __init__(self, model: Callable[..., Any]) -> None:
        self._names: dict[int, str] = {}
        self._pinned: set[str] = set()
        self._kept: list[Any] = []
        self._param_names: dict[int, str] = {}
        self._links: dict[int, tuple[str, chainer.Link]] = {}
        self._counts: collections.Counter[str] = collections.Counter()
        self._contents: dict[Any, str] = {}
        self.parameters: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}
        self.initializers: dict[str, Any] = {}
        self._new_nodes: list[NodeProto] = []
        #: Dynamic axes of the export, and the call that is being converted.
        self.axes: Axes | None = None
        self.call: Call | None = None
        #: The graph that is being made.
        self.graph: MakesSubgraphs | None = None
        if isinstance(model, chainer.Link):
            self._name_params(model)

    def _name_params(self, model):
        arrays = chainer.get_array_types()
        for path, link in model.namedlinks():
            path = '' if path == '/' else path
            for name, value in sorted(vars(link).items()):
                if isinstance(value, (chainer.Parameter, *arrays)):
                    self._links[id(value)] = onnx_helper.cleanse_param_name(path), link
                    array = getattr(value, 'array', value)
                    if array is not None:
                        self._keep(array)
                        full = onnx_helper.cleanse_param_name(f'{path}/{name}')
                        self._param_names.setdefault(id(array), full)

    def _keep(self, array):
        """Keeps an array alive, so that no other one gets its identity."""
        self._kept.append(array)

    @staticmethod
    def _array(variable):
        if isinstance(variable, chainer.variable.VariableNode):
            variable = variable.get_variable()
        return getattr(variable, 'array', variable)

    def knows(self, variable: VariableLike | VariableNode) -> bool:
        """Whether a value has a name: it is an input, a parameter or the result of a function."""
        array = self._array(variable)
        return id(array) in self._names or id(array) in self._param_names

    def get_name(self, variable: VariableLike | VariableNode) -> str:
        """Returns the name of a value, which becomes a constant if it has none.

        Args:
            variable (:class:`~chainer.Variable`, array or node of a variable): Value.

        """
        array = self._array(variable)
        name = self._names.get(id(array))
        if name is not None:
            return name
        name = self._param_names.get(id(array))
        if name is not None:
            self.parameters[name] = array
            return name
        return self._constant(array, None, False)

    def set_name(
        self, variable: VariableLike | VariableNode, name: str, pinned: bool = False
    ) -> None:
        """Sets the name of a value.

        Args:
            variable (:class:`~chainer.Variable`, array or node of a variable): Value.
            name (str): Name.
            pinned (bool): Whether the name is an input's or output's, which no other value may get.

        """
        array = self._array(variable)
        self._keep(array)
        self._names[id(array)] = name
        if pinned:
            self._pinned.add(name)

    def is_pinned(self, variable: VariableLike | VariableNode) -> bool:
        """Whether the name of a value was set with ``pinned=True``."""
        return self._names.get(id(self._array(variable))) in self._pinned

    def unique(self, prefix: str) -> str:
        """Returns ``prefix`` with the least number that no name of this prefix has."""
        while True:
            name = f'{prefix}_{self._counts[prefix]}'
            self._counts[prefix] += 1
            if name not in self._pinned:
                return name

    def add_param(self, array: NdArray, name: str, use_original_name: bool = False) -> str:
        """Adds an array as a parameter, if it has no name yet.

        Args:
            array: Array of any device.
            name (str): Last part of its name.
            use_original_name (bool): Whether it is the whole name.

        Returns:
            str: Name of the parameter.

        """
        if self.knows(array):
            return self.get_name(array)
        if not use_original_name:
            name = f'{onnx_helper.get_func_name()}_param_{name}'
        self._keep(array)
        self._param_names[id(array)] = name
        return self.get_name(array)

    def add_const(self, array: NdArray, name: str | None = None) -> str:
        """Adds a constant array, which a node gives. Equal constants are one.

        Args:
            array: Array of any device.
            name (str): Last part of its name.

        Returns:
            str: Name of the constant.

        """
        return self._constant(array, name, True)

    def _constant(self, array, name, has_node):
        value = onnx_helper.as_numpy(array)
        is_small = value.size <= _MOST_ELEMENTS
        key = (value.dtype, value.shape, value.tobytes()) if is_small and name is None else None
        if key in self._contents:
            return self._contents[key]
        full = 'Constant' if name is None else f'{onnx_helper.get_func_name()}_const_{name}'
        if name is None or full in self.constants:
            full = self.unique(full)
        if key is not None:
            self._contents[key] = full
        self.constants[full] = value
        if is_small and has_node:
            tensor = onnx_helper.make_tensor(full, value)
            self._new_nodes.append(
                onnx_helper.make_node('Constant', [], [full], full, value=tensor)
            )
        else:
            self.initializers[full] = value
        return full

    def take_constant_nodes(self) -> list[NodeProto]:
        """Returns the nodes of the constants that came since the last call."""
        nodes, self._new_nodes = self._new_nodes, []
        return nodes

    def get_link(self, param: chainer.Parameter) -> tuple[str, chainer.Link] | None:
        """Returns the name and the link that a parameter belongs to, or ``None``.

        Args:
            param (~chainer.Parameter): Parameter.

        """
        return self._links.get(id(param))
