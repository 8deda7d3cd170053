"""Objects of this package, and of the program's own classes."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from chainer import backend, configuration, device_resident, initializer, link, link_hook
from chainer._core.settings.mixed16 import mixed16
from chainer.compilation._kinds.kind import (
    Kind,
    names,
    watch_attributes,
    watch_nothing,
    watch_parts,
)
from chainer.compilation._trace import GraphBreak, is_framework_module
from chainer.compilation._trees import INNER_ATTRIBUTES, chx_ndarray
from chainer.links.model import _config
from chainer.variable import Variable

if TYPE_CHECKING:
    from chainer.compilation._kinds.kind import Scope

#: Values that cannot change; objects of classes that derive from them may have attributes.
VALUES = {int: None, float: None, complex: None, str: None, bytes: None, tuple: tuple.__iter__,
           frozenset: frozenset.__iter__}  # fmt: skip
#: Those that no computation reads. An initializer may be the array that the parameter has.
OF_PARAMETERS = 'initializer', 'update_rule', '_grad_initializer'


def _watch_array(scope: Scope, value: Any, label: str) -> None:
    if value.device.backend.name not in ('native', 'cuda'):
        raise GraphBreak(f'{label} is on {value.device.name}')
    if value._is_chained():
        raise GraphBreak(f'{label} belongs to the graph of an earlier computation')
    scope.add(scope.watch.add_array, label, value)
    scope.arrays.append(value)


def _watch_variable(scope: Scope, value: Variable, label: str) -> None:
    scope.add(scope.watch.add_attributes, label, value, ['_chainerx_array_cache'])
    scope.visit(type(value), type(value).__name__)
    scope.variables.append(value)
    # Its first call makes the array, which no plan repeats.
    if value.raw_array is None:
        raise GraphBreak(f'{label} is not initialized')
    scope.visit(value.raw_array, label)
    # Functions transpose such arrays before and after, as their code decides.
    if value.layout is not None:
        raise GraphBreak(f'{label} has a memory layout')
    for name, part in list(vars(value).items()):
        if name not in INNER_ATTRIBUTES and (name not in OF_PARAMETERS or name in scope.names):
            scope.visit_if_read(name, part, f'{label}.{name}')


def _watch_object(scope: Scope, value: Any, label: str) -> None:
    """Watches a link or an object of the program, some of whose arrays may change at each call."""
    for name, part in vars(value).items():
        # What a call left there can only be replaced by the next one.
        if type(part) is Variable and type(part.raw_array) is chx_ndarray:
            if part.raw_array._is_chained():
                scope.slot_ids[id(value), name] = value
    # One that the program has deleted is no attribute any more; if it comes, the watch sees it.
    slots = tuple(n for owner, n in scope.slot_ids if owner == id(value) and n in vars(value))
    # Slots are no part of the watch, since each call replaces their arrays.
    scope.objects.append(value)
    scope.slots.extend((value, name) for name in slots)
    kind = type(value)
    scope.visit(kind, kind.__name__)
    if _is_own_class(kind):
        watch_attributes(scope, value, label, slots)
        return
    # Of which this package reads what it likes.
    scope.add(scope.watch.add_attributes, label, value, slots)
    for name, part in list(vars(value).items()):
        if name not in slots:
            scope.visit(part, f'{label}.{name}')


_OPEN_CLASSES = {object, device_resident.DeviceResident, link.Link, link.Chain}


def _is_own_class(kind: type) -> bool:
    """Tells whether only the program's own code reads attributes that it has set."""
    return not any(is_framework_module(c.__module__) for c in set(kind.__mro__) - _OPEN_CLASSES)


def _watch_link_hook(scope: Scope, value: link_hook.LinkHook, label: str) -> None:
    """Watches a hook of a link, whose kernels are a part of the plan."""
    # Those of programs are code like any other, which recordings observe. What others of this
    # package do, such as to measure time, no trace would see.
    for cls in type(value).__mro__:
        # Classes state it themselves, as a subclass may do more.
        if is_framework_module(cls.__module__) and not vars(cls).get('_calls_kernels_only'):
            raise GraphBreak(f'{label} is the hook {cls.__name__}, whose effects no plan repeats')
    _watch_object(scope, value, label)


def _watch_slots(scope: Scope, value: Any, label: str) -> None:
    """Watches an object of the program whose class has slots."""
    kind = type(value)
    scope.visit(kind, kind.__name__)
    for cls in kind.__mro__:
        for name, member in vars(cls).items():
            if type(member) is types.MemberDescriptorType:
                # An empty slot may be filled later, which nothing notices.
                if getattr(kind, name) is not member or not hasattr(value, name):
                    raise GraphBreak(f'the slot {name} of {label} is empty or hidden')
                scope.add(scope.watch.add_member, f'{label}.{name}', value, name)
                scope.visit_if_read(name, getattr(value, name), f'{label}.{name}')
    if hasattr(value, '__dict__'):
        watch_attributes(scope, value, label)


def _watch_value(scope: Scope, value: Any, label: str) -> None:
    """Watches an object of a class that derives from those of immutable values."""
    kind = type(value)
    scope.visit(kind, kind.__name__)
    for base, iterate in VALUES.items():
        if issubclass(kind, base) and iterate is not None:
            watch_parts(scope, iterate(value), label)
    if hasattr(value, '__dict__'):
        watch_attributes(scope, value, label)


def _watch_trusted(scope: Scope, value: Any, label: str) -> None:
    """Watches an object of this package whose computations depend on its attributes only."""
    kind = type(value)
    scope.visit(kind, kind.__name__)
    watch_attributes(scope, value, label)


KINDS: dict[type, Kind] = {
    chx_ndarray: Kind(
        _watch_array,
        watched=names('grad'),
        fixed=names(
            'shape strides dtype device ndim size itemsize nbytes offset is_contiguous data_ptr '
            'data_size T mT __array_priority__'
        ),
    ),
    type(mixed16): Kind(watch_nothing),
}
#: By a class that the type derives from.
BASES: dict[type, Kind] = {
    Variable: Kind(_watch_variable),
    link.Link: Kind(_watch_object),
    link_hook.LinkHook: Kind(_watch_link_hook),
    initializer.Initializer: Kind(_watch_trusted),
    _config.PretrainedConfig: Kind(_watch_object),
    backend.Device: Kind(_watch_trusted),
    # The scope watches the configuration.
    configuration.GlobalConfig: Kind(watch_nothing),
    configuration.LocalConfig: Kind(watch_nothing),
}
VALUE = Kind(_watch_value, fixed=names('real imag numerator denominator'))
OBJECT = Kind(_watch_object)
SLOTTED = Kind(_watch_slots)
