"""Links made of others. :mod:`chainer.link` is the public module."""

from __future__ import annotations

import collections.abc
from typing import TYPE_CHECKING, Any, overload

from chainer._core.models import link_errors
from chainer._core.models.link import Link, indent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self


class Chain(Link):
    """A link made of named child links.

    Assign child links as attributes inside the block of :meth:`~Link.init_scope`.

    Args:
        links: Child links by name.

    .. admonition:: Example

        >>> import chainer
        >>> import chainer.functions as F
        >>> import chainer.links as L
        >>> class MLP(chainer.Chain):
        ...     def __init__(self):
        ...         super().__init__()
        ...         with self.init_scope():
        ...             self.l1 = L.Linear(3, 4)
        ...             self.l2 = L.Linear(4, 2)
        ...     def forward(self, x):
        ...         return self.l2(F.relu(self.l1(x)))
        >>> print(MLP())
        MLP(
          (l1): Linear(in_size=3, out_size=4, nobias=False),
          (l2): Linear(in_size=4, out_size=2, nobias=False),
        )

    """

    __module__ = 'chainer.link'

    _children: Any = link_errors.NotInitialized()

    def __init__(self, **links: Any) -> None:
        super().__init__()
        self._children = set()
        for name, link in links.items():
            self.add_link(name, link)

    def __str__(self) -> str:
        body = ''.join(indent(f'({child.name}): {child},') for child in self.children())
        return f'{type(self).__name__}({chr(10) + body if body else ""})'

    def __getitem__(self, name: str) -> Any:
        """Returns the attribute ``name``, usually a child link."""
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Link) and self.within_init_scope:
            if hasattr(self, name):
                raise AttributeError(f'cannot register a new link {name}: attribute exists')
            value.name = name
            self._children.add(name)
        elif isinstance(value, type) and self.within_init_scope:
            link_errors.warn_of_class(value, name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._children.discard(name)
        super().__delattr__(name)

    def add_link(self, name: str, link: Link) -> None:
        """Registers a child link.

        Args:
            name (str): Name of the child.
            link (Link): The child.

        Raises:
            AttributeError: If the name is taken.
            TypeError: If ``link`` is not a link.

        """
        if name in self.__dict__:
            raise AttributeError(f'cannot register a new link {name}: attribute exists')
        if not isinstance(link, Link):
            raise TypeError(f'cannot register a non-link object as a child: {name} is {type(link)}')
        with self.init_scope():
            setattr(self, name, link)

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        d = self.__dict__
        for name in sorted(self._children):
            yield name, d[name]

    def _share(self) -> Self:
        ret = super()._share()
        ret._children = set(self._children)
        for name in ret._children:
            child = self.__dict__[name].copy('share')
            child.name = name
            ret.__dict__[name] = child
        return ret


class ChainList(Link, collections.abc.MutableSequence[Any]):
    """A link made of a list of child links.

    Args:
        links (Link): Initial children.

    .. admonition:: Example

        >>> import chainer
        >>> import chainer.links as L
        >>> layers = chainer.ChainList(L.Linear(3, 4), L.Linear(4, 2, nobias=True))
        >>> [name for name, _ in layers.namedparams()]
        ['/0/W', '/0/b', '/1/W']

    """

    __module__ = 'chainer.link'

    _children: Any = link_errors.NotInitialized()

    def __init__(self, *links: Link) -> None:
        super().__init__()
        self._children = []
        for link in links:
            self.add_link(link)

    def __str__(self) -> str:
        body = ''.join(indent(f'({index}): {child},') for index, child in enumerate(self._children))
        return f'{type(self).__name__}({chr(10) + body if body else ""})'

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Link) and self.within_init_scope:
            raise TypeError(
                f'cannot register a new link {name} within a "with chainlist.init_scope():" '
                'block; use append'
            )
        super().__setattr__(name, value)

    @overload
    def __getitem__(self, index: int) -> Link: ...
    @overload
    def __getitem__(self, index: slice) -> list[Link]: ...
    def __getitem__(self, index: int | slice) -> Link | list[Link]:
        """Returns a child, or a list of children for a slice."""
        return self._children[index]

    def __setitem__(self, index: int | slice, value: Any) -> None:
        if isinstance(index, slice):
            value = list(value)
        for link in value if isinstance(index, slice) else [value]:
            _check_child(link)
        self._children[index] = value
        self._number_children()

    def __delitem__(self, index: int | slice) -> None:
        del self._children[index]
        self._number_children()

    def __iter__(self) -> Iterator[Link]:
        return iter(self._children)

    def __len__(self) -> int:
        return len(self._children)

    def _number_children(self) -> None:
        for index, child in enumerate(self._children):
            child.name = str(index)

    def insert(self, index: int, link: Link) -> None:
        """Inserts a child before the position ``index``.

        Args:
            index (int): Position.
            link (Link): The child.

        """
        _check_child(link)
        self._check_initialized()
        self._children.insert(index, link)
        self._number_children()

    def add_link(self, link: Link) -> None:
        """Appends a child; the same as ``append``.

        Args:
            link (Link): The child.

        """
        self.append(link)

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        for index, child in enumerate(self._children):
            yield str(index), child

    def _share(self) -> Self:
        ret = super()._share()
        ret._children = [child.copy('share') for child in self._children]
        ret._number_children()
        return ret


def _check_child(link: object) -> None:
    if not isinstance(link, Link):
        hint = ' (for a list of links, write ChainList(*links))' if isinstance(link, list) else ''
        raise TypeError(f'cannot register a non-link object as a child: {type(link)}{hint}')
