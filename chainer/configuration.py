"""Configuration: global defaults and their thread-local overrides."""

from __future__ import annotations

import contextlib
import difflib
import functools
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any, TextIO

from chainer._core.settings import environment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self


def _print_attrs(obj: Any, keys: Iterable[str], file: TextIO | None) -> None:
    keys = sorted(keys)
    width = max(map(len, keys), default=0)
    for key in keys:
        print(f'{key:<{width}} {getattr(obj, key)}', file=file or sys.stdout)


class GlobalConfig:
    """Configuration that all threads share.

    An entry applies to all threads that do not override it (see :class:`LocalConfig`).
    Any name is allowed: downstream packages keep their own entries here.

    Attributes:
        autotune (bool): Whether cuDNN looks for its fastest convolution algorithm.
        chainerx_fallback (str): Reaction to a function that falls back from ChainerX to NumPy or
            CuPy: ``'silent'``, ``'warn'``, ``'raise'`` or ``'report'`` (see
            :class:`chainer.FallbackReport`).
        compute_mode: Compute mode of ChainerX kernels.
        cudnn_deterministic (bool): Whether to use only deterministic cuDNN algorithms.
        cudnn_fast_batch_normalization (bool): Whether cuDNN may use its fast batch
            normalization, whose range of values is narrower.
        debug (bool): Debug mode: NaN checks, call stacks of functions and more.
        dtype: Default dtype of parameters and of converted data: float16, float32, float64 or
            ``chainer.mixed16`` or ``'mixed_bfloat16'``.
        enable_backprop (bool): Whether to record computational graphs.
        exact_resume (str): Whether serializers also save what Chainer 7 does not, such as the
            states of the random generators: ``'always'``, ``'auto'`` (only in snapshots by
            :func:`chainer.training.extensions.snapshot`) or ``'never'``.
        in_recomputing (bool): ``True`` while :func:`chainer.functions.forget` recomputes.
        keep_graph_on_report (bool): Whether reported variables keep their graphs.
        lazy_grad_sum (bool): Whether to add gradients all at once when needed.
        schedule_func: Used by static graphs.
        train (bool): Training mode, as opposed to test mode.
        type_check (bool): Whether functions check the types of their inputs.
        use_cudnn (str): ``'always'``, ``'auto'`` or ``'never'``.
        use_cudnn_tensor_core (str): ``'always'``, ``'auto'`` or ``'never'``.
        use_ideep (str): ``'always'``, ``'auto'`` or ``'never'``.
        use_native_kernels (str): Whether functions of NumPy and CuPy arrays use the compiled
            kernels of ChainerX, if built: ``'always'``, ``'auto'`` (for all but small arrays of
            NumPy) or ``'never'``.
        use_static_graph (bool): Whether ``chainer.static_graph`` may have an effect.
        warn_nondeterministic (bool): Whether nondeterministic functions warn.

    .. admonition:: Example

        >>> from chainer.configuration import GlobalConfig
        >>> config = GlobalConfig()
        >>> config.train, config.my_entry = False, 1
        >>> config.show()
        my_entry 1
        train    False

    """

    autotune = None
    chainerx_fallback = None
    compute_mode = None
    cudnn_deterministic = None
    cudnn_fast_batch_normalization = None
    debug = None
    dtype = None
    enable_backprop = None
    exact_resume = None
    in_recomputing = None
    keep_graph_on_report = None
    lazy_grad_sum = None
    schedule_func = None
    train = None
    type_check = None
    use_cudnn = None
    use_cudnn_tensor_core = None
    use_ideep = None
    use_native_kernels = None
    use_static_graph = None
    warn_nondeterministic = None

    _mirrors: list[Any]

    def __init__(self) -> None:
        # Classes of the local configurations that mirror this one; see `LocalConfig.__new__`.
        self.__dict__['_mirrors'] = []

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        for cls in self._mirrors:
            _mirror(cls, name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        for cls in self._mirrors:
            if name in cls.__dict__:
                delattr(cls, name)

    def show(self, file: TextIO | None = None) -> None:
        """Prints the entries, one a line.

        Args:
            file: Text file to print to; standard output by default.

        """
        _print_attrs(self, _entries(self), file)


def _entries(global_config: GlobalConfig) -> list[str]:
    return [name for name in vars(global_config) if name != '_mirrors']


def _mirror(cls: type, name: str, value: Any) -> None:
    # Reading a function from a class would bind it, so `__getattr__` handles it.
    if hasattr(type(value), '__get__') or hasattr(LocalConfig, name):
        if name in cls.__dict__:
            delattr(cls, name)
    else:
        setattr(cls, name, value)


class LocalConfig(threading.local):
    """Thread-local configuration on top of a global one.

    Setting an entry overrides it for the current thread, and deleting it ends the override. Without
    an override, reading gives the global value.

    Args:
        global_config (GlobalConfig): Configuration to fall back on.

    .. admonition:: Example

        >>> from chainer.configuration import GlobalConfig, LocalConfig
        >>> everywhere = GlobalConfig()
        >>> everywhere.train = True
        >>> here = LocalConfig(everywhere)
        >>> here.train = False
        >>> here.train, everywhere.train
        (False, True)
        >>> del here.train
        >>> here.train
        True

    """

    # Functions read entries several times per call, and a Python level `__getattr__` costs half
    # a microsecond each time. Each local configuration therefore has a class of its own whose
    # attributes mirror the global entries: both kinds of reading end in C.

    def __new__(cls, global_config: GlobalConfig) -> Self:
        own: Any = type(cls.__name__, (cls,), {'__module__': cls.__module__})
        if isinstance(global_config, GlobalConfig):
            global_config._mirrors.append(own)
            for name in _entries(global_config):
                _mirror(own, name, getattr(global_config, name))
        own._get_global_config = staticmethod(lambda: global_config)
        # typeshed does not know that it takes the arguments of `__init__`.
        return super().__new__(own, global_config)  # type: ignore[call-arg]

    def __init__(self, global_config: GlobalConfig) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._global, name)

    # Programs for Chainer 7 replace `__getattr__` and `__setattr__` with ones that use the two
    # attributes `_global` and `_local`.

    @property
    def _global(self) -> GlobalConfig:
        return self._get_global_config()

    @property
    def _local(self) -> _Overrides:
        return _Overrides(vars(self))

    def __repr__(self) -> str:
        return '<chainer.configuration.LocalConfig object>'

    def show(self, file: TextIO | None = None) -> None:
        """Prints the entries as the current thread sees them, one a line.

        Args:
            file: Text file to print to; standard output by default.

        """
        _print_attrs(self, {*_entries(self._global), *vars(self)}, file)


