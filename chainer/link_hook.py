"""The base class of link hooks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from chainer._core.reports import representation

if TYPE_CHECKING:
    from typing_extensions import Self

    from chainer._core.models.link import Link

_thread_local = threading.local()


def _get_link_hooks() -> dict[str, LinkHook]:
    """Returns the hooks that are active in this thread, by name."""
    try:
        return _thread_local.hooks
    except AttributeError:
        _thread_local.hooks = {}
        return _thread_local.hooks


class _ForwardPreprocessCallbackArgs:
    """Arguments of :meth:`LinkHook.forward_preprocess`."""

    def __init__(
        self, link: Link, forward_name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.link = link
        self.forward_name = forward_name
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        return (
            f'{type(self).__name__}(link={self.link!r}, forward_name={self.forward_name!r}, '
            f'args={self.args!r}, kwargs={self.kwargs!r})'
        )


class _ForwardPostprocessCallbackArgs(_ForwardPreprocessCallbackArgs):
    """Arguments of :meth:`LinkHook.forward_postprocess`."""

    def __init__(
        self, link: Link, forward_name: str, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
    ) -> None:
        super().__init__(link, forward_name, args, kwargs)
        self.out = out


class LinkHook:
    """Base class of link hooks, which run before and after links are called.

    Use a hook in a ``with`` statement, for every link called in this thread, or
    register it to one link with :meth:`chainer.Link.add_hook`.

    Attributes:
        name (str): Default name; only one hook of a name can be active.

    .. admonition:: Example

        >>> import chainer
        >>> class Shout(chainer.LinkHook):
        ...     name = 'Shout'
        ...     def forward_preprocess(self, args):
        ...         print(type(args.link).__name__)
        >>> model = chainer.Sequential()
        >>> with Shout():
        ...     _ = model(1)
        Sequential

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    name = 'LinkHook'
    #: For plans of compiled functions: whether arrays are all that the methods change.
    _calls_kernels_only = True
    #: Method that calls the link itself, with all other hooks: ``(link, call, args, kwargs)``.
    _surround: Any = None

    def __enter__(self) -> Self:
        hooks = _get_link_hooks()
        if self.name in hooks:
            raise KeyError(f'hook {self.name} already exists')
        hooks[self.name] = self
        self.added(None)
        return self

    def __exit__(self, *_: object) -> None:
        del _get_link_hooks()[self.name]
        self.deleted(None)

    def added(self, link: Link | None) -> None:
        """Called when the hook is registered.

        Args:
            link (chainer.Link): The link, or ``None`` for a ``with`` statement.

        """

    def deleted(self, link: Link | None) -> None:
        """Called when the hook is unregistered.

        Args:
            link (chainer.Link): The link, or ``None`` for a ``with`` statement.

        """

    def forward_preprocess(self, args: _ForwardPreprocessCallbackArgs) -> None:
        """Called before a link is called.

        Args:
            args: Object with the attributes ``link``, ``forward_name``
                (``'forward'``), ``args`` and ``kwargs``.

        """

    def forward_postprocess(self, args: _ForwardPostprocessCallbackArgs) -> None:
        """Called after a link is called.

        Args:
            args: Object with the attributes of :meth:`forward_preprocess`, and
                ``out``, the result of the link.

        """
