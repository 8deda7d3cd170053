"""Old-style functions, with backward on arrays."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import chainerx
from chainer import backend, configuration
from chainer._core.autograd.gradient_errors import refuse_gradient
from chainer._core.variables.variable import Variable
from chainer.backends import cuda
from chainer.function_node import FunctionNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from chainer._core.autograd.variable_node import VariableNode
    from chainer._core.settings.types import NdArray
    from chainer._core.variables.types import VariableLike
    from chainer.function_hook import FunctionHook
    from chainer.utils.type_check import TypeInfoTuple

_P = ParamSpec('_P')
_R = TypeVar('_R')


def no_backprop_mode() -> _BackpropMode:
    """Returns a context manager that records no graph.

    ChainerX arrays record no graph either. Also usable as a decorator.

    .. admonition:: Example

        >>> w = chainer.Variable(np.array(3.0, np.float32))
        >>> with chainer.no_backprop_mode():
        ...     prediction = w * w
        >>> prediction.creator is None
        True

    """
    return _BackpropMode(False)


def force_backprop_mode() -> _BackpropMode:
    """Returns a context manager that records graphs inside :func:`no_backprop_mode`.

    Also usable as a decorator.

    .. admonition:: Example

        >>> w = chainer.Variable(np.array(3.0, np.float32))
        >>> with chainer.no_backprop_mode(), chainer.force_backprop_mode():
        ...     loss = w * w
        >>> loss.backward()
        >>> w.grad
        array(6., dtype=float32)

    """
    return _BackpropMode(True)


class _BackpropMode:
    """Sets ``config.enable_backprop`` and the mode of ChainerX alike."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._scopes: list[list[AbstractContextManager[Any]]] = []

    def __enter__(self) -> None:
        scopes: list[AbstractContextManager[Any]] = [
            configuration.using_config('enable_backprop', self._enabled)
        ]
        if chainerx.is_available():
            scopes.append(
                chainerx.force_backprop_mode() if self._enabled else chainerx.no_backprop_mode()
            )
        for scope in scopes:
            scope.__enter__()
        self._scopes.append(scopes)

    def __exit__(self, *exc_info: object) -> None:
        for scope in reversed(self._scopes.pop()):
            scope.__exit__(*exc_info)

    def __call__(self, func: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(func)
        def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with self:
                return func(*args, **kwargs)

        return wrapper


class FunctionAdapter(FunctionNode):
    """Node that lets a :class:`~chainer.Function` take part in a graph.

    Args:
        function (Function): Old-style function.

    .. admonition:: Example

        >>> class Square(chainer.Function):
        ...     def forward(self, inputs):
        ...         return inputs[0] ** 2,
        >>> y = Square()(chainer.Variable(np.array(3, np.float32)))
        >>> type(y.creator_node).__name__, type(y.creator).__name__
        ('FunctionAdapter', 'Square')

    """

    _function: Function | None = None
    _weak_function: Any = None  # a weak reference while the function owns this adapter

    def __init__(self, function: Function) -> None:
        # A call turns it around.
        self._weak_function = weakref.ref(function)

    @property
    def function(self) -> Function:
        """The :class:`~chainer.Function` object."""
        if self._function is not None:
            return self._function
        return self._weak_function and self._weak_function()

    def _public_function(self) -> Any:
        return self.function

    @property
    def label(self) -> str:
        return self.function.label

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        self.function.check_type_forward(in_types)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        # Old-style functions keep all inputs by default.
        self.retain_inputs(range(len(inputs)))
        return self.function.forward(inputs)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        retained = self.get_retained_inputs()
        arrays: list[Any] = [None] * len(self.inputs)
        for i, x in zip(self._input_indexes_to_retain, retained):
            arrays[i] = x.array
        gys = tuple([None if gy is None else gy.array for gy in grad_outputs])
        with cuda.get_device_from_array(*[a for a in (*arrays, *gys) if a is not None]):
            all_gxs = self.function.backward(tuple(arrays), gys)
        if not isinstance(all_gxs, (tuple, list)):
            raise TypeError(f'{self.label}.backward must return a tuple, got {type(all_gxs)}')
        if len(all_gxs) != len(arrays):
            raise ValueError(
                f'{self.label}.backward returned {len(all_gxs)} gradients for {len(arrays)} inputs'
            )
        for i, (array, gx) in enumerate(zip(arrays, all_gxs)):
            if gx is None or array is None:
                continue
            if not isinstance(gx, backend.get_device_from_array(array).supported_array_types):
                refuse_gradient(self, i, gx, array.shape, array.dtype)
        gxs = [all_gxs[i] for i in target_input_indexes]
        if not configuration.config.enable_backprop or all(gx is None for gx in gxs):
            return tuple([None if gx is None else Variable(gx, requires_grad=False) for gx in gxs])
        # These gradients cannot be differentiated correctly: connect them to a function that
        # raises an error instead of leaving them without a graph.
        present = [gx for gx in gxs if gx is not None]
        node = _OldStyleGradient(self.label, present)
        variables = iter(node.apply((*retained, *[g for g in grad_outputs if g is not None])))
        return tuple([None if gx is None else next(variables) for gx in gxs])


class _OldStyleGradient(FunctionNode):
    """Gradients of an old-style function: values without a derivative."""

    def __init__(self, function_label: str, gradients: Any) -> None:
        self._function_label = function_label
        self._gradients = gradients

    @property
    def label(self) -> str:
        return f'{self._function_label}-Grad'

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        gradients, self._gradients = self._gradients, None
        return tuple(gradients)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        raise RuntimeError(
            f'{self._function_label} is an old-style chainer.Function: its gradient cannot be '
            'differentiated (double backprop). Rewrite it as a chainer.FunctionNode.'
        )


class Function:
    """Old-style function, with forward and backward on arrays.

    New code should derive from :class:`~chainer.FunctionNode`, which also supports double
    backprop. Subclasses write :meth:`forward` and :meth:`backward`, or their ``_cpu`` and
    ``_gpu`` forms, and are called with variables or arrays.

    Attributes:
        inputs: Input variable nodes.
        outputs: Weak references to output variable nodes.
        rank (int): Position in topological order.

    .. admonition:: Example

        >>> class Square(chainer.Function):
        ...     def forward(self, inputs):
        ...         return inputs[0] ** 2,
        ...     def backward(self, inputs, grad_outputs):
        ...         return 2 * inputs[0] * grad_outputs[0],
        >>> x = chainer.Variable(np.array([3], np.float32))
        >>> y = Square()(x)
        >>> y.grad = np.array([1], np.float32)
        >>> y.backward()
        >>> y, x.grad
        (variable([9.]), array([6.], dtype=float32))

    """

    _node: weakref.ref[FunctionAdapter] | None = None
    _owned_node: FunctionAdapter | None = None

    def __call__(self, *inputs: VariableLike) -> Any:
        """Applies the function and records it in the graph.

        Args:
            inputs: Variables or arrays.

        Returns:
            One :class:`~chainer.Variable`, or a tuple of them if there are several outputs.

        """
        node = self.node
        if node.inputs is not None:
            node = FunctionAdapter(self)
        # From here the node, and thus the graph, owns this function.
        node._function = self
        node._weak_function = None
        self._node = weakref.ref(node)
        self._owned_node = None
        outputs = node.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    @property
    def node(self) -> FunctionAdapter:
        """:class:`FunctionAdapter` of this function."""
        node = None if self._node is None else self._node()
        if node is None:
            node = self._owned_node
        if node is None:
            node = self._owned_node = FunctionAdapter(self)
        return node

    @property
    def inputs(self) -> tuple[VariableNode, ...] | None:
        """Tuple of the variable nodes of the inputs, or ``None`` before the function is applied."""
        return self.node.inputs

    @property
    def outputs(self) -> tuple[Any, ...] | None:
        """Tuple of weak references to the variable nodes of the outputs."""
        return self.node.outputs

    @property
    def output_data(self) -> tuple[NdArray | None, ...] | None:
        """Tuple of the retained output arrays."""
        return self.node.output_data

    @property
    def rank(self) -> int:
        """Length of the longest path from a leaf to this function in the graph."""
        return self.node.rank

    @property
    def stack(self) -> Any:
        """Stack trace of the application of the function, only in debug mode."""
        return self.node.stack

    @property
    def label(self) -> str:
        """Short text that represents the function."""
        return type(self).__name__

    @property
    def local_function_hooks(self) -> dict[str, FunctionHook]:
        """Ordered dictionary of the hooks of this function only."""
        return self.node.local_function_hooks

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        """Checks types of the inputs before forward; see :mod:`chainer.utils.type_check`.

        Args:
            in_types (~chainer.utils.type_check.LightTypeInfoTuple): Shapes and dtypes of the
                inputs.

        Raises:
            chainer.utils.type_check.InvalidType: If a check fails.

        """

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        """Computes output arrays; calls :meth:`forward_cpu` or :meth:`forward_gpu`.

        Args:
            inputs (tuple of arrays): Input arrays.

        Returns:
            tuple: Output arrays.

        """
        if any(isinstance(x, cuda.ndarray) for x in inputs):
            return self.forward_gpu(inputs)
        return self.forward_cpu(inputs)

    def forward_cpu(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        """Computes output arrays from NumPy arrays.

        Args:
            inputs (tuple of arrays): Input arrays.

        Returns:
            tuple: Output arrays.

        Raises:
            NotImplementedError: If the class does not override the method.

        """
        raise NotImplementedError(
            f'{type(self).__name__} implements neither forward nor forward_cpu'
        )

    def forward_gpu(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        """Computes output arrays from CuPy arrays.

        Args:
            inputs (tuple of arrays): Input arrays.

        Returns:
            tuple: Output arrays.

        Raises:
            NotImplementedError: If the class does not override the method.

        """
        raise NotImplementedError(
            f'{type(self).__name__} implements neither forward nor forward_gpu'
        )

    def backward(
        self, inputs: tuple[NdArray, ...], grad_outputs: tuple[NdArray | None, ...]
    ) -> tuple[NdArray | None, ...]:
        """Computes gradient arrays; calls :meth:`backward_cpu` or :meth:`backward_gpu`.

        Args:
            inputs: Tuple of input arrays, ``None`` where not retained.
            grad_outputs: Tuple of gradient arrays or ``None``.

        Returns:
            Tuple of gradient arrays or ``None``, one per input.

        """
        if any(isinstance(x, cuda.ndarray) for x in (*inputs, *grad_outputs)):
            return self.backward_gpu(inputs, grad_outputs)
        return self.backward_cpu(inputs, grad_outputs)

    def backward_cpu(
        self, inputs: tuple[NdArray, ...], grad_outputs: tuple[NdArray | None, ...]
    ) -> tuple[NdArray | None, ...]:
        """Computes gradients of NumPy arrays; by default no input has a gradient.

        Args:
            inputs (tuple): Input arrays, ``None`` where not retained.
            grad_outputs (tuple): Gradient arrays or ``None``, one for each output.

        Returns:
            tuple: Gradient arrays or ``None``, one for each input.

        """
        return (None,) * len(inputs)

    def backward_gpu(
        self, inputs: tuple[NdArray, ...], grad_outputs: tuple[NdArray | None, ...]
    ) -> tuple[NdArray | None, ...]:
        """Computes gradients of CuPy arrays; by default no input has a gradient.

        Args:
            inputs (tuple): Input arrays, ``None`` where not retained.
            grad_outputs (tuple): Gradient arrays or ``None``, one for each output.

        Returns:
            tuple: Gradient arrays or ``None``, one for each input.

        """
        return (None,) * len(inputs)

    def retain_inputs(self, indexes: Iterable[int]) -> None:
        """Limits the inputs kept for backward (default: all); call it in forward.

        Args:
            indexes (iterable of int): Indexes of the inputs.

        """
        self.node.retain_inputs(indexes)

    def retain_outputs(self, indexes: Iterable[int], retain_after_backward: bool = False) -> None:
        """Keeps outputs for :attr:`output_data` in backward; call it in forward.

        Args:
            indexes (iterable of int): Indexes of the outputs.
            retain_after_backward (bool): Has no effect but a :class:`DeprecationWarning`.

        """
        if retain_after_backward:
            import warnings

            warnings.warn(
                'retain_after_backward option has no effect', DeprecationWarning, stacklevel=2
            )
        self.node.retain_outputs(indexes)

    def unchain(self) -> None:
        """Removes this function from the graph."""
        self.node.unchain()

    def add_hook(self, hook: FunctionHook, name: str | None = None) -> None:
        """Registers a function hook; see :meth:`chainer.FunctionNode.add_hook`.

        Args:
            hook (~chainer.FunctionHook): Hook.
            name (str or None): Name of the hook (default: ``hook.name``).

        """
        self.node.add_hook(hook, name)

    def delete_hook(self, name: str) -> None:
        """Removes a function hook.

        Args:
            name (str): Name of the hook.

        Raises:
            KeyError: If there is no such hook.

        """
        self.node.delete_hook(name)
