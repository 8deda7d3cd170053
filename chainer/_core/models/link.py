"""The base of links. :mod:`chainer.link` is the public module."""

from __future__ import annotations

import contextlib
import copy
import numbers
import warnings
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import numpy

from chainer import (
    backend,
    device_resident,
    initializers,
    link_hook,
    variable,
)
from chainer._core.devices.array_types import get_array_types
from chainer._core.models import link_errors, link_html, saving
from chainer._core.names import hints
from chainer.utils.type_check import InvalidType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from chainer._core.settings.types import DTypeSpec, InitializerSpec, ShapeSpec
    from chainer.device_resident import DeviceResidentsVisitor
    from chainer.link_hook import LinkHook
    from chainer.sequential import Sequential
    from chainer.serializer import AbstractSerializer
    from chainer.variable import Parameter


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


class Link(device_resident.DeviceResident):
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

    # -- calling

    if TYPE_CHECKING:  # Subclasses define `forward`, and `add_param` and `add_link` make attributes

        def forward(self, *args: Any, **kwargs: Any) -> Any: ...
        def __getattr__(self, name: str) -> Any: ...

    _params: Any = link_errors.NotInitialized()
    _persistent: Any = link_errors.NotInitialized()
    _containers: frozenset[str] = frozenset()  # attributes with lists of links

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
            except InvalidType as error:
                link_errors.explain(error, link, args, kwargs)
                raise

        hooks = list({**thread_hooks, **(local_hooks or {})}.values())
        pre_args = link_hook._ForwardPreprocessCallbackArgs(link, 'forward', args, kwargs)
        for hook in hooks:
            hook.forward_preprocess(pre_args)
        try:
            out = forward(*args, **kwargs)
        except InvalidType as error:
            link_errors.explain(error, link, args, kwargs)
            raise
        post_args = link_hook._ForwardPostprocessCallbackArgs(link, 'forward', args, kwargs, out)
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

    # -- registration

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

    # -- walking through parameters and links

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        """Yields the names and child links, in the order of all walks."""
        return iter(())

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
            yield self
        for _, child in self._named_children():
            yield from child.links()

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, Link]]:
        """Yields pairs of the path, like ``'/l1'``, and the link.

        Args:
            skipself (bool): Whether to leave out the link itself (``'/'``).

        """
        if not skipself:
            yield '/', self
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
        link_errors.warn_of_ignored_links(self, 2)
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

    @property
    def _device_id(self) -> Any:
        """Id of the CUDA device, or ``None``: the predecessor of ``device``."""
        warnings.warn(
            'Link._device_id is left only for backward compatibility and likely to be removed. '
            'Use Link.device instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        device = self.device
        return device.device.id if isinstance(device, backend.GpuDevice) else None

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
        theirs = dict(link._named_children())
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
        theirs = dict(link._named_children())
        for name, child in self._named_children():
            child.copyparams(theirs[name], copy_persistent)

    # -- devices and serialization

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        super().device_resident_accept(visitor)
        d = self.__dict__
        for name in sorted(self._params):
            visitor.visit_variable(d[name])
        arrays = get_array_types()
        for name in sorted(self._persistent):
            value = d[name]
            if isinstance(value, arrays):
                d[name] = visitor.visit_array(value)
            elif isinstance(value, variable.Variable):
                visitor.visit_variable(value)
            elif isinstance(value, device_resident.DeviceResident):
                value.device_resident_accept(visitor)
        for _, child in self._named_children():
            child.device_resident_accept(visitor)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads the parameters and persistent values.

        Args:
            serializer (~chainer.AbstractSerializer): Serializer or
                deserializer. A loaded value initializes an uninitialized
                parameter.

        """
        d = self.__dict__
        saving.remember(serializer, self)
        for name in sorted(self._params):
            param = d[name]
            data = serializer(name, param.array)
            if data is not None and not param.is_initialized:
                _initialize_by_loading(param, data, serializer)
        arrays = get_array_types()
        for name in sorted(self._persistent):
            value = serializer(name, d[name])
            if d[name] is None and isinstance(value, arrays):
                value = self.device.send(value)
            d[name] = value
        for name, child in self._named_children():
            child.serialize(serializer[name])


hints.attach(Link, 'Link')


def _initialize_by_loading(param: Parameter, data: Any, serializer: AbstractSerializer) -> None:
    journal = getattr(serializer, '_journal', None)
    if journal is not None:

        def undo() -> None:
            param.array = None

        journal.append(undo)
    param.initialize(data.shape)
    backend.copyto(param.array, data.astype(param.dtype, copy=False))
