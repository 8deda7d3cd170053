"""Containers and data of NumPy."""

from __future__ import annotations

import collections
import types
from typing import TYPE_CHECKING, Any

import numpy

from chainer.compilation._kinds.kind import Kind, names, watch_attributes, watch_parts
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    from chainer.compilation._kinds.kind import Scope

#: The largest array of NumPy whose elements are compared at each call, in bytes.
_MAX_DATA = 1 << 16


def _watch_items(scope: Scope, value: Any, label: str) -> None:
    scope.add(scope.watch.add_items, label, value)
    watch_parts(scope, list(value), label)  # of a dict the keys
    if isinstance(value, dict):
        watch_parts(scope, list(value.values()), label)


def _watch_ordered(scope: Scope, value: collections.OrderedDict[Any, Any], label: str) -> None:
    _watch_items(scope, value, label)
    scope.add(scope.watch.add_elements, label, value)  # `move_to_end` changes the order alone
    watch_attributes(scope, value, label)


def _watch_default(scope: Scope, value: collections.defaultdict[Any, Any], label: str) -> None:
    _watch_items(scope, value, label)
    scope.add(scope.watch.add_member, f'{label}.default_factory', value, 'default_factory')
    scope.visit(value.default_factory, f'{label}.default_factory')


def _watch_deque(scope: Scope, value: collections.deque[Any], label: str) -> None:
    # C++ has no way into a deque but iteration.
    scope.add(scope.watch.add_elements, label, value)
    watch_parts(scope, list(value), label)


def _watch_slice(scope: Scope, value: slice, label: str) -> None:
    watch_parts(scope, (value.start, value.stop, value.step), label)


def _watch_data(scope: Scope, value: numpy.ndarray[Any, Any], label: str) -> None:
    # Elements are compared with a copy at each call, which must cost little beside a run.
    if value.dtype.hasobject or value.nbytes > _MAX_DATA or not value.flags.c_contiguous:
        raise GraphBreak(
            f'{label} is an array of NumPy that is large, not contiguous or of objects: '
            'send it to the device before, or pass it as an argument'
        )
    if value.base is not None and 'base' in scope.names:
        raise GraphBreak(f'{label}.base cannot be watched')
    try:
        scope.add(scope.watch.add_data, label, value)
    except ValueError:  # such as dates
        raise GraphBreak(f'{label} is an array of {value.dtype}, which cannot be watched') from None


_PARTS = Kind(watch_parts)
_ITEMS = Kind(_watch_items)
KINDS: dict[type, Kind] = {
    tuple: _PARTS,
    frozenset: _PARTS,
    list: _ITEMS,
    dict: _ITEMS,
    set: _ITEMS,
    collections.OrderedDict: Kind(_watch_ordered),
    collections.defaultdict: Kind(_watch_default, watched=names('default_factory')),
    collections.deque: Kind(_watch_deque, fixed=names('maxlen')),
    types.SimpleNamespace: Kind(watch_attributes),
    slice: Kind(_watch_slice, fixed=names('start stop step')),
    numpy.ndarray: Kind(
        _watch_data,
        watched=names(
            'ndim shape strides data itemsize size nbytes dtype real imag flat T mT flags'
        ),
        fixed=names('ctypes device __array_interface__ __array_struct__ __array_priority__'),
        named=names('base'),
    ),
}
