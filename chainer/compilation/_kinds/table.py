"""The table of kinds."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from chainer import device_resident
from chainer.compilation._kinds import classes, containers, functions, objects, optimizers
from chainer.compilation._kinds.objects import OBJECT, SLOTTED, VALUE, VALUES
from chainer.compilation._trace import is_framework_module

if TYPE_CHECKING:
    from chainer.compilation._kinds.kind import Kind

_MADE_BY_PYTHON = 1 << 9  # a flag of classes
KINDS: dict[type, Kind] = {**objects.KINDS, **containers.KINDS, **functions.KINDS}
#: By a class that the type derives from, where the type itself has no row.
BASES: dict[type, Kind] = {
    **objects.BASES,
    **optimizers.BASES,
    types.ModuleType: classes.MODULE,
    type: classes.CLASS,
}


def find_kind(kind: type) -> Kind | None:
    """Returns the row of a type, or ``None`` if objects of it cannot be watched."""
    row = KINDS.get(kind)
    if row is not None:
        return row
    for base, row in BASES.items():
        if issubclass(kind, base):
            # Classes of other packages in between may do what nobody knows.
            others = set(kind.__mro__) - set(base.__mro__)
            is_known = all(_adds_attributes(c) or is_framework_module(c.__module__) for c in others)
            return row if is_known or base is type else None
    # An object of plain attributes is watched as a whole; one that also has slots or memory of C by
    # what its classes declare.
    if all(map(_adds_attributes, kind.__mro__)):
        return OBJECT if _has_attributes_only(kind) else None
    if all(cls in VALUES or _adds_attributes(cls) for cls in kind.__mro__):
        return VALUE
    return SLOTTED if all(map(_is_made_by_program, kind.__mro__)) else None


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
