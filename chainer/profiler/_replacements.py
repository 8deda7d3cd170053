"""Methods that are replaced while a profile runs, so that they cost nothing otherwise.

Plans of :func:`chainer.compile` refuse optimizers and variables whose public methods are not those
of Chainer. So for them this replaces functions of the core, which no plan looks at.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import sys
from typing import TYPE_CHECKING, Any

from chainer._core.autograd.thread_hooks import get_hooks
from chainer._core.engines import plan_data
from chainer.compilation import _function
from chainer.compilation._recording import Recording
from chainer.link_hook import _get_link_hooks
from chainer.optimizer import GradientMethod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chainer.profiler._hook import SpanHook
    from chainer.profiler._spans import Recorder

# Modules, classes and methods: those of the classes and of their subclasses, and the kind of spans.
_METHODS = [
    # Each of the two may call the other, or be the other.
    ('chainer.dataset.iterator', 'Iterator', 'next __next__', 'iterator'),
    # Not `update`, which trainers look up only once.
    ('chainer.training.updater', 'Updater', 'update_core', 'updater'),
    ('chainer.training.extension', 'Extension', '__call__', 'extension'),
    ('chainer.optimizer', 'Optimizer', 'update', 'optimizer'),
    (
        'chainermn.communicators.communicator_base',
        'CommunicatorBase',
        'alltoall send recv bcast gather allgather allreduce scatter send_obj recv_obj bcast_obj '
        'gather_obj allreduce_obj bcast_data multi_node_mean_grad',
        'communication',
    ),
]
# Functions, kinds and names of spans.
_FUNCTIONS = [
    ('chainer._core.optimizers.update', 'update_params', 'optimizer', 'update of parameters'),
    ('chainer._core.autograd.backprop', 'BackwardPass.run', 'backward', 'backward pass'),
    ('chainer.dataset._converters', 'call_converter', 'updater', 'converter'),
    ('chainer.iterators.multithread_iterator', '_read', 'iterator', 'read examples'),
    ('chainermn.means.transport', 'Pending.wait', 'communication', 'wait for means of gradients'),
]


def _find(module: str, name: str = '') -> Any:
    """Returns a module or what it has by a name; ``None`` for ChainerMN if nobody uses it."""
    if module.startswith('chainermn') and module not in sys.modules:
        return None
    # By their names: what this imports may import this package, as extensions of trainers do.
    value = importlib.import_module(module)
    return operator.attrgetter(name)(value) if name else value


class Replacements:
    """Replaces methods and functions by ones that record spans.

    Args:
        recorder: What takes the spans.
        hook: The function hook, which must not be seen by recordings of plans.

    """

    def __init__(self, recorder: Recorder, hook: SpanHook) -> None:
        self._recorder = recorder
        self._hook = hook
        self._originals: list[tuple[Any, str, Any]] = []

    def start(self) -> None:
        """Replaces all."""
        for module, name, methods, category in _METHODS:
            base = _find(module, name)
            for cls in [] if base is None else _classes(base):
                self._replace_methods(cls, methods.split(), category)
        for module, name, category, title in _FUNCTIONS:
            owner, _, function = name.rpartition('.')
            found = _find(module, owner)
            if found is not None:
                self._time(found, function, category, lambda *_, title=title: title)
        self.replace(plan_data, 'backward', self._backward)
        self._replace_compiled()

    def stop(self) -> None:
        """Puts all back."""
        while self._originals:
            setattr(*self._originals.pop())

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replaces a function by what ``make`` makes of it, until :meth:`stop`."""
        original = vars(owner)[name]
        self._originals.append((owner, name, original))
        setattr(owner, name, make(original))

    def _time(self, owner: Any, name: str, category: str, label: Callable[..., str]) -> None:
        recorder = self._recorder

        def make(function: Any) -> Any:
            @functools.wraps(function)
            def timed(*args: Any, **kwargs: Any) -> Any:
                title = label(*args)
                if recorder.is_innermost(category, title):  # a method of a base class
                    return function(*args, **kwargs)
                key = object()
                recorder.begin(key, category, title)
                try:
                    return function(*args, **kwargs)
                finally:
                    recorder.end(key)

            return timed

        self.replace(owner, name, make)

    def _replace_methods(self, cls: Any, names: list[str], category: str) -> None:
        # Plans watch optimizers of Chainer; `update_params` is what these call.
        if cls in GradientMethod.__mro__:
            return
        for name in names:
            if callable(vars(cls).get(name)):
                self._time(cls, name, category, functools.partial(_title, name))

    def _backward(self, function: Any) -> Any:
        def backward(native: Any) -> Any:
            if plan_data.local.recording is not None:
                return function(native)

            def timed(*args: Any, **kwargs: Any) -> Any:
                with self._recorder.span('backward', 'backward pass'):
                    return native(*args, **kwargs)

            return timed

        return backward

    # -- compiled functions

    def _replace_compiled(self) -> None:
        """Lets compiled functions run as they do without hooks."""
        self.replace(_function.CompiledFunction, '__call__', self._call_compiled)
        for owner, name in (_function.CompiledFunction, '_run_traced'), (Recording, 'run'):
            self.replace(owner, name, self._without_hook)
        self.replace(_function, 'has_hooks', lambda _: self._has_other_hooks)

    def _has_other_hooks(self) -> bool:
        return bool(get_hooks().keys() - {self._hook.name} or _get_link_hooks())

    def _without_hook(self, function: Any) -> Any:
        @functools.wraps(function)
        def unwatched(*args: Any) -> Any:
            with _taken_out(get_hooks(), self._hook.name):
                return function(*args)

        return unwatched

    def _call_compiled(self, function: Any) -> Any:
        @functools.wraps(function)
        def timed(compiled: Any, *args: Any, **kwargs: Any) -> Any:
            key = object()
            replays, recordings = compiled.replays, compiled.recordings
            self._recorder.begin(key, 'compiled', 'call')
            try:
                return function(compiled, *args, **kwargs)
            finally:
                how = 'eager' if compiled.recordings == recordings else 'recording'
                if compiled.replays != replays:
                    how = 'plan'
                name = getattr(compiled, '__qualname__', type(compiled).__name__)
                self._recorder.end(key, f'{name} ({how})')

        return timed


def _title(method: str, owner: Any, *_: Any) -> str:
    name = type(owner).__name__
    return name if method == '__call__' else f'{name}.{method.strip("_")}'


def _classes(base: Any) -> Iterator[Any]:
    yield base
    for cls in base.__subclasses__():
        yield from _classes(cls)


@contextlib.contextmanager
def _taken_out(hooks: dict[str, Any], name: str) -> Iterator[None]:
    hook = hooks.pop(name, None)
    try:
        yield
    finally:
        if hook is not None:
            hooks[name] = hook
