"""What a function reads besides its arguments, and a watch over it.

All objects that code of the program can reach are watched: from the closures, defaults and global
names of the functions that ran. An object of an unknown kind is a graph break.
"""

from __future__ import annotations

import copy
import itertools
import operator
import types
from typing import TYPE_CHECKING, Any

from chainer import configuration
from chainer._core.engines import plan_data
from chainer.compilation import _code
from chainer.compilation._kinds.optimizers import is_scalar
from chainer.compilation._kinds.ownership import READ_UNNAMED
from chainer.compilation._kinds.table import find_kind
from chainer.compilation._trace import GraphBreak, describe, is_framework_module
from chainer.compilation._trees import CONSTANTS, is_constant
from chainer.variable import Parameter, Variable
from chainerx import _internal

if TYPE_CHECKING:
    from chainer.compilation._kinds.kind import Kind


class _ReadsAnyAttribute(Exception):  # noqa: N818 - it is no error of the program
    """Code has a function that reads attributes by names which it makes."""


class Scope:
    """The objects that a function reads, as they are now.

    A walk costs as much as ten eager calls of a small model, and hundreds of plans that watch the
    same objects, one for each batch size, would cost much memory. So a scope in which nothing has
    changed serves the recordings that follow, each with a :meth:`branch`.

    Args:
        roots: The functions and other objects from which all others are reached.
        codes (dict): The code that is known to run, by ``id``.
        slots (dict): Objects, by pairs of their ``id`` and the name of an attribute whose arrays
            change from call to call.
        graphs (dict): The same for those through whose graphs a later call went on.

    Attributes:
        watch: Notices changes of the objects.
        labels (list of str): What each entry of the watch is.
        known (dict): The objects, by ``id``.
        arrays (list): The arrays among them.
        variables (list): The variables among them, such as parameters.
        optimizers (list): The optimizers among them.
        passes_loss_scales (bool): Whether code reads loss scales only to pass them to ``backward``.
        scaling (dict): The optimizers whose loss scale runs read again, by ``id``.
        objects (list): Those whose attributes may be slots.
        slots (list): Pairs of an object and a name.
        slot_ids (dict): The argument ``slots``, to which the scope adds.
        graph_ids (dict): The argument ``graphs``, to which recordings add.
        shared (dict): What recordings of the scope share, with the guards of it, by ``id`` of an
            optimizer.
        names (set of str): Names by which code may read attributes.
        reads_any (bool): Whether it may read them by other names, too.

    """

    def __init__(
        self,
        roots: list[Any],
        codes: dict[int, types.CodeType],
        slots: dict[tuple[int, str], Any],
        graphs: dict[tuple[int, str], Any],
    ) -> None:
        self.codes = codes
        self.slot_ids = slots
        self.graph_ids = graphs
        self.names = {name for code in codes.values() for name in _code.names_in(code)}
        self.reads_any = _code.reads_any_attribute(codes.values(), self.names)
        try:
            self._visit_all(roots)
        except _ReadsAnyAttribute:
            self.reads_any = True
            self._visit_all(roots)

    def branch(self) -> Scope:
        """Returns a scope with the same objects, to which a recording can add others.

        What is added to it is not added to this one.
        """
        # The watch of the trunk is not copied: its entries are most of the memory of a scope, and
        # all branches ask the same one.
        scope = self._copy()
        scope._trunk = self
        return scope

    def part(self) -> Scope:
        """Returns a scope for guards which a branch and those after it can include."""
        # Of the trunk: what this branch has found itself, others have not.
        scope = self._base._copy()
        scope.shared = {}  # which may have the part, and would keep itself alive
        return scope

    def include(self, part: Scope) -> None:
        """Adds the guards and the objects of a part."""
        if any(part is other for other in self._parts):
            return
        self._parts.append(part)
        base = self._base
        self.known.update(itertools.islice(part.known.items(), len(base.known), None))
        self._found |= part._found
        for mine, others, old in zip(self._lists, part._lists, base._lists):
            mine += others[len(old) :]

    def watches_as(self, other: Scope) -> bool:
        """Tells whether two branches are guards of the same."""
        # What each has noted itself is the same, too, if it is still so for both.
        return (
            self._trunk is other._trunk
            and len(self._parts) == len(other._parts)
            and all(map(operator.is_, self._parts, other._parts))
            and self._entries == other._entries
            and self.watch.find_change() < 0
            and other.watch.find_change() < 0
        )

    @property
    def _base(self) -> Scope:
        return self if self._trunk is None else self._trunk

    def _copy(self) -> Scope:
        """Returns a scope with the same objects and no guards."""
        scope = copy.copy(self)
        scope._trunk = None
        scope._start_watch()
        scope.known = dict(self.known)
        # What effects visit here must not count as known in another recording, which has not
        # watched it.
        scope._found = set(self._found)
        scope._set_lists(*[list(part) for part in self._lists])
        return scope

    def _start_watch(self) -> None:
        self.watch = _internal.Watch()
        self.labels: list[str] = []
        self._watched: list[Any] = []
        self._entries: list[tuple[Any, ...]] = []
        self._kinds: dict[type, Kind] = {}  # found so far: to find one takes microseconds
        self._parts: list[Scope] = []

    def _set_lists(
        self,
        arrays: list[Any],
        variables: list[Variable],
        optimizers: list[Any],
        slots: list[tuple[Any, str]],
        objects: list[Any],
    ) -> None:
        self.arrays, self.variables, self.optimizers = arrays, variables, optimizers
        self.slots, self.objects = slots, objects
        self._lists: tuple[list[Any], ...] = arrays, variables, optimizers, slots, objects

    def _visit_all(self, roots: list[Any]) -> None:
        self._trunk: Scope | None = None
        self.shared: dict[int, tuple[Any, Scope]] = {}
        self._start_watch()
        self._set_lists([], [], [], [], [])
        self.known: dict[int, Any] = {}
        # Otherwise the scale is watched like any attribute.
        self.passes_loss_scales = not self.reads_any and _code.passes_loss_scales(
            self.codes.values()
        )
        self.scaling: dict[int, Any] = {}
        self._found: set[int] = set()  # ids of code
        for root in roots:
            has_name = type(root) in (types.FunctionType, types.MethodType)
            self.visit(root, root.__name__ if has_name else type(root).__name__)
        # Functions make variables, which may be of use wherever no program names them.
        self.visit(Variable, 'Variable')
        self.visit(Parameter, 'Parameter')
        # Any function may read the configuration, without the program's naming it.
        self._visit_config(configuration.global_config, 'chainer.global_config')
        self._visit_config(configuration.config, 'chainer.config')

    def _visit_config(self, config: Any, label: str) -> None:
        for cls in type(config).__mro__[:-1]:  # a local one has a class of its own
            self.add(self.watch.add_class, label, cls)
        entries = vars(config)
        self.add(self.watch.add_items, label, entries)
        for name, value in list(entries.items()):
            if name != '_mirrors':
                self.visit_if_read(name, value, f'{label}.{name}')

    # -- what has changed

    def watches(self) -> list[Any]:
        """Returns the watches that tell whether something has changed."""
        return [scope.watch for scope in self._scopes()]

    def is_unchanged(self) -> bool:
        """Tells whether all is as it was."""
        return all([watch.find_change() < 0 for watch in self.watches()])

    def find_change(self) -> str | None:
        """Tells what has changed, or returns ``None``."""
        changes = self.find_changes()
        return changes[0][1] if changes else None

    def find_changes(self) -> list[tuple[Any, str]]:
        """Returns all changed things, and what each is."""
        return [
            (scope._watched[i], scope.labels[i])
            for scope in self._scopes()
            for i in scope.watch.find_changes()
        ]

    def _scopes(self) -> list[Scope]:
        """Returns the scopes that have the guards."""
        return [*([] if self._trunk is None else [self._trunk]), *self._parts, self]

    def all_labels(self) -> list[str]:
        """Returns what the guards watch, each once."""
        return list(dict.fromkeys(label for scope in self._scopes() for label in scope.labels))

    def lines_that_store(self, name: str) -> str:
        """Names the lines that set an attribute."""
        return _code.lines_with(self.codes.values(), ('STORE_ATTR',), name)

    def lines_that_read(self, name: str) -> str:
        """Names the lines that read an attribute."""
        return _code.lines_with(self.codes.values(), _code.ATTRIBUTE_LOADS, name)

    def check_code(self, codes: dict[int, types.CodeType]) -> None:
        """Raises if code that ran is not that of a function which is watched."""
        for code in codes.values():
            if id(code) not in self._found:
                line = describe(code, code.co_firstlineno)
                raise GraphBreak(f'{code.co_name} cannot be found before it is called ({line})')

    # -- for the kinds of objects

    def add(self, method: Any, label: str, *args: Any) -> None:
        """Adds to the watch."""
        method(*args)
        self._watched.append(args[0])
        self.labels.append(label)
        # By identity, as the watch compares objects; it keeps them alive.
        self._entries.append((method.__name__, id(args[0]), args[1:]))

    def visit(self, value: Any, label: str) -> None:
        """Watches an object and those that it refers to.

        Raises:
            GraphBreak: If that is not possible.

        """
        # The most frequent first: a walk comes to each object many times.
        if type(value) in CONSTANTS or id(value) in self.known or is_constant(value):
            return
        kind = self._kinds.get(type(value)) or self._find_kind(value, label)
        lengths = [*map(len, self._lists)]
        count = len(self.known)
        # Before its parts, which may refer to it.
        self.known[id(value)] = value
        try:
            kind.watch(self, value, label)
        except GraphBreak:
            # The caller may go on without this object; for the next one it is a graph break, too.
            self._forget(count, lengths)
            raise

    def _find_kind(self, value: Any, label: str) -> Kind:
        """Returns the kind of objects of a type, of which code may read what is watched only."""
        reason = plan_data.reason_to_refuse(type(value))
        if reason is not None:
            raise GraphBreak(f'{label} is a {type(value).__name__}, {reason}')
        kind = find_kind(type(value))
        if kind is None:
            name = f'{type(value).__module__}.{type(value).__name__}'
            raise GraphBreak(
                f'{label} is {name}, which cannot be watched: read it before the call, and pass '
                'what it gives as an argument'
            )
        for name in sorted(kind.ended & self.names):
            lines = self.lines_that_read(name)
            raise GraphBreak(f'{name} of {label} is read, which cannot be watched{lines}')
        self._kinds[type(value)] = kind
        return kind

    def _forget(self, count: int, lengths: list[int]) -> None:
        """Takes back all objects but the first ones."""
        for key in list(self.known)[count:]:
            del self.known[key]
        for part, length in zip(self._lists, lengths):
            del part[length:]

    def visit_if_read(self, name: str, value: Any, label: str) -> None:
        """Watches an attribute, whose kind must be known if code may read it."""
        try:
            self.visit(value, label)
        except GraphBreak as error:
            if self.may_read(name, value):
                raise _at(error, self.lines_that_read(name)) from None

    def may_name(self, name: str) -> bool:
        """Tells whether code that ran may read attributes of a name."""
        return self.reads_any or name in self.names

    def may_read(self, name: str, value: Any) -> bool:
        """Tells whether code that ran may read an attribute, or this package for it."""
        kind = type(value)  # an object may lie about its class
        return (
            self.may_name(name)
            or issubclass(kind, READ_UNNAMED)
            or (kind is types.FunctionType and id(value.__code__) in self.codes)
        )

    def note_reader(self, name: str) -> None:
        """Notes that code has a function in C of a name, perhaps by another name."""
        if name in _code.READERS and not self.reads_any:
            raise _ReadsAnyAttribute

    # -- code

    def visit_variable(self, code: types.CodeType, name: str, value: Any) -> None:
        """Watches what a variable of an outer function has."""
        try:
            self.visit(value, name)
        except GraphBreak as error:
            raise _at(error, _code.lines_with([code], _code.CLOSURE_LOADS, name)) from None

    def visit_code(
        self, code: types.CodeType, variables: dict[str, Any], builtins: dict[str, Any]
    ) -> None:
        """Watches what code reads by names of its module."""
        self._found.add(id(code))
        for part in code.co_consts:
            if isinstance(part, types.CodeType):
                self.visit_code(part, variables, builtins)
        if id(code) not in self.codes:
            return
        for op, name, line in _code.instructions(code):
            if op in _code.IMPORTS or op in _code.GLOBAL_STORES:
                what = 'an import' if op in _code.IMPORTS else f'a change of {name}'
                raise GraphBreak(f'{what} ({describe(code, line)})')
        for path, line in _code.global_paths(code):
            try:
                self._visit_path(variables, builtins, path)
            except GraphBreak as error:
                raise _at(error, f' ({describe(code, line)})') from None

    def _visit_path(
        self, variables: dict[str, Any], builtins: dict[str, Any], path: list[str]
    ) -> None:
        name = path[0]
        self.add(self.watch.add_entry, name, variables, name)
        if name in variables:
            value = variables[name]
        else:
            self.add(self.watch.add_entry, name, builtins, name)
            if name not in builtins:
                raise GraphBreak(f'{name} is not defined')
            value = builtins[name]
        self._visit_attributes(value, name, path[1:])

    def _visit_attributes(self, value: Any, label: str, names: list[str]) -> None:
        """Watches what a chain of attributes of a module gives.

        Only the entries on the way are watched: modules hold far more than a program reads.
        """
        for name in names:
            if type(value) is not types.ModuleType:
                break
            label = f'{label}.{name}'
            if name not in vars(value) and not is_framework_module(value.__name__):
                raise GraphBreak(f'{label} cannot be watched')
            found = getattr(value, name, None)  # this package imports its parts at their first use
            self.add(self.watch.add_entry, label, vars(value), name)
            if found is None and name not in vars(value):
                return  # which code asks before it reads it, such as `hasattr(F, 'name')`
            value = found
        self.visit(value, label)


