"""Registration of the parameters and persistent values of a link."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy

from chainer import device_resident, initializers, variable
from chainer._core.models import link_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chainer._core.models.types import LinkTree
    from chainer._core.settings.types import DTypeSpec, InitializerSpec, ShapeSpec


def params_of(link: LinkRegistry | LinkTree) -> dict[str, Any]:
    """Returns the parameters of a link itself, not of its children, by name and sorted by it."""
    return {name: link.__dict__[name] for name in sorted(link._params)}


def children_of(link: LinkRegistry | LinkTree) -> dict[str, Any]:
    """Returns the child links by name, in the order of all walks."""
    return dict(link._named_children())


class LinkRegistry(device_resident.DeviceResident):
    """Attributes of a link that are parameters or persistent values.

    Declares the state that the other parts of a link read, :class:`LinkStorage`, :class:`LinkWalks`
    and :class:`chainer.Link`.
    """

    _params: Any = link_errors.NotInitialized()
    _persistent: Any = link_errors.NotInitialized()
    _containers: frozenset[str] = frozenset()  # attributes with lists of links
    _within_init_scope: bool

    def _named_children(self) -> Iterable[tuple[str, Any]]:
        """Yields the names and child links, in the order of all walks."""
        return iter(())

    @property
    def within_init_scope(self) -> bool:
        """``True`` inside the block of :meth:`init_scope`."""
        return getattr(self, '_within_init_scope', False)

    @contextlib.contextmanager
    def init_scope(self) -> Iterator[None]:
        """Makes a block that registers assigned parameters and links.

        Outside of it they are ordinary attributes, unseen by optimizers and serializers.

        Raises:
            RuntimeError: If ``Link.__init__`` has not been called.
        """
        self._check_initialized()
        outer = self._within_init_scope
        before = dict(self.__dict__)
        self._within_init_scope = True
        try:
            yield
        finally:
            self._within_init_scope = outer
        self._note_containers(before)

    def _note_containers(self, before: Any) -> None:
        """Remembers lists of links set in an init scope, which registers none of them."""
        names = {
            name
            for name, value in self.__dict__.items()
            if isinstance(value, (list, tuple, dict))
            and value is not before.get(name)
            and next(link_errors.links_in(value), None) is not None
        }
        if names:
            self._containers = self._containers | names

    def _check_initialized(self) -> None:
        if '_params' not in self.__dict__:
            raise RuntimeError(link_errors.not_initialized(type(self)))

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, variable.Parameter) and self.within_init_scope:
            value.name = name
            self._params.add(name)
            self._persistent.discard(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._params.discard(name)
        self._persistent.discard(name)
        super().__delattr__(name)

    def add_param(
        self,
        name: str,
        shape: ShapeSpec | None = None,
        dtype: DTypeSpec = numpy.float32,
        initializer: InitializerSpec | None = None,
    ) -> None:
        """Makes and registers a parameter. Prefer :meth:`init_scope`.

        Args:
            name (str): Name of the parameter.
            shape (int or tuple of ints): Its shape. If ``None``, it is initialized
                later.
            dtype: Its data type.
            initializer: Its initializer, a scalar or an array. ``None`` fills it
                with NaN.

        Raises:
            AttributeError: If the name is taken.

        """
        self._check_initialized()
        if name in self.__dict__:
            raise AttributeError(f'cannot register a new parameter {name}: attribute exists')
        if initializer is None:
            initializer = initializers.NaN(dtype)
        with self.init_scope():
            setattr(self, name, variable.Parameter(initializer, shape))

    def add_persistent(self, name: str, value: Any) -> None:
        """Sets an attribute and registers it as a persistent value.

        Args:
            name (str): Name of the attribute.
            value: An array, a scalar, a string or ``None``.

        Raises:
            AttributeError: If the name is taken.

        """
        self._check_initialized()
        if name in self.__dict__:
            raise AttributeError(f'cannot register a new persistent value {name}: attribute exists')
        self._persistent.add(name)
        self._params.discard(name)
        super().__setattr__(name, value)

    def register_persistent(self, name: str) -> None:
        """Registers an existing attribute as a persistent value.

        Args:
            name (str): Name of the attribute.

        Raises:
            AttributeError: If there is no such attribute.

        """
        self._check_initialized()
        if not hasattr(self, name):
            raise AttributeError(
                f'cannot register non-existent attribute {name} as a persistent value'
            )
        self._persistent.add(name)
        self._params.discard(name)
