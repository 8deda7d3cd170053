"""Walks through the parameters of a link and its descendants."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from chainer._core.models import link_errors, link_registry
from chainer._core.models.link_storage import LinkStorage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer._core.models.link import Link
    from chainer.variable import Parameter


class LinkWalks(LinkStorage):
    """Tree of links, of which a walk visits the parameters or the links."""

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        """Yields all parameters of the link and its descendants.

        A link's own parameters come first, sorted by name, then those of its
        children.

        Args:
            include_uninit (bool): Whether to include uninitialized ones.

        """
        d = self.__dict__
        for name in sorted(self._params):
            if include_uninit or d[name].is_initialized:
                yield d[name]
        for _, child in self._named_children():
            yield from child.params(include_uninit)

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Yields pairs of the path, like ``'/l1/W'``, and the parameter.

        Args:
            include_uninit (bool): Whether to include uninitialized ones.

        .. admonition:: Example

            >>> model = chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2, nobias=True))
            >>> [(name, param.shape) for name, param in model.namedparams()]
            [('/0/W', (4, 3)), ('/0/b', (4,)), ('/1/W', (2, 4))]

        """
        d = self.__dict__
        for name in sorted(self._params):
            if include_uninit or d[name].is_initialized:
                yield '/' + name, d[name]
        for name, child in self._named_children():
            for path, param in child.namedparams(include_uninit):
                yield f'/{name}{path}', param

    def links(self, skipself: bool = False) -> Iterator[Link]:
        """Yields the link and all its descendants.

        Args:
            skipself (bool): Whether to leave out the link itself.

        """
        if not skipself:
            link: Any = self
            yield link
        for _, child in self._named_children():
            yield from child.links()

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, Link]]:
        """Yields pairs of the path, like ``'/l1'``, and the link.

        Args:
            skipself (bool): Whether to leave out the link itself (``'/'``).

        """
        link: Any = self
        if not skipself:
            yield '/', link
        for name, child in self._named_children():
            yield '/' + name, child
            for path, link in child.namedlinks(True):
                yield f'/{name}{path}', link

    def children(self) -> Iterator[Link]:
        """Yields the child links."""
        for _, child in self._named_children():
            yield child

    def count_params(self) -> int:
        """Returns the number of elements of all parameters.

        Leaves out uninitialized parameters, with a warning.

        .. admonition:: Example

            >>> L.Linear(3, 4).count_params()  # weights and biases
            16

        """
        root: Any = self
        link_errors.warn_of_ignored_links(root, 2)
        size = 0
        for param in self.params():
            if param.is_initialized:
                size += param.size
            else:
                warnings.warn(
                    f'Parameter {param.name!r} has not been initialized, so the resulting count '
                    'will not include the number of parameters in it.',
                    stacklevel=2,
                )
        return size

    # -- gradients and updates

    def cleargrads(self) -> None:
        """Clears the gradients of all parameters; call it before ``backward``."""
        for param in self.params():
            param.cleargrad()

    def zerograds(self) -> None:
        """Fills the gradients of all parameters with zeros.

        .. deprecated:: v1.15
            Use :meth:`cleargrads`, which is faster.

        """
        warnings.warn(
            'Link.zerograds is deprecated. Use Link.cleargrads instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        for param in self.params():
            param.zerograd()

    def addgrads(self, link: Link) -> None:
        """Adds the gradients of another link of the same structure.

        Args:
            link (Link): Link whose gradients to add, on any device.

        """
        for name in sorted(self._params):
            self.__dict__[name].addgrad(link.__dict__[name])
        theirs = link_registry.children_of(link)
        for name, child in self._named_children():
            child.addgrads(theirs[name])

    def enable_update(self) -> None:
        """Makes optimizers update all parameters of the link."""
        self._set_update_enabled(True)

    def disable_update(self) -> None:
        """Makes optimizers skip all parameters of the link."""
        self._set_update_enabled(False)

    def _set_update_enabled(self, enabled: bool) -> None:
        for param in self.params():
            if param.update_rule is not None:
                param.update_rule.enabled = enabled

    @property
    def update_enabled(self) -> bool:
        """``True`` if optimizers update at least one parameter."""
        return any(
            param.update_rule is not None and param.update_rule.enabled for param in self.params()
        )