def _at(error: GraphBreak, lines: str) -> GraphBreak:
    """Adds lines of the program to the reason, if it has none yet."""
    return error if str(error).endswith(')') else GraphBreak(f'{error}{lines}')


class Scopes:
    """The scopes of the recordings of a function, which share one while nothing changes.

    Attributes:
        codes (dict): The code that is known to run, by ``id``.
        graphs (dict): Objects, by pairs of their ``id`` and the name of an attribute from whose
            array a call went on in the graph of the one before.

    """

    def __init__(self) -> None:
        self.codes: dict[int, types.CodeType] = {}
        # With the objects, as ids of dead ones would be those of others.
        self._slots: dict[tuple[int, str], Any] = {}
        self.graphs: dict[tuple[int, str], Any] = {}
        self._last: Scope | None = None
        self._state: Any = None

    def forget(self) -> None:
        """Forgets the last scope, which keeps objects alive."""
        self._last = None

    def find(self, environment: Any, roots: list[Any]) -> Scope:
        """Returns a branch of the scope of what is reached from roots.

        Raises:
            GraphBreak: If something cannot be watched.

        """
        scope = self._last
        if (
            scope is None
            or self._state != self._state_of(environment, roots)
            or not scope.is_unchanged()
            or not all([is_scalar(opt._loss_scale) for opt in scope.scaling.values()])
        ):
            self.forget()  # also if no other can be made
            scope = Scope(roots, self.codes, self._slots, self.graphs)
            # After the walk, which finds slots.
            self._last, self._state = scope, self._state_of(environment, roots)
        return scope.branch()

    def _state_of(self, environment: Any, roots: list[Any]) -> Any:
        """Returns what a walk depends on besides the objects that it watches itself.

        If neither has changed, nor the kinds of loss scales, another walk would find the same. So
        what a walk looks at without watching it has to be compared here or above. The environment
        has the thread, whose configuration is watched. Code and slots are only ever added; the
        scope keeps the roots alive, so that no others have their ids.
        """
        return environment, [id(root) for root in roots], len(self.codes), len(self._slots)
