"""Variables: arrays that take part in a computational graph."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, overload

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd import backprop, fresh_gradients
from chainer._core.autograd.gradients import check_grad
from chainer._core.autograd.variable_node import BaseVariable, VariableNode
from chainer._core.devices import layouts
from chainer._core.devices.array_types import get_array_types
from chainer._core.names import hints
from chainer._core.names.set_module import set_module
from chainer._core.variables.conversions import VariableConversions
from chainer._core.variables.operators import VariableOperators
from chainer._core.variables.variable_text import debug_text, variable_repr, variable_str
from chainer.backends import _cpu, cuda, intel64
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from chainer._core.devices.types import CudaDeviceSpec, DeviceSpec
    from chainer._core.names.namespace import Operand
    from chainer._core.settings.types import AnyArray, NdArray, Xp
    from chainer._core.variables.types import VariableLike
    from chainer.backend import Device
    from chainer.function import Function
    from chainer.function_node import FunctionNode

_ndarray = numpy.ndarray
_chx_ndarray = chainerx.ndarray


def _check_array(array: Any) -> None:
    if array is not None and not isinstance(array, get_array_types()):
        expected = ' or '.join(f'{t.__module__}.{t.__name__}' for t in get_array_types())
        raise TypeError(f'{expected} is expected as the data of a variable. Actual: {type(array)}')


class Variable(VariableOperators, VariableConversions, BaseVariable, public=True):
    """Array with a place in a computational graph.

    Functions record how they compute their results from variables.
    :meth:`backward` then walks the record from the last result to the first
    inputs and computes the gradient of each input.

    Args:
        data (array or None): Array (NumPy, CuPy or ChainerX) of any shape and dtype, not copied.
        name (str or None): Name of the variable, used in graph dumps. This and the following
            arguments are keyword-only.
        grad (array or None): Initial gradient, of the type, dtype and shape of ``data``.
        requires_grad (bool): Whether to compute a gradient.
        layout: Memory layout of ``data`` (see :mod:`chainer.memory_layouts`).

    Attributes:
        name (str): Name, or ``None``.
        shape (tuple of int): Shape of the array.
        ndim (int): Number of axes.
        size (int): Number of elements.
        dtype (numpy.dtype): Dtype of the array.
        layout: Memory layout, or ``None`` for the usual one.

    Raises:
        TypeError: If ``data`` is not an array, or ``grad`` has another type or dtype.
        ValueError: If ``grad`` has another shape.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2, 3], np.float32), name='x')
        >>> x
        variable x([1., 2., 3.])
        >>> y = F.sum(x * x)
        >>> y.backward()
        >>> x.grad
        array([2., 4., 6.], dtype=float32)
        >>> y.creator is not None, x.creator is None
        (True, True)

    """

    __module__ = 'chainer.variable'
    __array_priority__ = 200

    @overload
    def __init__(self, data: NdArray | None = None) -> None: ...
    @overload
    def __init__(
        self,
        data: NdArray | None = None,
        *,
        name: str | None = None,
        grad: NdArray | None = None,
        requires_grad: bool = True,
        layout: Any = None,
    ) -> None: ...

    def __init__(self, data: NdArray | None = None, **kwargs: Any) -> None:
        name = grad = layout = None
        requires_grad = True
        if kwargs:
            name = kwargs.pop('name', None)
            grad = kwargs.pop('grad', None)
            requires_grad = kwargs.pop('requires_grad', True)
            layout = kwargs.pop('layout', None)
            if kwargs:
                argument.parse_kwargs(
                    kwargs,
                    volatile='volatile argument is not supported anymore. '
                    'Use chainer.using_config or chainer.no_backprop_mode',
                )
        if not isinstance(data, _ndarray):
            _check_array(data)
        self._requires_grad = requires_grad
        if name is not None:
            self._name = name
        if layout is not None:
            self._layout = layout
        if isinstance(data, _chx_ndarray):
            if requires_grad and data.dtype.kind == 'f' and not data.is_backprop_required():
                # The user's array stays outside the graph: require the gradient of a view.
                data = data.view()
                data.require_grad()
            elif not requires_grad and data.is_backprop_required():
                data = data.as_grad_stopped()
            self._requires_grad = data.is_backprop_required()
        self._array = data
        if grad is not None:
            self.grad = grad

    # -- state ---------------------------------------------------------------------------

    def __copy__(self) -> Self:
        return self._copy_to(_new_object(type(self)))

    def _copy_to(self, target: Self) -> Self:
        if self._sharing is None:
            self._sharing = weakref.WeakValueDictionary({id(self): self})
        target.__dict__.update(self.__dict__)
        target._node = None  # the copy is a leaf
        self._sharing[id(target)] = target
        if self._has_chainerx_array and self._array.is_grad_required():
            # ChainerX keeps gradients with arrays: the copy needs a view to have its own.
            target._set_own_array(self.array)
            grad = self._get_known_grad()
            if grad is not None:
                target._set_grad(grad)
        return target

    def __reduce__(self) -> tuple[Any, ...]:
        args = self.array, self._name, self.grad, self._requires_grad, self.device
        cls = type(self)
        return _create_variable, args if cls is Variable else (*args, cls)

    @property
    def _has_chainerx_array(self) -> bool:
        return isinstance(self._array, _chx_ndarray)

    @property
    def xp(self) -> Xp:
        """Array module (:mod:`numpy`, :mod:`cupy` or :mod:`chainerx`) of the array."""
        return self.device.xp

    @property
    def device(self) -> Device | Any:
        """Device the array is on; without an array that of NumPy."""
        return backend.get_device_from_array(self._array)

    @property
    def name(self) -> str | None:
        """Name, for computational graphs and messages, or ``None``; assignable."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name
        if self._node is not None:
            self._node._name = name

    @property
    def node(self) -> VariableNode:
        """:class:`~chainer.variable.VariableNode` of this variable."""
        node = self._node
        if node is None:
            if self._has_chainerx_array:
                raise RuntimeError('A variable of ChainerX does not provide a node.')
            node = self._node = VariableNode(self, self._name)
        return node

    @property
    def creator(self) -> Function | FunctionNode | None:
        """Function that made this variable, or ``None`` for a leaf.

        Old-style functions give their :class:`~chainer.Function`, others their
        :class:`~chainer.FunctionNode`.
        """
        self._refuse_chainerx('creator')
        return None if self._node is None else self._node.creator

    @creator.setter
    def creator(self, func: Function | FunctionNode | None) -> None:
        self._refuse_chainerx('creator')
        self.node.creator = func

    @property
    def creator_node(self) -> FunctionNode | None:
        """:class:`~chainer.FunctionNode` that made this variable, or ``None`` for a leaf."""
        self._refuse_chainerx('creator_node')
        return None if self._node is None else self._node._creator_node

    @creator_node.setter
    def creator_node(self, func: FunctionNode | None) -> None:
        self._refuse_chainerx('creator_node')
        self.node.creator_node = func

    def set_creator(self, gen_func: Function | FunctionNode) -> None:
        """Notifies the variable that ``gen_func`` (:class:`~chainer.Function`) made it."""
        self.creator = gen_func

    def set_creator_node(self, fnode: FunctionNode) -> None:
        """Notifies the variable that ``fnode`` (:class:`~chainer.FunctionNode`) made it."""
        self.creator_node = fnode

    def _refuse_chainerx(self, what: str) -> None:
        if isinstance(self._array, _chx_ndarray):
            raise RuntimeError(
                f'A variable of ChainerX does not provide {what}: '
                'its graph is recorded by ChainerX.'
            )

    @property
    def rank(self) -> int:
        """Length of the longest path from a leaf to this variable in the graph."""
        self._refuse_chainerx('rank')
        return 0 if self._node is None else self._node._rank

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient is computed for this variable."""
        return self._requires_grad

    @property
    def label(self) -> str:
        """Short text that represents the variable."""
        self._refuse_chainerx('label')
        return VariableNode(self, self._name).label

    # -- array and gradient --------------------------------------------------------------

    @property
    def layout(self) -> Any:
        """Memory layout of :mod:`chainer.memory_layouts`, or ``None`` for the usual one."""
        return self._layout

    @property
    def raw_array(self) -> AnyArray:
        """Array in its order in memory, for any layout."""
        return self._array

    @property
    def array(self) -> AnyArray:
        """Underlying array; on ChainerX a view without the graph."""
        self._check_no_layout()
        array = self._array
        if isinstance(array, _chx_ndarray) and self._requires_grad:
            if self._chainerx_array_cache is None:
                self._chainerx_array_cache = array.as_grad_stopped()
            return self._chainerx_array_cache
        return array

    @array.setter
    def array(self, array: NdArray | None) -> None:
        self._check_no_layout()
        _check_array(array)
        old = self._array
        grad = self._get_known_grad() if isinstance(old, _chx_ndarray) else None
        self._set_array(array)
        # ChainerX keeps a gradient with its array, and Chainer with the variable.
        if (
            grad is not None
            and isinstance(array, _chx_ndarray)
            and array.device is old.device
            and array.shape == old.shape
            and array.dtype == old.dtype
        ):
            self._set_grad(grad)

    def _set_array(self, array: Any) -> None:
        """Sets the array of this variable and of its copies (``copy.copy``)."""
        if self._sharing is None:
            self._set_own_array(array)
        else:
            for var in list(self._sharing.values()):
                var._set_own_array(array)

    def _set_own_array(self, array: Any) -> None:
        self._chainerx_array_cache = None
        if isinstance(array, _chx_ndarray):
            self._node = None
            if self._requires_grad and array.dtype.kind == 'f' and not array.is_backprop_required():
                array = array.view()
                array.require_grad()
        self._array = array
        if self._node is not None:
            node = self._node
            if node._data is not None or array is None:
                node._data = array
            if array is not None:
                node.dtype, node.shape = array.dtype, array.shape

    @property
    def data(self) -> AnyArray:
        """Same as :attr:`array`; prefer that name, which ``numpy.ndarray.data`` does not share."""
        return self.array

    @data.setter
    def data(self, array: NdArray | None) -> None:
        self.array = array

    @property
    def chx_array(self) -> chainerx.ndarray:
        """ChainerX array with its graph.

        Raises:
            ValueError: If the variable is not on a ChainerX device.

        """
        if not self._has_chainerx_array:
            raise ValueError(
                'chx_array is not available for a variable of '
                f'{type(self._array).__module__}.{type(self._array).__name__}'
            )
        return self._array

    @property
    def grad(self) -> AnyArray:
        """Gradient array, or ``None``."""
        array = self._array
        if isinstance(array, _chx_ndarray):
            if not self._requires_grad:
                return None
            try:
                grad = array.grad
            except chainerx.ChainerxError:  # a result, which does not keep its gradient
                return None
            if grad is None:
                return fresh_gradients.show(self) if self._fresh_grad else None
            if grad.is_backprop_required():
                return grad.as_grad_stopped()
            return grad
        grad = self._grad
        if grad is None:
            if self._fresh_grad:
                return fresh_gradients.show(self)
            if array is None:
                self._check_grad_known()
        return grad

    @grad.setter
    def grad(self, grad: NdArray | None) -> None:
        if grad is not None:
            _check_array(grad)
            check_grad(self._array, grad, 'grad')
        elif self._array is None:
            self._grad_cleared = True
        self._set_grad(grad)

    def _get_known_grad(self) -> Any:
        """Returns the gradient, or ``None`` if nothing has set or changed it."""
        return None if fresh_gradients.is_untouched(self) else self.grad

    def _check_grad_known(self) -> None:
        """Raises an error if the gradient of a variable without an array is unknown."""

    def _set_grad(self, grad: Any) -> None:
        if self._fresh_grad:
            self._fresh_grad = False
        if isinstance(self._array, _chx_ndarray):
            if grad is not None or self._requires_grad:
                self._check_chainerx_requires_grad()
                self._array.set_grad(grad) if grad is not None else self._array.cleargrad()
            return
        self._grad = grad
        self._grad_var = None

    def _check_chainerx_requires_grad(self) -> None:
        if not self._requires_grad:
            raise RuntimeError(
                'Cannot set a gradient of a ChainerX variable that does not require one.'
            )

    @property
    def grad_var(self) -> Variable | None:
        """Gradient variable, or ``None``."""
        if self._fresh_grad:
            self.grad  # noqa: B018 - makes the array
        if isinstance(self._array, _chx_ndarray):
            try:
                grad = self._array.grad if self._requires_grad else None
            except chainerx.ChainerxError:
                return None
            return None if grad is None else Variable._from_array(grad, grad.is_backprop_required())
        if self._grad_var is None and self._grad is not None:
            self._grad_var = Variable._from_array(self._grad, True)
        return self._grad_var

    @grad_var.setter
    def grad_var(self, grad_var: Variable | None) -> None:
        if grad_var is None:
            self._set_grad(None)
            return
        check_grad(self._array, grad_var._array, 'grad')
        self._set_grad_var(grad_var)

    def _set_grad_var(self, grad_var: Variable) -> None:
        if isinstance(self._array, _chx_ndarray):
            self._set_grad(grad_var._array)
        else:
            self._fresh_grad = False
            self._grad = grad_var._array
            self._grad_var = grad_var

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array, in the usual order of the axes for any layout."""
        if self._layout is not None:
            return layouts.transpose_shape(self._array.shape, self._layout, None)
        return self._array.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions of the array."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """Number of elements of the array."""
        return self._array.size

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Data type of the array."""
        return self._array.dtype

    def _check_no_layout(self) -> None:
        if self._layout is not None:
            raise RuntimeError(
                'Cannot directly retrieve the underlying array from a variable '
                f'with the non-standard layout {self._layout}.'
            )

    def __len__(self) -> int:
        return len(self._array)

    def item(self) -> bool | int | float | complex:
        """Converts a variable of one element to a Python scalar.

        Returns:
            bool, int, float or complex: The element.

        Raises:
            ValueError: If there is not exactly one element.

        """
        return self.array.item()

    def cleargrad(self) -> None:
        """Forgets the gradient."""
        self._set_grad(None)

    def zerograd(self) -> None:
        """Fills the gradient with zeros.

        .. deprecated:: v1.15
            Use :meth:`cleargrad`, which is faster.
        """
        import warnings

        warnings.warn(
            'Variable.zerograd is deprecated. Use Variable.cleargrad instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        array = self.array
        if array is None:
            return
        with backend.using_device(backend.get_device_from_array(array)):
            self.grad = backend.get_array_module(array).zeros_like(array)

    def copydata(self, var: Variable) -> None:
        """Copies the array of ``var`` into this variable's array, across devices if needed.

        If only one of the two has an array, the other, a parameter, is first initialized to its
        shape. If neither has one, nothing happens.

        Args:
            var (Variable): Variable to copy from, of the same shape.

        Raises:
            RuntimeError: If ``var`` has no array and is not a parameter.

        """
        src, dst = var.array, self.array
        if src is None:
            if dst is None:
                return
            var._initialize(dst.shape)
            src = var.array
        elif dst is None:
            self._initialize_like(src)
            dst = self.array
        backend.copyto(dst, src)

    def _initialize(self, shape: Any) -> None:
        raise RuntimeError('Data array is None: cannot copy from a variable without array')

    def _initialize_like(self, src: Any) -> None:
        with backend.using_device(backend.get_device_from_array(src)):
            self._set_array(src.copy())

    def addgrad(self, var: Variable) -> None:
        """Adds the gradient of ``var`` to this variable's gradient, across devices if needed.

        Args:
            var (Variable): Variable of the same shape. If it has no gradient, nothing happens.
        """
        given = var._grad if var._array is None else var._get_known_grad()
        if given is None:
            return
        if self._array is None:
            self._initialize_like(given)
        device = self.device
        src = device.send(given)
        dst = self._get_known_grad()
        with backend.using_device(device):
            if dst is None:
                self.grad = src.copy() if src is given else src
            elif isinstance(dst, _chx_ndarray):
                self.grad = dst + src
            else:
                self._set_grad(dst + src)

    # -- devices -------------------------------------------------------------------------

    def to_cpu(self) -> None:
        """Moves the array and the gradient to NumPy."""
        self.to_device(_cpu.CpuDevice())

    def to_gpu(self, device: CudaDeviceSpec | None = None) -> None:
        """Moves the array and the gradient to a CUDA device (the current one by default)."""
        cuda.check_cuda_available()
        self.to_device(cuda._get_device_or_current(device))

    def to_intel64(self) -> None:
        """Moves the array and the gradient to iDeep arrays if available."""
        intel64.check_ideep_available()
        self.to_device(intel64.Intel64Device())

    def to_chx(self) -> None:
        """Moves the array and the gradient to ChainerX without copying."""
        if self._array is not None and not self._has_chainerx_array:
            self._move(backend.to_chx)

    def from_chx(self) -> None:
        """Moves the array and the gradient from ChainerX to NumPy or CuPy without copying."""
        if self._has_chainerx_array:
            self._move(backend.from_chx)

    def to_device(self, device: DeviceSpec) -> None:
        """Moves the array and the gradient to ``device`` (see :func:`chainer.get_device`)."""
        device = backend.get_device(device)
        if self._array is not None and not (self.device == device):
            self._move(device.send)

    def _move(self, send: Callable[[Any], Any]) -> None:
        grad = self._get_known_grad()
        is_fresh = self._fresh_grad and grad is None
        was_chainerx = self._has_chainerx_array
        array = send(self.array)
        new_grad = None if grad is None else send(grad)
        is_chainerx = isinstance(array, _chx_ndarray)
        if (
            is_chainerx
            and not was_chainerx
            and self._node is not None
            and self._node._creator_node is not None
        ):
            raise RuntimeError(
                'A variable with a creator cannot be moved to ChainerX: '
                'its graph is recorded outside ChainerX.'
            )
        self._grad = self._grad_var = None
        self._part_from_copies()
        self._set_own_array(array)
        if new_grad is not None:
            self._set_grad(new_grad)
        self._fresh_grad = is_fresh

    def _part_from_copies(self) -> None:
        """Stops sharing the array, because copies stay on their devices."""
        if self._sharing is not None:
            del self._sharing[id(self)]
            self._sharing = None

    # -- graph ---------------------------------------------------------------------------

    def backward(
        self,
        retain_grad: bool = False,
        enable_double_backprop: bool = False,
        loss_scale: float | None = None,
    ) -> None:
        """Runs backpropagation from this variable to every leaf that requires a gradient.

        If the variable has one element and no gradient, its gradient starts at one; on ChainerX
        with more elements, too. Gradients of leaves are accumulated.

        Args:
            retain_grad (bool): Whether this variable and intermediate ones keep their gradients,
                which are cleared by default.
            enable_double_backprop (bool): Whether to record the backward pass, too,
                to differentiate gradients.
            loss_scale (float or None): Factor of the initial gradient, for float16 training. On
                ChainerX it is divided out of the results, elsewhere by the optimizer.

        Raises:
            ValueError: If the variable has several elements and no gradient was set.

        .. admonition:: Example

            >>> x = chainer.Variable(np.array([1, 2], np.float32))
            >>> y = x * x * x
            >>> y.grad = np.array([1, 10], np.float32)
            >>> y.backward()
            >>> x.grad
            array([  3., 120.], dtype=float32)

        """
        backprop.backward_from_variable(self, retain_grad, enable_double_backprop, loss_scale)

    def unchain(self) -> None:
        """Cuts the edge to the function that made this variable."""
        if self._has_chainerx_array:
            self._array = self.array
            self._requires_grad = False
        elif self._node is not None:
            self._node.unchain()

    def unchain_backward(self) -> None:
        """Cuts every edge from this variable back to the leaves (truncated backprop)."""
        if self._has_chainerx_array:
            chainerx._core._unchain_backward(self._array)
        elif self._node is not None:
            backprop.unchain_backward(self._node)

    def retain_data(self) -> None:
        """Lets the node of this variable keep the array."""
        self.node._data = self._array

    # -- text ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        return variable_repr(self)

    def __str__(self) -> str:
        return variable_str(self)

    def summary(self) -> str:
        """Text naming the variable without its values.

        Returns:
            str: Text with the name of the variable, or with its address if it has no name.

        """
        return f'<variable {self._name}>' if self._name else f'<variable at 0x{id(self):x}>'

    def debug_print(self) -> str:
        """Text with the device, shape, dtype and statistics of the array and the gradient.

        Returns:
            str: Text of several lines.

        """
        return debug_text(self)

    # -- comparison: undefined on purpose -------------------------------------------------

    def _no_comparison(self, other: object) -> Any:
        raise TypeError('Variables cannot be compared: compare their arrays (variable.array)')

    if not TYPE_CHECKING:  # it knows that objects have no order
        __lt__ = __le__ = __eq__ = __ne__ = __gt__ = __ge__ = _no_comparison
        __hash__ = None

    def __bool__(self) -> bool:
        raise TypeError('A variable has no truth value: use variable.array')


hints.attach(Variable, 'Variable')

_new_object = object.__new__


def _create_variable(
    data: Any,
    name: str | None,
    grad: Any,
    requires_grad: bool,
    device: Device | None = None,
    cls: type[Variable] = Variable,
) -> Variable:
    return cls(data, name=name, grad=grad, requires_grad=requires_grad)


_create_variable.__module__ = 'chainer.variable'  # Chainer 7 has the same name in its pickles


@set_module('chainer.variable')
def as_variable(obj: VariableLike | None) -> Variable:
    """Converts an array or a variable to a variable.

    Args:
        obj (array or Variable): Object to convert.

    Returns:
        ``obj`` itself if it is a variable, otherwise a new variable that holds the array and
        does not require a gradient (for a ChainerX array: stays connected to its graph).

    .. admonition:: Example

        >>> x = chainer.as_variable(np.array([1, 2], np.float32))
        >>> x, x.requires_grad
        (variable([1., 2.]), False)
        >>> chainer.as_variable(x) is x
        True

    """
    if isinstance(obj, Variable):
        return obj
    if isinstance(obj, _chx_ndarray):
        return Variable._from_array(obj, obj.is_backprop_required())
    if not isinstance(obj, _ndarray):
        _check_array(obj)
    return Variable._from_array(obj, False)


@overload
def as_array(obj: VariableLike | Operand) -> NdArray: ...
@overload
def as_array(obj: None) -> None: ...
@set_module('chainer.variable')
def as_array(obj: Any) -> Any:
    """Returns the underlying array of a variable, or the array itself.

    Args:
        obj (array or Variable): Object to convert.

    Returns:
        array: ``obj.array`` of a variable, anything else as it is.

    .. admonition:: Example

        >>> chainer.as_array(chainer.Variable(np.array([1, 2], np.float32)))
        array([1., 2.], dtype=float32)

    """
    return obj.array if isinstance(obj, Variable) else obj
