"""Making a plan of a call while it runs: observation, guards, plan."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.engines import plan_data
from chainer.compilation import _flow
from chainer.compilation._effects import numpy_draws
from chainer.compilation._effects.draft import Draft
from chainer.compilation._effects.gradients import Gradients
from chainer.compilation._effects.loss_scales import LossScales
from chainer.compilation._effects.numpy_draws import DrawnArray
from chainer.compilation._effects.random_numbers import RandomNumbers
from chainer.compilation._effects.reports import Reports
from chainer.compilation._effects.states import States
from chainer.compilation._effects.suppressed_warnings import Warnings
from chainer.compilation._effects.updates import Updates
from chainer.compilation._recorded import Recorded, environment
from chainer.compilation._trace import Again, GraphBreak, current_line
from chainerx import _internal

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator

    from chainer.compilation._effects.effect import Observer
    from chainer.compilation._effects.numpy_arguments import NumpyArguments
    from chainer.compilation._scope import Scope
    from chainer.compilation._trace import Trace


class Recording:
    """Runs a call, and makes a plan of it.

    The observation is of three: a trace of Python code, a recorder of kernels in C++, and an
    observer for each kind of effect. Guards are the scope, which watches what the call read, and
    what each effect asks for.

    Args:
        scope: What is known to be reached from the function; effects add to it.
        trace: Notes the code that runs.
        arrays: The arrays of ChainerX among the arguments.
        arguments: Those of NumPy.
        form: The arguments without both.
        scratch: The memory for intermediate arrays, which plans of a function share.

    """

    def __init__(
        self,
        scope: Scope,
        trace: Trace,
        arrays: list[Any],
        arguments: NumpyArguments,
        form: Any,
        scratch: Any,
    ) -> None:
        self.trace = trace
        self._arrays = arrays
        self._arguments = arguments
        self._form = form
        # Before anything runs: the call itself may change it, which is a graph break.
        self._environment = environment()
        self._scope = scope
        used = [*arrays, *scope.arrays]
        device = used[0].device if used else chainerx.get_default_device()
        # The callback does not refer to this object: the memory goes as soon as the object does.
        self._lines = lines = list[str]()  # of the first graph break
        self._recorder = recorder = _internal.Recorder(
            device, lambda: lines.append(current_line()), scratch
        )
        on_data = weakref.WeakMethod(self._on_data)
        recorder.watch_data(lambda array: _call(on_data, array))
        on_python = weakref.WeakMethod(self._expect_python)
        gradients = Gradients(scope, recorder)
        self._scales = LossScales(scope, recorder)
        self._random = RandomNumbers(recorder, scope.names)
        self._updates = Updates(
            scope,
            recorder,
            gradients.end_segment,
            self._scales,
            self._random.expect_update,
            lambda: _call(on_python),
        )
        # In the order in which plans take their inputs, and in which reasons are found: the ones
        # that name a line of the program come before those that find a mere difference.
        self._observers: tuple[Observer, ...] = (
            self._scales,
            self._updates,
            States(scope, recorder, self.trace, self._updates),
            gradients,
            arguments,
            self._random,
            Reports(scope, self._updates),
            Warnings(trace),
        )

    def prepare(self) -> None:
        """Notes the state before the call."""
        try:
            for observer in self._observers:
                observer.start()
        except BaseException:
            self._stop()
            raise

    def run(self, call: Callable[[], Any]) -> tuple[Any, Any]:
        """Runs the call; returns its value, and what is recorded or the reason why nothing is."""
        value = self._observe(call)
        try:
            self._check()
            return value, self._make_plan(value)
        except Exception as error:  # noqa: BLE001 - the program, which has run, has none
            return value, error

    # -- observation

    def _observe(self, call: Callable[[], Any]) -> Any:
        self._go_on()
        try:
            return call()
        finally:
            self._interrupt()
            self._stop()

    def _stop(self) -> None:
        for observer in self._observers:
            observer.stop()

    def _go_on(self) -> None:
        plan_data.local.recording = self
        self._recorder.start()
        self.trace.start()

    def _interrupt(self) -> None:
        self.trace.stop()
        self._recorder.stop()
        plan_data.local.recording = None

    @contextlib.contextmanager
    def _aside(self) -> Iterator[None]:
        """Lets an effect run on its own, which tells what it changes by itself."""
        self._interrupt()
        try:
            for observer in self._observers:
                observer.note()
            yield
            for observer in self._observers:
                observer.renew()
        finally:
            self._go_on()

    # -- what other parts of this package tell

    def draw(self, make: Callable[[], Any]) -> Any:
        """Draws an array; each run of the plan resamples its own."""
        with self._aside():
            return self._random.draw(make)

    def draw_by_numpy(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: types.FrameType,
    ) -> Any:
        """Calls a function of ``numpy.random`` for a frame."""
        with self._aside():
            self._random.expect()
            values = function(*args, **kwargs)
            taker = numpy_draws.taker_of(frame, function.__name__, args, kwargs)
            self._random.note_drawn(DrawnArray(function, args, kwargs, values, frame, taker))
        self.trace.last_builtin = None
        return values

    def _on_data(self, array: Any) -> None:
        frame = numpy_draws.sending_frame(self.trace.last_builtin)
        if frame is not None:
            self._random.note_sent(array, frame)
            self._arguments.note_sent(array, frame)

    def backward(self, function: Callable[..., Any], *args: Any, **kwds: Any) -> Any:
        """Goes back from arrays; runs of the plan do so with the loss scale of the moment."""
        with self._scales.backward(kwds['loss_scale']), self._updates.backward():
            return function(*args, **kwds)

    def update(self, opt: Any) -> bool:
        """Runs the update of an optimizer; returns ``False`` if it is not watched."""
        if not self._updates.is_known(opt):
            return False
        with self._aside():
            self._updates.update(opt)
        return True

    def _expect_python(self) -> None:
        """Notes why Python of the program must not run in the middle of a plan."""
        reasons = [observer.find_change() for observer in self._observers]
        if self._environment[:-1] != environment()[:-1]:
            reasons.append('the state of the thread changes')
        if _flow.is_handled(Recording._observe.__code__):
            reasons.append('the program may handle its errors')
        for reason in filter(None, reasons):
            self._recorder.note(f'an update runs Python of the program where {reason}')

    # -- guards

    def _check(self) -> None:
        """Raises if there can be no plan, or only by another recording."""
        if self._recorder.graph_break:
            raise GraphBreak(f'{self._recorder.graph_break} ({self._lines[0]})')
        if self.trace.graph_break is not None:
            raise GraphBreak(self.trace.graph_break)
        # Code may switch a mode and leave it so, which a plan would not do.
        now = environment()
        if self._environment[:-1] != now[:-1]:
            raise GraphBreak('the state of the thread changes')
        if self._environment != now:  # it imports something, perhaps
            raise Again
        # The scope has looked for names of known code only.
        if not self.trace.codes.keys() <= self._scope.codes.keys():
            raise Again
        self._scope.check_code(self.trace.codes)
        for observer in self._observers:
            observer.check()

    # -- the plan

    def _make_plan(self, value: Any) -> Recorded:
        scope = self._scope
        draft = Draft(scope, self._recorder, self._arrays, self.trace.backpropagated)
        result = draft.maker_of(value)
        for observer in self._observers:
            observer.finish(draft)
        plan = draft.make_plan()
        changes = draft.changes[self._updates.count]
        return Recorded(self._environment, self._form, scope, plan, draft.effects, changes, result)


def _call(method: weakref.WeakMethod[Any], *args: Any) -> None:
    function = method()
    if function is not None:
        function(*args)
