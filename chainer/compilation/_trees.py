"""Arguments and results as arrays and a form without arrays."""

from __future__ import annotations

from typing import Any

import numpy

import chainerx
from chainer.compilation._trace import GraphBreak
from chainer.variable import Variable
from chainerx import _internal

chx_ndarray = chainerx.ndarray
#: Returns what the graph knows of an array: see `flags_of` of the watch in C++.
flags_of: Any = _internal.Watch().flags_of if chainerx.is_available() else None
#: Returns its shape, strides, dtype and device, as bytes.
form_of: Any = _internal.Watch().form_of if chainerx.is_available() else None
GRAD_REQUIRED, BACKPROP_REQUIRED, CHAINED = 1, 2, 4
#: Attributes of variables that are arrays, or only this package reads.
INNER_ATTRIBUTES = frozenset(
    (
        '_array _chainerx_array_cache _fresh_grad _grad _grad_cleared _grad_var _initial_device '
        '_layout _loss_scale _name _node _requires_grad _sharing'
    ).split()
)

#: Types of values that cannot change. Those that derive from them may have attributes, which can.
CONSTANTS = frozenset(
    (
        type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented),
        range, *({*numpy.sctypeDict.values()} - {numpy.void, numpy.object_}),
        *((chainerx.Device, chainerx.Backend) if chainerx.is_available() else ()),
    )
)  # fmt: skip


def is_constant(value: Any) -> bool:
    """Tells whether nothing that can be read of a value ever changes."""
    kind = type(value)
    if issubclass(kind, numpy.dtype):  # fields have names that can be set
        return value.names is None and value.subdtype is None and value.metadata is None
    return kind in CONSTANTS


def array_of(value: Any) -> Any:
    """Returns the array of a variable, or the array itself; ``None`` of anything else."""
    if type(value) is Variable:
        return value._array
    return value if type(value) is chx_ndarray else None


class _Array:
    """The place of an array in a form."""

    __slots__ = ()


ARRAY = _Array()
NUMPY_ARRAY = _Array()


def flatten(value: Any, arrays: list[Any]) -> Any:
    """Adds the arrays in a value to a list; returns the form, which can be compared.

    Raises:
        GraphBreak: If a plan cannot be given the value.

    """
    kind = type(value)
    # Exact types, the most frequent first: each call does this, also one that has no plan.
    if kind is chx_ndarray:
        flags = flags_of(value)
        # A run cannot go on in a graph that the function did not make.
        if flags & BACKPROP_REQUIRED:
            raise GraphBreak('an argument belongs to a graph')
        arrays.append(value)
        return (ARRAY, flags) if flags else ARRAY
    if kind is Variable:
        return _flatten_variable(value, arrays)
    if kind is tuple or kind is list:
        return kind, *[flatten(v, arrays) for v in value]
    if kind is dict:
        # In order, which the function may depend on.
        return dict, tuple(value), *[flatten(v, arrays) for v in value.values()]
    # Whose dtypes are what they are: no data of Python's objects, and no attributes.
    if kind is numpy.ndarray and value.dtype.isbuiltin == 1 and value.dtype.kind in 'biufc':
        arrays.append(value)
        return NUMPY_ARRAY, value.dtype, value.shape, value.strides
    if issubclass(kind, (numpy.ndarray, Variable)):
        raise GraphBreak(f'an argument is {kind.__module__}.{kind.__name__}')
    return key(value)


def _flatten_variable(value: Variable, arrays: list[Any]) -> Any:
    array = value._array
    # Gradients of arguments would go to arrays that a plan does not know.
    if type(array) is not chx_ndarray or value._requires_grad or value._layout is not None:
        raise GraphBreak('an argument is a variable that needs a gradient or is not of ChainerX')
    if not INNER_ATTRIBUTES.issuperset(vars(value)):
        raise GraphBreak('an argument is a variable with attributes of the program')
    arrays.append(array)
    return Variable, value.name