class _Overrides:
    """Attributes that are the overrides of the current thread."""

    def __init__(self, entries: dict[str, Any]) -> None:
        self.__dict__ = entries


class _UsingConfig(contextlib.ContextDecorator):
    def __init__(self, name: str, value: Any, config: LocalConfig) -> None:
        self._name = name
        self._value = value
        self._config = config
        self._previous: list[tuple[bool, Any]] = []

    def _recreate_cm(self) -> _UsingConfig:
        return _UsingConfig(self._name, self._value, self._config)

    def __enter__(self) -> None:
        name = self._name
        # `vars` of a local configuration holds the overrides of this thread.
        entries = vars(self._config)
        self._previous.append((name in entries, entries.get(name)))
        setattr(self._config, name, self._value)

    def __exit__(self, *_: object) -> None:
        overridden, value = self._previous.pop()
        if overridden:
            setattr(self._config, self._name, value)
        else:
            delattr(self._config, self._name)


_defaults = environment.get_default_config()
global_config: GlobalConfig = GlobalConfig()
for _name, _value in _defaults.items():
    setattr(global_config, _name, _value)
config: LocalConfig = LocalConfig(global_config)


def using_config(name: str, value: Any, config: LocalConfig = config) -> _UsingConfig:
    """Overrides an entry of the configuration in a ``with`` statement, for this thread.

    Args:
        name (str): Name of the entry.
        value: Temporary value.
        config (LocalConfig): Configuration; ``chainer.config`` by default.

    Returns:
        Context manager, also usable as a decorator.

    Raises:
        TypeError, ValueError: If ``value`` is a text that is no value of the entry, such as
            ``'False'`` for ``train``.

    .. admonition:: Example

        >>> import chainer
        >>> with chainer.using_config('train', False):
        ...     chainer.config.train
        False
        >>> chainer.config.train
        True

    """
    if value.__class__ is str or name not in _defaults:
        _check(name, value, config)
    return _UsingConfig(name, value, config)


def _check(name: str, value: Any, of_config: LocalConfig) -> None:
    if of_config is not config:
        return  # a program's own, whose entries may be anything
    if name in _defaults:
        environment.check_text(name, value, _defaults[name])
    elif not hasattr(config, name) and (meant := _similar_entry(name)) is not None:
        # Packages have their own entries, so this may be one of them.
        warnings.warn(
            f'chainer.config has no entry {name!r}, which using_config() sets: is {meant!r} meant?',
            stacklevel=3,
        )


@functools.cache
def _similar_entry(name: str) -> str | None:
    return next(iter(difflib.get_close_matches(name, _defaults, 1, 0.8)), None)
