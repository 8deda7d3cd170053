"""State of functions in the graph: what nodes, engines, tapes and hooks need of them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Protocol

from chainer import configuration
from chainer._core.autograd.base_variable import from_array
from chainer._core.autograd.variable_node import VariableNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chainer._core.autograd.changes import Contents
    from chainer._core.settings.types import NdArray
    from chainer.utils.type_check import TypeInfoTuple

_config = configuration.config


class Creator(Protocol):
    """Function that made a variable, as users see it.

    It is a :class:`chainer.FunctionNode`, or the :class:`chainer.Function` of old-style functions.
    """

    @property
    def inputs(self) -> Any: ...
    @property
    def outputs(self) -> Any: ...
    @property
    def output_data(self) -> tuple[NdArray | None, ...] | None: ...
    @property
    def rank(self) -> int: ...
    @property
    def stack(self) -> Any: ...
    @property
    def label(self) -> str: ...
    @property
    def local_function_hooks(self) -> dict[str, Any]: ...

    def unchain(self) -> None: ...


class _Extras:
    """State of the few calls that have hooks, memory layouts or a ChainerX graph."""

    hooks: dict[str, Any] | None = None
    input_layouts: tuple[Any, ...] | None = None
    output_layouts: tuple[Any, ...] | None = None
    stack: Any = None
    chainerx_device: Any = None
    retained: Any = None  # variables of inputs and of outputs, where ChainerX retains the arrays
    n_outputs: Any = None
    contents: Contents | None = None  # in debug mode


def _extra(name: str, doc: str) -> Any:
    """Property of a function, stored in its extras."""

    def get(self: BaseFunction) -> Any:
        return getattr(self._extras, name, None)

    def set_(self: BaseFunction, value: Any) -> None:
        setattr(self._get_extras(), name, value)

    return property(get, set_, doc=doc)


class BaseFunction:
    """Function in a graph: its inputs and outputs, and the arrays that its gradient needs.

    The layers of the graph and of the engines know functions by this class. Its one subclass,
    :class:`chainer.FunctionNode`, lies above them and defines what is computed.
    """

    # As in Chainer 7.
    inputs: tuple[VariableNode, ...] | Any = None
    outputs: tuple[weakref.ref[VariableNode], ...] | Any = None
    rank: int = 0
    lazy_grad_sum: bool = False

    # Gradient rule of the class (see `chainer/_core/autograd/tape.py`), and its use of kernels.
    _rule: Any
    _kernels: Any
    # Set by a call.
    _tape: Any
    _input_indexes_to_retain: Sequence[int]
    _output_indexes_to_retain: Sequence[int]
    _retained_output_data: tuple[Any, ...]
    # Rarely needed.
    _extras: _Extras | None = None

    stack: Any = _extra('stack', 'Stack of the call, recorded in debug mode.')
    chainerx_device: Any = _extra(
        'chainerx_device', 'Device of the inputs, where they are of ChainerX.'
    )

    def _public_function(self) -> Any:
        """Object of this node that users see."""
        return self

    @property
    def label(self) -> str:
        """Short text that represents the function."""
        return type(self).__name__

    @property
    def local_function_hooks(self) -> dict[str, Any]:
        """Ordered dictionary of the hooks of this function only."""
        extras = self._get_extras()
        if extras.hooks is None:
            extras.hooks = {}
        return extras.hooks

    def _get_extras(self) -> _Extras:
        if self._extras is None:
            self._extras = _Extras()
        return self._extras

    @property
    def input_layouts(self) -> tuple[Any, ...]:
        """Tuple of the memory layouts of the inputs; ``None`` is the usual one."""
        layouts = getattr(self._extras, 'input_layouts', None)
        if layouts is None:
            return (None,) * (0 if self.inputs is None else len(self.inputs))
        return layouts

    @property
    def output_layouts(self) -> tuple[Any, ...] | None:
        """Tuple of the memory layouts of the outputs, or ``None`` if all have the usual one."""
        return getattr(self._extras, 'output_layouts', None)

    @output_layouts.setter
    def output_layouts(self, layouts: tuple[Any, ...] | None) -> None:
        if not isinstance(layouts, tuple):
            raise TypeError(f'output_layouts must be a tuple, not {type(layouts)}')
        self._get_extras().output_layouts = layouts

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        """Checks types of the inputs before forward; see :mod:`chainer.utils.type_check`.

        Args:
            in_types (~chainer.utils.type_check.LightTypeInfoTuple): Shapes and dtypes of the
                inputs.

        Raises:
            chainer.utils.type_check.InvalidType: If a check fails.

        """

    # -- graph -----------------------------------------------------------------------------

    def _record(self, in_vars: Sequence[Any], out_vars: Sequence[Any]) -> None:
        """Adds this function and its outputs to the graph."""
        rank = 0
        nodes = []
        for x in in_vars:
            node = x._node
            if node is None:
                node = x.node
            elif node._rank > rank:
                rank = node._rank
            nodes.append(node)
        self.rank = rank
        self.inputs = tuple(nodes)
        outputs = []
        for y in out_vars:
            node = y._node = VariableNode(y, None)
            node._creator_node = self
            node._rank = rank + 1
            outputs.append(weakref.ref(node))
        self.outputs = tuple(outputs)
        for i in self._input_indexes_to_retain:
            nodes[i]._data = in_vars[i]._array
        indexes = self._output_indexes_to_retain
        if indexes:
            retained: list[Any] = []
            for i in indexes:
                array = out_vars[i]._array
                out_vars[i]._node._data = array
                retained.append(array)
            self._retained_output_data = tuple(retained)
        self.lazy_grad_sum = _config.lazy_grad_sum

    def unchain(self) -> None:
        """Removes this function from the graph."""
        for y in (ref() for ref in self.outputs or ()):
            if y is not None:
                y.unchain()
        self.inputs = None

    # -- retained arrays -------------------------------------------------------------------

    def retain_inputs(self, indexes: Iterable[int]) -> None:
        """Keeps inputs for :meth:`get_retained_inputs`; call it in forward.

        Args:
            indexes (iterable of int): Indexes of the inputs.

        """
        self._input_indexes_to_retain = tuple(indexes)

    def retain_outputs(self, indexes: Iterable[int]) -> None:
        """Keeps outputs for :meth:`get_retained_outputs`; call it in forward.

        Args:
            indexes (iterable of int): Indexes of the outputs.

        """
        self._output_indexes_to_retain = tuple(indexes)

    @property
    def output_data(self) -> tuple[NdArray | None, ...] | None:
        """Tuple of the retained output arrays (``None`` where not retained)."""
        extras = self._extras
        if extras is not None and extras.retained is not None:
            arrays = [None] * extras.n_outputs
            for i, y in zip(self._output_indexes_to_retain, extras.retained[1]):
                arrays[i] = y.array
            return tuple(arrays)
        if self.outputs is None:
            raise RuntimeError('function is not connected to any outputs')
        arrays = [None] * len(self.outputs)
        if self._output_indexes_to_retain:
            for i, array in zip(self._output_indexes_to_retain, self._retained_output_data):
                arrays[i] = array
        return tuple(arrays)

    def _retained_arrays(self) -> Sequence[Sequence[Any]]:
        """Arrays of the retained inputs and of the retained outputs."""
        extras = self._extras
        if extras is not None and extras.retained is not None:
            return [[x._array for x in xs] for xs in extras.retained]
        inputs = self.inputs
        return (
            [inputs[i]._data for i in self._input_indexes_to_retain],
            self._retained_output_data if self._output_indexes_to_retain else (),
        )

    def _replace_output(self, index: int, array: Any) -> Any:
        """Puts a new variable in the place of an output that is gone."""
        var = from_array(array, True)
        var.creator_node = self
        var._node._data = array
        outputs = list(self.outputs)
        outputs[index] = weakref.ref(var._node)
        self.outputs = tuple(outputs)
        return var

    def _retain_views(self, inputs: Iterable[Any], outputs: Iterable[Any], n_outputs: int) -> None:
        """Sets the retained variables, for a call that ran below ChainerX."""
        extras = self._get_extras()
        extras.retained = tuple(inputs), tuple(outputs)
        extras.n_outputs = n_outputs

    # -- what subclasses define: see `chainer.FunctionNode` ----------------------------------

    def apply(self, inputs: Any) -> tuple[Any, ...]:
        """Computes the outputs and records this function in the graph."""
        raise NotImplementedError

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        """Computes output arrays from NumPy or CuPy arrays."""
        raise NotImplementedError

    def forward_chainerx(self, inputs: Any) -> Any:
        """Computes output arrays from ChainerX arrays, or says why the function falls back."""
        raise NotImplementedError

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Any) -> Any:
        """Computes gradients of inputs, on variables."""
        raise NotImplementedError

    def backward_accumulate(
        self, target_input_indexes: tuple[int, ...], grad_outputs: Any, grad_inputs: Any
    ) -> Any:
        """Computes gradients of inputs and adds them to others."""
        raise NotImplementedError

    def _record_gradients(self, inputs: Any, gradients: Any, tape: Any) -> None:
        """Adds gradients that a tape has computed to the graph."""
        raise NotImplementedError

    def add_hook(self, hook: Any, name: str | None = None) -> None:
        """Registers a hook of this function."""
        raise NotImplementedError

    def delete_hook(self, name: str) -> None:
        """Removes a hook of this function."""
        raise NotImplementedError
