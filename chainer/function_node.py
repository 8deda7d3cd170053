"""Differentiable functions: nodes of the computational graph."""

from __future__ import annotations

import itertools
import traceback
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import configuration
from chainer._core.autograd.base_function import BaseFunction
from chainer._core.autograd.base_variable import from_array as _from_array
from chainer._core.autograd.batched_array import mapping_of
from chainer._core.autograd.changes import Contents
from chainer._core.autograd.gradients import find_nan
from chainer._core.autograd.input_checks import check_array_kinds, check_types
from chainer._core.autograd.tape import AccumulatingRule, VariableRule
from chainer._core.autograd.thread_hooks import hooks_of, thread_hooks as _thread_hooks
from chainer._core.devices.array_types import get_array_types
from chainer._core.engines import arrays as array_engine, kernels as kernel_engine
from chainer._core.engines.chainerx import apply as _apply_chainerx
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.reports.fallback import NO_NATIVE_PATH
from chainer._core.variables.grad import grad
from chainer._core.variables.variable import Variable, as_variable
from chainer.backends import cuda
from chainer.function_hook import FunctionHook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.autograd.tape import Tape
    from chainer._core.reports.fallback import FallbackType
    from chainer._core.settings.types import NdArray
    from chainer._core.variables.types import VariableLike
    from chainer.function_hook import FunctionHook

__all__ = ['FunctionNode', 'grad']

_ndarray = numpy.ndarray
_chx_ndarray = chainerx.ndarray
_config = configuration.config

# Methods that compute on NumPy arrays.
_numpy_code = frozenset(('forward', 'forward_cpu', 'backward', 'backward_accumulate', 'gradients'))


def _are_of_chainerx(func: FunctionNode, arrays: tuple[Any, ...]) -> bool:
    """Tells whether an array is of ChainerX; raises an error if arrays are of several kinds."""
    if any([type(array) is not type(arrays[0]) for array in arrays]):
        check_array_kinds(func, arrays)
    return any([isinstance(array, _chx_ndarray) for array in arrays])


