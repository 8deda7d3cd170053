"""The base of links. :mod:`chainer.link` is the public module."""

from __future__ import annotations

import copy
import numbers
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import numpy

from chainer import (
    backend,
    link_hook,
)
from chainer._core.devices.array_types import get_array_types
from chainer._core.models import link_errors, link_html, link_registry
from chainer._core.models.link_walks import LinkWalks
from chainer._core.names import hints
from chainer.utils.type_check import InvalidType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from chainer.link_hook import LinkHook
    from chainer.sequential import Sequential


if TYPE_CHECKING:
    _P = ParamSpec('_P')
    _R = TypeVar('_R', covariant=True)

    class _HasForward(Protocol[_P, _R]):
        def forward(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...


_COPY_MODES = ('share', 'copy', 'init')


def check_copy_mode(mode: str) -> None:
    if mode not in _COPY_MODES:
        raise ValueError(
            "The 'mode' argument should be either 'init', 'copy', or 'share'. "
            f'But {mode!r} was given.'
        )


def _split_shape_dtype(spec: Any) -> Any:
    """Reads ``shape`` or ``(shape, dtype)`` of the keyword constructor of links."""
    is_shape = isinstance(spec, numbers.Integral) or (
        all(isinstance(n, numbers.Integral) for n in spec)
    )
    return (spec, numpy.float32) if is_shape else spec


def indent(lines: str) -> str:
    return ''.join(f'  {line}\n' for line in lines.splitlines())


class Link(LinkWalks):
    """A building block of a model: parameters and a computation on them.

    Subclasses make their parameters in ``__init__``, inside the block of
    :meth:`init_scope`, and compute in ``forward``. Calling the link runs ``forward``.

    Links also have *persistent values*: arrays and scalars, such as running means,
    that are saved and moved with the parameters but not trained.

    Args:
        params: Names and shapes of initial parameters, each a shape or a pair
            of a shape and a dtype (float32 by default), filled with NaN.
            Prefer :meth:`init_scope`.

    Attributes:
        name (str): Name of this link in its parent, or ``None``.

    .. admonition:: Example

        >>> import chainer
        >>> import chainer.functions as F
        >>> class LinearLayer(chainer.Link):
        ...     def __init__(self, n_in, n_out):
        ...         super().__init__()
        ...         with self.init_scope():
        ...             self.W = chainer.Parameter(
        ...                 chainer.initializers.Normal(), (n_out, n_in))
        ...             self.b = chainer.Parameter(0, (n_out,))
        ...     def forward(self, x):
        ...         return F.linear(x, self.W, self.b)
        >>> [name for name, _ in LinearLayer(3, 2).namedparams()]
        ['/W', '/b']

    """

    __module__ = 'chainer.link'

    if TYPE_CHECKING:  # Subclasses define `forward`, and `add_param` and `add_link` make attributes

        def forward(self, *args: Any, **kwargs: Any) -> Any: ...
        def __getattr__(self, name: str) -> Any: ...

    # Class for `repeat`, set by `chainer.sequential`, which builds on links.
    _sequential_class: type[Sequential]
    _has_mixin_call = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        mixins = cls.__mro__[cls.__mro__.index(Link) + 1 :]
        cls._has_mixin_call = any('__call__' in mixin.__dict__ for mixin in mixins)

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._params = set()
        self._persistent = set()
        self._local_link_hooks: dict[str, LinkHook] | None = None
        self._within_init_scope = False
        self.name: str | None = None
        for name, spec in params.items():
            shape, dtype = _split_shape_dtype(spec)
            self.add_param(name, shape, dtype=dtype)

    def __str__(self) -> str:
        specs = ', '.join(f'{name}={value}' for name, value in self.printable_specs)
        return f'{type(self).__name__}({specs})'

    def __repr__(self) -> str:
        try:
            return str(self)
        except AttributeError:  # in the midst of a constructor, where debuggers ask for it
            return f'{type(self).__name__}(...)'

    def _repr_html_(self) -> str | None:
        return link_html.render(self) if '_params' in self.__dict__ else None

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of the names and values that ``str(link)`` shows."""
        return iter(())

    # -- calling

    def __call__(self: _HasForward[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Runs ``forward`` with the given arguments, and the active link hooks.

        Runs the ``__call__`` of a mixin (a class after ``Link`` in the order of inheritance)
        instead, if there is one.
        """
        link: Any = self  # checkers see `forward` only
        if link._has_mixin_call:
            mixin: Any = super(Link, link)
            forward = mixin.__call__
        else:
            forward = getattr(link, 'forward', None)
        if forward is None:
            raise AttributeError(
                f'{type(self).__name__} object has neither the method "__call__" overridden nor '
                'the method "forward" defined.'
            )
        thread_hooks = link_hook._get_link_hooks()
        try:
            local_hooks = link._local_link_hooks
        except AttributeError:
            link._check_initialized()
            raise
        if not thread_hooks and not local_hooks:
            try:
                return forward(*args, **kwargs)
            except (InvalidType, TypeError) as error:
                link_errors.explain(error, link, args, kwargs)
                raise

        hooks = list({**thread_hooks, **(local_hooks or {})}.values())
        return link._call_with_hooks(hooks, forward, args, kwargs)

    def _call_with_hooks(
        self, hooks: list[LinkHook], forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        outer = next((hook for hook in hooks if hook._surround is not None), None)
        if outer is not None:
            rest = [hook for hook in hooks if hook is not outer]
            return outer._surround(
                self, lambda *a, **kw: self._call_with_hooks(rest, forward, a, kw), args, kwargs
            )
        pre_args = link_hook._ForwardPreprocessCallbackArgs(self, 'forward', args, kwargs)
        for hook in hooks:
            hook.forward_preprocess(pre_args)
        try:
            out = forward(*args, **kwargs)
        except (InvalidType, TypeError) as error:
            link_errors.explain(error, self, args, kwargs)
            raise
        post_args = link_hook._ForwardPostprocessCallbackArgs(self, 'forward', args, kwargs, out)
        for hook in hooks:
            hook.forward_postprocess(post_args)
        return out

    @property
    def local_link_hooks(self) -> dict[str, LinkHook]:
        """Dictionary of the hooks registered to this link, by name."""
        if self._local_link_hooks is None:
            self._local_link_hooks = {}
        return self._local_link_hooks

    def add_hook(self, hook: LinkHook, name: str | None = None) -> Self:
        """Registers a link hook to this link.

        Args:
            hook (chainer.LinkHook): The hook.
            name (str): Its name. If ``None``, ``hook.name``.

        Returns:
            This link.

        Raises:
            TypeError: If ``hook`` is not a link hook.
            KeyError: If the name is taken.

        """
        if not isinstance(hook, link_hook.LinkHook):
            raise TypeError(f'Hook must be of type LinkHook, but {type(hook)} was given')
        if name is None:
            name = hook.name
        if name in self.local_link_hooks:
            raise KeyError(f'Hook {name} already exists')
        self.local_link_hooks[name] = hook
        hook.added(self)
        return self

    def delete_hook(self, name: str) -> None:
        """Unregisters a link hook.

        Args:
            name (str): Name of the hook.

        Raises:
            KeyError: If there is no such hook.

        """
        if name not in self.local_link_hooks:
            raise KeyError(f'No hook named {name} is registered')
        self.local_link_hooks.pop(name).deleted(self)

    # -- copying

    @classmethod
    def from_params(cls, *args: Any, **kwargs: Any) -> Self:
        """Makes a link with given parameters, if the subclass supports it.

        Args:
            args: Arrays or variables of the parameters, and other arguments of the subclass.
            kwargs: Likewise.

        Returns:
            ~chainer.Link: New link with copies of the parameters.

        Raises:
            NotImplementedError: If the subclass does not support it.

        """
        raise NotImplementedError(f'{cls.__name__} does not provide from_params')

    def copy(self, mode: str = 'share') -> Self:
        """Copies the link.

        Args:
            mode (str): ``'share'`` makes new parameters, without gradients, on
                the same arrays. ``'copy'`` copies the arrays too. ``'init'``
                initializes the copied parameters again.

        Returns:
            Link: The copy.

        .. admonition:: Example

            >>> link = L.Linear(3, 4)
            >>> link.copy().W.array is link.W.array, link.copy('copy').W.array is link.W.array
            (True, False)

        """
        check_copy_mode(mode)
        if mode == 'share':
            return self._share()
        ret = copy.deepcopy(self)
        if mode == 'init':
            for param in ret.params(include_uninit=False):
                if param.initializer is not None:
                    param.initialize(param.shape)
        return ret

    def _share(self) -> Self:
        ret = copy.copy(self)
        ret._params = set(self._params)
        ret._persistent = set(self._persistent)
        if self._local_link_hooks:
            ret._local_link_hooks = dict(self._local_link_hooks)
        ret.name = None
        for name in ret._params:
            param = copy.copy(self.__dict__[name])
            param.grad = None
            ret.__dict__[name] = param
        return ret

    def repeat(self, n_repeat: int, mode: str = 'init') -> Sequential:
        """Makes a :class:`~chainer.Sequential` of copies of the link.

        Args:
            n_repeat (int): Number of copies.
            mode (str): See :meth:`copy`.

        .. admonition:: Example

            >>> import chainer.links as L
            >>> len(L.Linear(4, 4).repeat(3))
            3

        """
        check_copy_mode(mode)
        return self._sequential_class(*[self.copy(mode) for _ in range(n_repeat)])

    def copyparams(self, link: Link, copy_persistent: bool = True) -> None:
        """Copies the parameters of another link of the same structure into this one.

        Args:
            link (Link): Link to copy from. It may be on another device.
            copy_persistent (bool): Whether to copy persistent values, too.

        """
        dst, src = self.__dict__, link.__dict__
        for name in sorted(self._params):
            dst[name].copydata(src[name])
        if copy_persistent:
            arrays = get_array_types()
            for name in sorted(self._persistent):
                if isinstance(dst[name], arrays) and isinstance(src[name], arrays):
                    backend.copyto(dst[name], src[name])
                else:
                    dst[name] = copy.deepcopy(src[name])
        theirs = link_registry.children_of(link)
        for name, child in self._named_children():
            child.copyparams(theirs[name], copy_persistent)


hints.attach(Link, 'Link')
