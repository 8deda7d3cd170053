"""Operators of variables."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.autograd.base_variable import BaseVariable
from chainer._core.autograd.thread_hooks import thread_hooks as _thread_hooks
from chainer._core.autograd.variable_state import VariableState
from chainer._core.names.namespace import F, operators
from chainer._core.reports.fallback import ARGUMENT_ERRORS
from chainer.configuration import config as _config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from chainer._core.variables.types import VariableLike
    from chainer._core.variables.variable import Variable

_chx_ndarray = chainerx.ndarray
_new_object = object.__new__

# False inside `chainer.no_backprop_mode()`, which sets the mode of ChainerX too, so functions need
# not enter it each time.
is_recording: Any = getattr(chainerx, 'is_backprop_required', None)


def _operate(operation: Callable[[Any, Any], Any], lhs: Any, rhs: Any) -> Any:
    """Applies an operator to a variable of ChainerX and another one or a number.

    Returns:
        Variable, or ``None`` where a :class:`~chainer.FunctionNode` is needed: for hooks, debug
        mode or the explanation of an error.

    """
    kind = type(rhs)
    if kind is not float and kind is not int:
        if not isinstance(rhs, BaseVariable):
            return None
        rhs = rhs._array
        if type(rhs) is not _chx_ndarray:
            return None
    if _thread_hooks.hooks or _config.debug or (not _config.enable_backprop and is_recording()):
        return None
    try:
        array = operation(lhs._array, rhs)
    except ARGUMENT_ERRORS:
        return None
    var = _new_object(BaseVariable._public_class)
    var._array = array
    var._requires_grad = array.is_backprop_required()
    return var


def _binary(operation: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Any]:
    """Method for a binary operator: the fast path for ChainerX, else the function ``name``."""

    def method(self: Any, rhs: Any) -> Any:
        if type(self._array) is _chx_ndarray:
            y = _operate(operation, self, rhs)
            if y is not None:
                return y
        return getattr(operators, name)(self, rhs)

    method.__name__ = f'__{name}__'
    return method


def _by_function(name: str) -> Callable[..., Any]:
    """Method for an operator that calls the function ``name``."""

    def method(self: Any, *args: Any) -> Any:
        return getattr(operators, name)(self, *args)

    method.__name__ = f'__{name}__'
    return method


def _reflected(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda lhs, rhs: operation(rhs, lhs)


def _itself(self: Any) -> Any:
    return self


class VariableOperators(VariableState):
    """Operators, indexing and the methods that rearrange a variable, by functions.

    Methods only; :class:`VariableState` and its bases declare the fields.
    """

    if TYPE_CHECKING:

        def __add__(self, other: VariableLike | float) -> Variable: ...
        def __radd__(self, other: VariableLike | float) -> Variable: ...
        def __sub__(self, other: VariableLike | float) -> Variable: ...
        def __rsub__(self, other: VariableLike | float) -> Variable: ...
        def __mul__(self, other: VariableLike | float) -> Variable: ...
        def __rmul__(self, other: VariableLike | float) -> Variable: ...
        def __truediv__(self, other: VariableLike | float) -> Variable: ...
        def __rtruediv__(self, other: VariableLike | float) -> Variable: ...
        def __floordiv__(self, other: VariableLike | float) -> Variable: ...
        def __rfloordiv__(self, other: VariableLike | float) -> Variable: ...
        def __pow__(self, other: VariableLike | float) -> Variable: ...
        def __rpow__(self, other: VariableLike | float) -> Variable: ...
        def __matmul__(self, other: VariableLike) -> Variable: ...
        def __rmatmul__(self, other: VariableLike) -> Variable: ...
        def __pos__(self) -> Self: ...
        def __neg__(self) -> Variable: ...
        def __abs__(self) -> Variable: ...
    else:
        __pos__ = _itself
        __neg__ = _by_function('neg')
        __abs__ = _by_function('absolute')
        __add__ = __radd__ = _binary(operator.add, 'add')
        __sub__ = _binary(operator.sub, 'sub')
        __rsub__ = _binary(_reflected(operator.sub), 'rsub')
        __mul__ = __rmul__ = _binary(operator.mul, 'mul')
        __truediv__ = __div__ = _binary(operator.truediv, 'div')
        __rtruediv__ = __rdiv__ = _binary(_reflected(operator.truediv), 'rdiv')
        __floordiv__ = _by_function('floordiv')
        __rfloordiv__ = _by_function('rfloordiv')
        __pow__ = _binary(operator.pow, 'pow')
        __rpow__ = _binary(_reflected(operator.pow), 'rpow')
        __matmul__ = _by_function('matmul')
        __rmatmul__ = _by_function('rmatmul')

    def __getitem__(self, slices: Any) -> Variable:
        return operators.get_item(self, slices)

    def reshape(self, *shape: int | Sequence[int]) -> Variable:
        """Returns a variable of another shape; see :func:`chainer.functions.reshape`.

        Args:
            shape (ints, or a tuple or list of them): Shape. One of the sizes may be -1, to be
                inferred from the others.
        """
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        return F.reshape(self, shape)

    def transpose(self, *axes: int | Sequence[int] | None) -> Variable:
        """Permutes the axes; see :func:`chainer.functions.transpose`.

        Args:
            axes (ints, or a tuple or list of them): For each axis of the result, the axis of this
                variable. By default the reversed order.

        Returns:
            ~chainer.Variable: Variable with the axes in another order.

        """
        if len(axes) == 0:
            return F.transpose(self, None)
        if len(axes) == 1 and (isinstance(axes[0], (tuple, list)) or axes[0] is None):
            return F.transpose(self, axes[0])
        return F.transpose(self, axes)

    @property
    def T(self) -> Variable:
        """Variable with its axes reversed."""
        return self.transpose()

    def as_layout(self, layout: str | None) -> Variable:
        """Returns a variable of the same value in another memory layout."""
        return operators.as_layout(self, layout)
