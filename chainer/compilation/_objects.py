"""The kinds of this package's objects, and of those of the program's own classes."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from chainer import backend, configuration, device_resident, initializer, link, optimizer
from chainer._core.settings.mixed16 import mixed16
from chainer.compilation import _kinds
from chainer.compilation._kinds import Kind, names, watch_attributes, watch_nothing
from chainer.compilation._trace import GraphBreak, is_framework_module
from chainer.compilation._trees import INNER_ATTRIBUTES, chx_ndarray
from chainer.variable import Variable

if TYPE_CHECKING:
    from chainer.compilation._scope import Scope

_MADE_BY_PYTHON = 1 << 9  # a flag of classes
#: Values that cannot change; objects of classes that derive from them may have attributes.
_VALUES = {int: None, float: None, complex: None, str: None, bytes: None, tuple: tuple.__iter__,
           frozenset: frozenset.__iter__}  # fmt: skip
#: Those that no computation reads. An initializer may be the array that the parameter has.
OF_PARAMETERS = 'initializer', 'update_rule', '_grad_initializer'
#: Attributes of optimizers and update rules that updates change, or that are watched otherwise.
_OF_UPDATES = frozenset(
    'target t epoch hyperparam update _state _pre_update_hooks _post_update_hooks'.split()
)


# -- arrays, variables and links


def _watch_array(scope: Scope, value: Any, label: str) -> None:
    if value.device.backend.name != 'native':
        raise GraphBreak(f'{label} is on {value.device.name}')
    if value._is_chained():
        raise GraphBreak(f'{label} belongs to the graph of an earlier computation')
    scope.add(scope.watch.add_array, label, value)
    scope.arrays.append(value)


def _watch_variable(scope: Scope, value: Variable, label: str) -> None:
    scope.add(scope.watch.add_attributes, label, value, ['_chainerx_array_cache'])
    scope.visit(type(value), type(value).__name__)
    scope.variables.append(value)
    if value._array is None:
        raise GraphBreak(f'{label} is not initialized')
    scope.visit(value._array, label)
    if value._layout is not None:
        raise GraphBreak(f'{label} has a memory layout')
    for name, part in list(vars(value).items()):
        if name not in INNER_ATTRIBUTES and (name not in OF_PARAMETERS or name in scope.names):
            scope.visit_if_read(name, part, f'{label}.{name}')


def _watch_object(scope: Scope, value: Any, label: str) -> None:
    """Watches a link or an object of the program, some of whose arrays may change at each call."""
    for name, part in vars(value).items():
        # What a call left there can only be replaced by the next one.
        if type(part) is Variable and type(part._array) is chx_ndarray:
            if part._array._is_chained():
                scope.slot_ids[id(value), name] = value
    slots = tuple(name for owner, name in scope.slot_ids if owner == id(value))
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


def _watch_slots(scope: Scope, value: Any, label: str) -> None:
    """Watches an object of the program whose class has slots."""
    kind = type(value)
    scope.visit(kind, kind.__name__)
    for cls in kind.__mro__:
        for name, member in vars(cls).items():
            if type(member) is types.MemberDescriptorType:
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
    for base, iterate in _VALUES.items():
        if issubclass(kind, base) and iterate is not None:
            _kinds.watch_parts(scope, iterate(value), label)
    if hasattr(value, '__dict__'):
        watch_attributes(scope, value, label)


def _watch_trusted(scope: Scope, value: Any, label: str) -> None:
    """Watches an object of this package whose computations depend on its attributes only."""
    kind = type(value)
    scope.visit(kind, kind.__name__)
    watch_attributes(scope, value, label)


# -- optimizers


def _watch_optimizer(scope: Scope, value: Any, label: str) -> None:
    update = type(value).update
    if update is not optimizer.GradientMethod.update or not _kinds.is_own_object(update):
        raise GraphBreak(f'{label} has an update of its own')
    scope.optimizers.append(value)
    if value.target is not None:
        scope.visit(value.target, f'{label}.target')
    _watch_rule(scope, value, label)


def _watch_rule(scope: Scope, value: Any, label: str) -> None:
    """Watches what code reads of an optimizer or an update rule; updates are no part of that."""
    kind = type(value)
    scope.visit(kind, kind.__name__)
    for name in sorted(scope.names):
        computed = getattr(kind, name, None)
        if isinstance(computed, property) and _kinds.is_own_object(computed):
            lines = scope.lines_that_read(name)
            raise GraphBreak(f'{label}.{name} is computed at each update{lines}')
    always = 'update', 'target', 'hyperparam', '_loss_scale', '_use_cleargrads'
    _watch_entries(scope, value, label, {*always})
    _watch_entries(scope, value.hyperparam, label, set())


def _watch_entries(scope: Scope, value: Any, label: str, always: set[str]) -> None:
    attributes = vars(value)
    read = (scope.names & attributes.keys()) | always
    if scope.reads_any:
        is_set = isinstance(value, optimizer.Hyperparameter)  # of numbers that may change at will
        read |= set() if is_set else attributes.keys() - _OF_UPDATES
    for name in sorted(read):
        scope.add(scope.watch.add_entry, f'{label}.{name}', attributes, name)
        if name in scope.names or name not in always:
            scope.visit_if_read(name, attributes.get(name), f'{label}.{name}')
    # Attributes that are not there may come.
    scope.add(scope.watch.add_attributes, f'attributes of {label}', value, tuple(attributes))


def _watch_hyperparameters(scope: Scope, value: Any, label: str) -> None:
    scope.visit(type(value), type(value).__name__)
    _watch_entries(scope, value, label, {'_parent'})
    scope.visit(value._parent, label)


# -- the table

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
    **_kinds.KINDS,
}
_LINK = Kind(_watch_object)
#: By a class that the type derives from.
BASES: dict[type, Kind] = {
    Variable: Kind(_watch_variable),
    link.Link: _LINK,
    optimizer.Optimizer: Kind(_watch_optimizer, ended=names('get_dict')),
    optimizer.UpdateRule: Kind(_watch_rule, ended=names('get_dict')),
    optimizer.Hyperparameter: Kind(_watch_hyperparameters, ended=names('get_dict')),
    initializer.Initializer: Kind(_watch_trusted),
    backend.Device: Kind(_watch_trusted),
    # The scope watches the configuration.
    configuration.GlobalConfig: Kind(watch_nothing),
    configuration.LocalConfig: Kind(watch_nothing),
    types.ModuleType: _kinds.MODULE,
    type: _kinds.CLASS,
}
_VALUE = Kind(_watch_value, fixed=names('real imag numerator denominator'))
_OBJECT = Kind(_watch_object)
_SLOTTED = Kind(_watch_slots)


def find_kind(kind: type) -> Kind | None:
    """Returns the row of a type, or ``None`` if objects of it cannot be watched."""
    row = KINDS.get(kind)
    if row is not None:
        return row
    for base, row in BASES.items():
        if issubclass(kind, base):
            others = set(kind.__mro__) - set(base.__mro__)
            is_known = all(_adds_attributes(c) or is_framework_module(c.__module__) for c in others)
            return row if is_known or base is type else None
    if all(map(_adds_attributes, kind.__mro__)):
        return _OBJECT if _has_attributes_only(kind) else None
    if all(cls in _VALUES or _adds_attributes(cls) for cls in kind.__mro__):
        return _VALUE
    return _SLOTTED if all(map(_is_made_by_program, kind.__mro__)) else None


def _adds_attributes(cls: type) -> bool:
    """Tells whether a class adds nothing to its objects but attributes in a dict."""
    return cls is device_resident.DeviceResident or (
        _is_made_by_program(cls) and not vars(cls).get('__slots__')
    )


def _is_made_by_program(cls: type) -> bool:
    return cls is object or (
        bool(cls.__flags__ & _MADE_BY_PYTHON)
        and '__getattribute__' not in vars(cls)
        and not is_framework_module(cls.__module__)
        and '__module__' in vars(cls)
    )


def _has_attributes_only(kind: type) -> bool:
    return kind is not object and kind.__basicsize__ <= _Plain.__basicsize__


class _Plain:
    pass
