"""Types for annotations: what texts and errors read of links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chainer._core.variables.parameter import Parameter


class LinkTree(Protocol):
    """A link with its parameters and its descendants."""

    _params: Any
    _containers: frozenset[str]

    @property
    def printable_specs(self) -> Iterable[tuple[str, Any]]: ...
    def _named_children(self) -> Iterable[tuple[str, LinkTree]]: ...
    def params(self, include_uninit: bool = True) -> Iterator[Parameter]: ...
    def links(self, skipself: bool = False) -> Iterator[LinkTree]: ...
    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, LinkTree]]: ...
