from __future__ import annotations

import collections
import contextlib
import os
import time
from typing import TYPE_CHECKING, Any

from chainer import reporter as reporter_module, serializer as serializer_module
from chainer._core.data import random_state, temporary_folder
from chainer._core.models import saving
from chainer._core.reports import representation
from chainer.training import (
    _entries,
    _interrupts,
    _serialization,
    util,
)
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.reporter import Reporter
    from chainer.serializer import AbstractSerializer
    from chainer.training._updater import Updater
    from chainer.types import TriggerSpec


class Trainer:
    """The training loop: updates, extensions, results and resuming.

    In each iteration the trainer calls ``updater.update()`` and then, by descending
    priority, the extensions whose triggers fire. ``observation`` collects the values that links
    and extensions report during the iteration.

    Serializers save and load a trainer with all its parts (see
    :func:`chainer.training.extensions.snapshot`), including the states of ``numpy.random`` and
    ``random``. Resumed training gives the same results as uninterrupted training.

    Args:
        updater (Updater): Updater that performs the iterations.
        stop_trigger: Trigger that ends the loop, see
            :func:`~chainer.training.get_trigger`. ``None`` never ends it.
        out (str): Folder of the results, created when the loop starts.
        extensions: Iterable of extensions, or of tuples of the positional arguments of
            :meth:`extend`.

    Attributes:
        updater (Updater): The updater.
        stop_trigger: Trigger that ends the loop.
        observation (dict): Values reported in the current iteration.
        out (str): Folder of the results.
        reporter (chainer.Reporter): Reporter that knows the optimizers' links by name.

    Raises:
        TypeError, ValueError: If the trigger or an extension is invalid.

    .. admonition:: Example

        >>> import tempfile
        >>> from chainer import training
        >>> model = L.Classifier(L.Linear(64, 10))
        >>> optimizer = chainer.optimizers.SGD().setup(model)
        >>> train, test = chainer.datasets.get_digits()
        >>> iterator = chainer.iterators.SerialIterator(train, 100)
        >>> updater = training.StandardUpdater(iterator, optimizer)
        >>> with tempfile.TemporaryDirectory() as out:
        ...     trainer = training.Trainer(updater, (2, 'epoch'), out)
        ...     trainer.extend(training.extensions.LogReport())
        ...     trainer.run()
        >>> [entry['epoch'] for entry in trainer.get_extension('LogReport').log]
        [1, 2]

    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    observation: dict[str, Any]

    def __init__(
        self,
        updater: Updater,
        stop_trigger: TriggerSpec | None = None,
        out: str = 'result',
        extensions: Iterable[Any] | None = None,
    ) -> None:
        self.updater = updater
        self.stop_trigger: Callable[[Trainer], bool] = util.get_trigger(stop_trigger)
        self.observation = {}
        self.out = out
        self.reporter: Reporter = reporter_module.Reporter()
        for name, optimizer in updater.get_all_optimizers().items():
            self._observe(name, optimizer.target)
        self._done = False
        self._extensions: collections.OrderedDict[str, _entries.Entry] = collections.OrderedDict()
        self._start_at: float | None = None
        self._snapshot_elapsed_time = 0.0
        self._final_elapsed_time = 0.0

        updater.connect_trainer(self)
        for extension in extensions or ():
            if isinstance(extension, (tuple, list)):
                self.extend(*extension)
            else:
                self.extend(extension)

    def _observe(self, name, model):
        if model is None:
            raise RuntimeError(
                f'the optimizer {name!r} has no model: call optimizer.setup(model) first'
            )
        self.reporter.add_observer(name, model)
        self.reporter.add_observers(name, model.namedlinks(skipself=True))

    @property
    def elapsed_time(self) -> float:
        """Seconds spent in the loop, including the time before resuming.

        Raises:
            RuntimeError: If the loop has not been started.

        """
        if self._done:
            return self._final_elapsed_time
        if self._start_at is None:
            raise RuntimeError('training has not been started yet')
        return time.perf_counter() - self._start_at + self._snapshot_elapsed_time

    @property
    def is_before_training(self) -> bool:
        """Whether no iteration has been done yet."""
        return self.updater.iteration == 0

    def extend(
        self,
        extension: Callable[[Trainer], Any],
        name: str | None = None,
        trigger: TriggerSpec | None = None,
        priority: int | None = None,
        *,
        call_before_training: bool = False,
        **kwargs: Any,
    ) -> None:
        """Adds an extension.

        Args:
            extension: Extension, or any callable that takes the trainer.
            name (str): Name; ``extension.name``, ``extension.default_name`` or
                ``extension.__name__`` by default. A name in use gets a suffix ``_1``, ...
            trigger: When the extension is called; ``extension.trigger`` or after each
                iteration by default.
            priority (int): The trainer calls extensions of higher priority first;
                ``extension.priority`` or ``PRIORITY_READER`` by default.
            call_before_training (bool): If true, also calls the extension once before the
                first iteration, but not when training resumes.

        Raises:
            TypeError: If the extension is not callable, a class of extensions in the place of an
                extension, or has no name.
            ValueError: If the name is ``'training'``, which is reserved.

        """
        argument.parse_kwargs(
            kwargs,
            invoke_before_training='invoke_before_training has been removed since '
            'Chainer v2.0.0. Use call_before_training= instead.',
        )

        _entries.check_extension(extension)
        if name is None:
            name = _entries.name_of(extension)
        name = _entries.unique_name(name, self._extensions)
        entry = _entries.make(extension, trigger, priority, call_before_training)
        named: Any = extension  # functions take attributes, too
        named.name = name
        self._extensions[name] = entry

    def get_extension(self, name: str) -> Any:
        """Returns an extension by name.

        Args:
            name (str): Name of the extension.

        Raises:
            ValueError: If there is no such extension.

        """
        if name not in self._extensions:
            names = ', '.join(self._extensions) or 'none'
            raise ValueError(f'extension {name} not found: the trainer has {names}')
        return self._extensions[name].extension

    def run(self, show_loop_exception_msg: bool = True) -> None:
        """Runs the training loop until the stop trigger fires.

        It first removes the unfinished files of a program that was killed from ``out``.

        If an update or an extension raises an exception, this method calls the ``on_error``
        handlers of the extensions, finalizes the extensions and the updater, and raises the
        exception again. After an exception or a keyboard interrupt, call it again to continue.

        Ctrl-C raises ``KeyboardInterrupt``, and SIGTERM ends the process. If an extension
        saves snapshots on errors (``snapshot_on_error``), the training first completes the
        iteration, saves them and finalizes the extensions and the updater; the second signal
        acts at once. This does not apply to signals for which the program has set a handler, nor to
        training in other threads than the main one.

        Args:
            show_loop_exception_msg (bool): If true, prints the exception to standard error
                before finalizing the extensions.

        Raises:
            RuntimeError: If the training is already complete.

        """
        if self._done:
            raise RuntimeError('cannot run training loop multiple times')
        os.makedirs(self.out, exist_ok=True)
        temporary_folder.remove_leftovers(self.out)

        # Stable: extensions of equal priority keep the order of their registration.
        entries = sorted(self._extensions.values(), key=lambda entry: -entry.priority)
        self._start_at = time.perf_counter()
        saves = [e for e in entries if getattr(e.extension, '_snapshot_on_error', False)]
        interrupts = _interrupts.Interrupts()
        with interrupts if saves else contextlib.nullcontext():
            self._run(entries, saves, interrupts, show_loop_exception_msg)

    def _run(self, entries, saves, interrupts, show_message):
        completed = False
        try:
            self._initialize(entries)
            try:
                self._loop(entries, interrupts)
            except KeyboardInterrupt as e:
                _entries.handle_error(saves, self, e)
                raise
            completed = True
        except Exception as e:
            if show_message:
                _entries.show_error(e)
            _entries.handle_error(entries, self, e)
            raise
        finally:
            # What stopped the training is more important than what failed afterwards.
            error = _entries.finalize(entries, self.updater)
            self._stop_clock(completed)
            if completed and error is not None:
                raise error

    def _stop_clock(self, completed):
        if completed:
            self._final_elapsed_time = self.elapsed_time
            self._done = True
        else:
            # The loop may be run again: the time until then does not count.
            self._snapshot_elapsed_time = self.elapsed_time
            self._start_at = time.perf_counter()

    def _initialize(self, entries):
        for entry in entries:
            initializer = getattr(entry.extension, 'initialize', None)
            if initializer and not getattr(entry.trigger, 'finished', False):
                initializer(self)

        # Not when resuming: the results were recorded at the first start.
        if self.is_before_training and any(entry.call_before_training for entry in entries):
            self.observation = {}
            with self.reporter.scope(self.observation):
                for entry in entries:
                    if entry.call_before_training:
                        entry.extension(self)

    def _loop(self, entries, interrupts):
        calls = [(entry.trigger, entry.extension) for entry in entries]
        update = self.updater.update
        stop_trigger = self.stop_trigger
        reporter = self.reporter
        # This is reporter.scope(observation) for each iteration, entered once.
        old_observation = reporter.observation
        try:
            with reporter:
                # In this order: a snapshot is written before the stop trigger sees the iteration.
                while not (interrupts.received or stop_trigger(self)):
                    self.observation = reporter.observation = {}
                    update()
                    for trigger, extension in calls:
                        if trigger(self):
                            extension(self)
        finally:
            reporter.observation = old_observation
        if interrupts.received:
            raise KeyboardInterrupt

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Reads or writes the state of the updater, the triggers and the extensions."""
        saving.remember(serializer, self)
        _serialization.serialize_part(self.updater, serializer, 'updater')
        _serialization.serialize_part(self.stop_trigger, serializer, 'stop_trigger')
        _entries.serialize(self._extensions, serializer)
        if isinstance(serializer, serializer_module.Serializer):
            serializer('_snapshot_elapsed_time', self.elapsed_time)
        else:
            self._snapshot_elapsed_time = serializer('_snapshot_elapsed_time', 0.0)
        if saving.takes_extras(serializer):
            with contextlib.suppress(KeyError):  # for example a snapshot of Chainer 7
                self.observation = _serialization.serialize_observation(
                    serializer, self.observation
                )
                random_state.serialize_global_states(serializer['_random_state'])
