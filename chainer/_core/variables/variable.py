"""Variables: arrays that take part in a computational graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy

import chainerx
from chainer._core.autograd.base_variable import from_array
from chainer._core.autograd.variable_gradient import check_array
from chainer._core.devices.array_kinds import KINDS
from chainer._core.names import hints
from chainer._core.names.set_module import set_module
from chainer._core.settings.half import FLOAT_KINDS
from chainer._core.variables.conversions import VariableConversions
from chainer._core.variables.operators import VariableOperators
from chainer._core.variables.transfers import VariableTransfers
from chainer._core.variables.variable_graph import VariableGraph
from chainer._core.variables.variable_text import (
    debug_text,
    variable_html,
    variable_repr,
    variable_str,
)
from chainer.utils import argument

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer._core.autograd.base_variable import BaseVariable
    from chainer._core.names.namespace import Operand
    from chainer._core.settings.types import NdArray
    from chainer._core.variables.types import VariableLike
    from chainer.backend import Device

_ndarray = numpy.ndarray
_chx_ndarray = chainerx.ndarray


class Variable(
    VariableOperators, VariableConversions, VariableGraph, VariableTransfers, public=True
):
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
            check_array(data)
        self._requires_grad = requires_grad
        if name is not None:
            self._name = name
        if layout is not None:
            self._layout = layout
        if isinstance(data, _chx_ndarray):
            if requires_grad and data.dtype.kind in FLOAT_KINDS and not data.is_backprop_required():
                # The user's array stays outside the graph: require the gradient of a view.
                data = data.view()
                data.require_grad()
            elif not requires_grad and data.is_backprop_required():
                data = data.as_grad_stopped()
            self._requires_grad = data.is_backprop_required()
        self._array = data
        if grad is not None:
            self.grad = grad

    if TYPE_CHECKING:  # The module of gradients lies below this one.

        @property
        def grad_var(self) -> Variable | None: ...
        @grad_var.setter
        def grad_var(self, grad_var: BaseVariable | None) -> None: ...

    def __copy__(self) -> Self:
        return self._copy_to(_new_object(type(self)))

    def _copy_to(self, target: Self) -> Self:
        target.__dict__.update(self.__dict__)
        target._node = None  # the copy is a leaf
        self._share_array_with(target)
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

    def _repr_html_(self) -> str:
        return variable_html(self)

    def __repr__(self) -> str:
        return variable_repr(self)

    def __str__(self) -> str:
        return variable_str(self)

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
        return from_array(obj, obj.is_backprop_required())
    if not isinstance(obj, _ndarray):
        lift = KINDS[type(obj)].lift
        if lift is not None:
            return lift(_detached, obj)
        check_array(obj)
    return from_array(obj, False)


def _detached(var: Variable) -> Variable:
    return from_array(var.array, False)


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
