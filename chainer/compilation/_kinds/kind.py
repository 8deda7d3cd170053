"""What a row of the table says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterable

    from chainer.variable import Variable


class Scope(Protocol):
    """What kinds know of :class:`chainer.compilation._scope.Scope`, which looks them up."""

    watch: Any
    known: dict[int, Any]
    names: set[str]
    reads_any: bool
    arrays: list[Any]
    variables: list[Variable]
    optimizers: list[Any]
    objects: list[Any]
    slots: list[tuple[Any, str]]
    slot_ids: dict[tuple[int, str], Any]
    passes_loss_scales: bool
    scaling: dict[int, Any]

    def add(self, method: Any, label: str, *args: Any) -> None: ...
    def visit(self, value: Any, label: str) -> None: ...
    def visit_if_read(self, name: str, value: Any, label: str) -> None: ...
    def may_name(self, name: str) -> bool: ...
    def may_read(self, name: str, value: Any) -> bool: ...
    def note_reader(self, name: str) -> None: ...
    def lines_that_read(self, name: str) -> str: ...
    def visit_variable(self, code: types.CodeType, name: str, value: Any) -> None: ...
    def visit_code(
        self, code: types.CodeType, variables: dict[str, Any], builtins: dict[str, Any]
    ) -> None: ...


class Kind(NamedTuple):
    """A row of the table.

    Attributes:
        watch: Lets a scope watch an object, and visit those that it refers to.
        watched: Members of its types, besides ``__dict__``, whose changes are noticed.
        fixed: Members that cannot change in the life of an object.
        named: Members that are watched if code names them.
        ended: Members that nothing watches: code that names one ends the plan.

    """

    watch: Callable[[Scope, Any, str], None]
    watched: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def watch_nothing(scope: Scope, value: Any, label: str) -> None:
    """Watches what cannot change, and refers to nothing that can."""


def watch_attributes(scope: Scope, value: Any, label: str, ignored: tuple[str, ...] = ()) -> None:
    """Watches the dict of attributes, and visits what is in it."""
    scope.add(scope.watch.add_attributes, label, value, ignored)
    for name, part in list(vars(value).items()):
        if name not in ignored:
            scope.visit_if_read(name, part, f'{label}.{name}')


def watch_parts(scope: Scope, value: Iterable[Any], label: str) -> None:
    """Visits objects that another one, which cannot change, refers to."""
    for part in value:
        scope.visit(part, label)