class FunctionNode(BaseFunction):
    """Function with a forward and a differentiable backward computation.

    Subclasses write :meth:`forward` (or :meth:`forward_cpu` and :meth:`forward_gpu`) on
    arrays and :meth:`backward` on variables. Each application makes a new node:
    ``y, = MyFunction().apply((x,))``.

    Forward names the inputs and outputs that backward needs with :meth:`retain_inputs` and
    :meth:`retain_outputs`; all others can be freed.

    Attributes:
        inputs: Tuple of the input :class:`~chainer.variable.VariableNode` objects
            (``None`` without a graph).
        outputs: Tuple of weak references to the output nodes.
        rank (int): Largest rank of the inputs: the position in topological order.
        stack: Stack of the call, recorded in debug mode.
        lazy_grad_sum (bool): Whether to add gradients of the inputs all at once when needed.

    .. admonition:: Example

        >>> class Square(chainer.FunctionNode):
        ...     def forward(self, inputs):
        ...         self.retain_inputs((0,))
        ...         return inputs[0] ** 2,
        ...     def backward(self, target_input_indexes, grad_outputs):
        ...         x, = self.get_retained_inputs()
        ...         return 2 * x * grad_outputs[0],
        >>> x = chainer.Variable(np.array(3, np.float32))
        >>> y, = Square().apply((x,))
        >>> y.backward()
        >>> y, x.grad
        (variable(9.), array(6., dtype=float32))

    """

    is_elementwise: bool = False

    _rule: Tape = VariableRule
    _kernels = NO_KERNELS
    _tape: Tape

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__
        # The most derived gradient counts, in any form.
        if '_rule' not in own:
            if 'backward_accumulate' in own:
                cls._rule = AccumulatingRule
            elif 'backward' in own:
                cls._rule = VariableRule
        # Kernels need a native path, and ignore a new way to compute on NumPy arrays.
        if '_kernels' not in own and (
            cls.forward_chainerx is FunctionNode.forward_chainerx
            or ('forward_chainerx' not in own and not _numpy_code.isdisjoint(own))
        ):
            cls._kernels = cls._kernels._replace(under_numpy=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f'{type(self).__name__} is a FunctionNode and cannot be called: use its apply() method'
        )

    # -- forward -------------------------------------------------------------------------

    def apply(self, inputs: Sequence[VariableLike | None]) -> tuple[Variable, ...]:
        """Computes the outputs and records this function in the graph.

        Args:
            inputs: Tuple of variables or arrays.

        Returns:
            Tuple of output :class:`~chainer.Variable` objects.

        Raises:
            ~chainer.utils.type_check.InvalidType: If the inputs fail :meth:`check_type_forward`.
            TypeError: If the inputs mix array types or ``forward`` returns no tuple.
            ValueError: If they are one array and no sequence.

        """
        if type(inputs) is tuple:
            if inputs and type(getattr(inputs[0], '_array', inputs[0])) is _chx_ndarray:
                return _apply_chainerx(self, inputs)
        elif isinstance(inputs, get_array_types()):
            raise ValueError('inputs must be a sequence of arrays, but are one array')
        in_vars = []
        in_data: Any = []
        requires_grad = False
        has_layout = False
        for x in inputs:
            if not isinstance(x, Variable):
                x = as_variable(x)
            if x._requires_grad:
                requires_grad = True
            if x._layout is not None:
                has_layout = True
            in_vars.append(x)
            in_data.append(x._array)
        in_data = tuple(in_data)
        kind = _ndarray
        for data in in_data:
            if type(data) is not _ndarray:
                mapping = mapping_of(in_data)
                if mapping is not None:
                    return mapping.apply(self, in_vars)
                if _are_of_chainerx(self, in_data):
                    return _apply_chainerx(self, in_vars)
                kind = type(in_data[0])
                break

        debug = _config.debug
        if debug:
            self._get_extras().stack = traceback.extract_stack()
        if has_layout:
            self._get_extras().input_layouts = tuple([x._layout for x in in_vars])
        if _config.type_check:
            check_types(self, in_data)
        if has_layout:
            self.check_layout_forward(tuple(in_vars))

        hooks = None
        if _thread_hooks.hooks or self._extras is not None:
            hooks = hooks_of(self)
            for hook in hooks:
                hook.forward_preprocess(self, in_data)
        outputs = None
        if self._kernels.under_numpy:
            run = kernel_engine.run if kind is _ndarray else kernel_engine.run_on_cupy
            outputs = run(self, in_vars, in_data)
        on_kernels = outputs is not None
        if outputs is None:
            outputs = array_engine.run(self, in_vars, in_data)
        if hooks:
            if on_kernels:
                self._output_indexes_to_retain = self._kernels.rule_outputs or ()
            for hook in hooks:
                hook.forward_postprocess(self, in_data)
        if debug and find_nan(outputs):
            raise RuntimeError(f'NaN is detected on forward computation of {self.label}')

        result = tuple([_from_array(y, requires_grad) for y in outputs])
        if self._extras is not None and self._extras.output_layouts is not None:
            for y, layout in zip(result, self._extras.output_layouts):
                y._layout = layout
        if _config.enable_backprop:
            self._record(in_vars, result)
            if debug and requires_grad:
                # Kernels keep what they need themselves.
                arrays = (in_data, outputs) if on_kernels else self._retained_arrays()
                self._get_extras().contents = Contents(itertools.chain(*arrays))
        return result

    def check_layout_forward(self, inputs: tuple[Variable, ...]) -> None:
        """Checks memory layouts of the input variables; by default accepts only the usual one.

        Args:
            inputs (tuple of ~chainer.Variable): Inputs.

        Raises:
            RuntimeError: If the function does not support a layout.

        """
        if any(x is not None for x in self.input_layouts):
            raise RuntimeError(
                f'{self.label} does not support non-standard memory layouts: {self.input_layouts}'
            )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        """Computes output arrays from input arrays.

        Calls :meth:`forward_gpu` if an input is a CuPy array, otherwise :meth:`forward_cpu`.

        Args:
            inputs: Tuple of arrays.

        Returns:
            Tuple of arrays.

        """
        if any(isinstance(x, cuda.ndarray) for x in inputs):
            return self.forward_gpu(inputs)
        return self.forward_cpu(inputs)

    def forward_cpu(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
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

    def forward_gpu(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
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

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        """Computes output arrays from ChainerX arrays with differentiable ChainerX routines.

        Returns:
            Tuple of ChainerX arrays, or ``chainer.Fallback`` (the default) to run
            :meth:`forward` on NumPy or CuPy views of the inputs.

        """
        return NO_NATIVE_PATH

    # -- backward ------------------------------------------------------------------------

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> Variable | tuple[Variable | None, ...] | None:
        """Computes gradients of inputs from gradients of outputs, on variables.

        Args:
            target_input_indexes: Sorted tuple of the input indexes that need a gradient.
            grad_outputs: Tuple of variables, ``None`` where an output has no gradient.

        Returns:
            Tuple of variables or ``None``, one per target.

        """
        return (None,) * len(target_input_indexes)

    def backward_accumulate(
        self,
        target_input_indexes: tuple[int, ...],
        grad_outputs: tuple[Variable | None, ...],
        grad_inputs: tuple[Variable | None, ...],
    ) -> tuple[Variable | None, ...]:
        """Computes gradients and adds them to ``grad_inputs``.

        Override it to fuse the addition with the computation.

        Args:
            target_input_indexes: Sorted tuple of the input indexes that need a gradient.
            grad_outputs: Tuple of variables or ``None``.
            grad_inputs: Tuple of variables or ``None``: gradients so far.

        Returns:
            Tuple of variables or ``None``, one per target.

        """
        gxs: Any = self.backward(target_input_indexes, grad_outputs)
        if len(gxs) != len(target_input_indexes):
            gxs = tuple([gxs[i] for i in target_input_indexes])
        return tuple(
            [gx if g is None else g if gx is None else gx + g for gx, g in zip(gxs, grad_inputs)]
        )

    def get_retained_inputs(self) -> tuple[Variable, ...]:
        """Returns the input variables named in :meth:`retain_inputs`, for use in backward."""
        extras = self._extras
        if extras is not None and extras.retained is not None:
            return extras.retained[0]
        if self.inputs is None:
            raise ValueError('retained inputs are not available: the function is not in a graph')
        nodes: Any = self.inputs
        return tuple([nodes[i].get_variable() for i in self._input_indexes_to_retain])

    def get_retained_outputs(self) -> tuple[Variable, ...]:
        """Returns the output variables named in :meth:`retain_outputs`, for use in backward."""
        extras = self._extras
        if extras is not None and extras.retained is not None:
            return extras.retained[1]
        if self.outputs is None:
            raise ValueError('retained outputs are not available: the function is not in a graph')
        if not self._output_indexes_to_retain:
            return ()
        result: list[Any] = []
        for i, array in zip(self._output_indexes_to_retain, self._retained_output_data):
            node = self.outputs[i]()
            result.append(self._replace_output(i, array) if node is None else node.get_variable())
        return tuple(result)

    def _record_gradients(
        self, inputs: Sequence[Variable], gradients: Sequence[Variable], tape: Tape
    ) -> None:
        """Adds the gradients of this function to the graph, as a function of ``inputs``."""
        node = _RecordedGradients(f'{self.label}Grad')
        node._tape = tape
        node._input_indexes_to_retain = node._output_indexes_to_retain = ()
        node._record(inputs, gradients)

    # -- hooks ---------------------------------------------------------------------------

    def add_hook(self, hook: FunctionHook, name: str | None = None) -> None:
        """Registers a hook of this function.

        Args:
            hook (~chainer.FunctionHook): Hook.
            name (str or None): Name of the hook (default: ``hook.name``).

        Raises:
            TypeError: If ``hook`` is not a function hook.
            KeyError: If the name is taken.

        """
        if not isinstance(hook, FunctionHook):
            raise TypeError('Hook must be of type FunctionHook')
        if name is None:
            name = hook.name
        hooks = self.local_function_hooks
        if name in hooks:
            raise KeyError(f'Hook {name} already exists')
        hooks[name] = hook
        hook.added(self)

    def delete_hook(self, name: str) -> None:
        """Removes the hook ``name`` of this function.

        Raises:
            KeyError: If there is no such hook.

        """
        hooks = self.local_function_hooks
        if name not in hooks:
            raise KeyError(f'Hook {name} does not exist')
        hooks.pop(name).deleted(self)


class _RecordedGradients(FunctionNode):
    """Gradients of a function, recorded by its tape."""

    def __init__(self, label: str) -> None:
        self._label = label

    @property
    def label(self) -> str:
        return self._label