def flatten_arguments(args: Any, kwargs: Any, arrays: list[Any]) -> Any:
    """Does the same for the arguments of a call."""
    form = flatten(args, arrays)
    # No form of positional arguments begins with `dict`.
    return (dict, form, flatten(kwargs, arrays)) if kwargs else form


def key(value: Any) -> Any:
    """Returns what tells a value from another one: immutable ones are compared by value."""
    kind = type(value)
    if kind is slice:
        return slice, key(value.start), key(value.stop), key(value.step)
    if not is_constant(value):
        return Same(value)
    # Python's `==` is too coarse for guards, and for NaN too fine:
    # 1, 1.0 and True are equal, and so are 0.0 and -0.0, whereas NaN is not.
    if kind is float or kind is complex:
        return kind, repr(value)
    if issubclass(kind, numpy.generic):
        return kind, value.dtype, value.tobytes()
    return kind, value


class Same:
    """An object that is compared by identity."""

    # The form keeps the object alive, so that no other one gets its id.

    __slots__ = ('value',)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def objects_of(form: Any) -> list[Any]:
    """Returns the objects in a form that are compared by identity."""
    if type(form) is Same:
        return [form.value]
    return [o for part in form for o in objects_of(part)] if type(form) is tuple else []


class Result:
    """What a function returned or reported, to be made again from arrays.

    Args:
        arrays: The list of arrays, to which it adds.
        known: Objects that are results as they are, by ``id``, but for variables.
        backpropagated: Variables whose graphs are of no more use.

    """

    def __init__(
        self, arrays: list[Any], known: dict[int, Any], backpropagated: list[Variable]
    ) -> None:
        self._arrays = arrays
        self._known = known
        self._backpropagated = backpropagated

    def check_graphs(self, value: Any) -> None:
        """Raises if somebody may want to go back through the graph of a result."""
        if isinstance(value, (tuple, list)):
            for part in value:
                self.check_graphs(part)
        elif isinstance(value, dict):
            for part in value.values():
                self.check_graphs(part)
        else:
            array = array_of(value)
            if (
                type(array) is chx_ndarray
                and array.is_backprop_required()
                and not any(value is v for v in self._backpropagated)
            ):
                raise GraphBreak(
                    'a result belongs to a graph: call its backward within the function, '
                    'or the function within chainer.no_backprop_mode()'
                )

    def form(self, value: Any) -> Any:
        """Adds the arrays in a value to the list; returns a function of the list of new arrays.

        Raises:
            GraphBreak: If the value cannot be made again.

        """
        kind = type(value)
        # Eager calls return variables without graphs, too, so runs make new ones.
        if is_constant(value) or (id(value) in self._known and not issubclass(kind, Variable)):
            return lambda arrays: value
        if kind is Variable or kind is chx_ndarray:
            index = len(self._arrays)
            if kind is Variable and type(value.raw_array) is not chx_ndarray:
                raise GraphBreak('a result is not an array of ChainerX')
            self._arrays.append(value.raw_array if kind is Variable else value)
            if kind is Variable:
                return lambda arrays: Variable(arrays[index], requires_grad=False)
            return lambda arrays: arrays[index]
        if kind is tuple or kind is list:
            parts = [self.form(v) for v in value]
            return lambda arrays: kind([part(arrays) for part in parts])
        if kind is dict:
            items = {k: self.form(v) for k, v in value.items()}
            return lambda arrays: {k: part(arrays) for k, part in items.items()}
        raise GraphBreak(f'a result is {kind.__module__}.{kind.__name__}')


def without_graphs(value: Any) -> Any:
    """Returns results as a plan gives them: without graphs."""
    kind = type(value)
    if kind is Variable and type(value.raw_array) is chx_ndarray:
        return Variable(value.raw_array.as_grad_stopped(), requires_grad=False)
    if kind is chx_ndarray:
        return value.as_grad_stopped()
    if kind is tuple or kind is list:
        return kind([without_graphs(v) for v in value])
    if kind is dict:
        return {k: without_graphs(v) for k, v in value.items()}
    return value
