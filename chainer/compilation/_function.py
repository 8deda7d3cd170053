"""Functions that run without Python once they repeat."""

from __future__ import annotations

import functools
import operator
import sys
import threading
import types
import warnings
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import chainerx
from chainer._core.reports import html_table
from chainer.compilation import _check, _trees
from chainer.compilation._budget import Budget
from chainer.compilation._contents import Contents
from chainer.compilation._drawing import Drawing, draw
from chainer.compilation._effects.numpy_arguments import NumpyArguments
from chainer.compilation._kinds.kind import Kind
from chainer.compilation._kinds.table import KINDS
from chainer.compilation._plans import Plans, key_of
from chainer.compilation._reasons import Reasons
from chainer.compilation._recorded import Recorded, environment, has_hooks
from chainer.compilation._recording import Recording
from chainer.compilation._scope import Scopes
from chainer.compilation._summary import Text, summarize, with_html
from chainer.compilation._trace import Again, GraphBreak, Trace
from chainer.warnings import PerformanceWarning

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from chainer.compilation._kinds.kind import Scope

_P = ParamSpec('_P')
_R = TypeVar('_R')


class CompiledFunction(Generic[_P, _R]):
    """A function whose calls are repeated without Python; see :func:`chainer.compile`.

    Attributes:
        calls (int): Number of calls.
        replays (int): Number of calls that ran a plan.
        recordings (int): Number of plans made.

    .. admonition:: Example

        >>> @chainer.compile
        ... def double(x):
        ...     return x + x
        >>> type(double) is chainer.compilation.CompiledFunction
        True
        >>> double(chainer.Variable(np.ones(2, np.float32))), double.calls
        (variable([2., 2.]), 1)

    """

    def __init__(
        self,
        function: Callable[_P, _R],
        max_plans: int,
        check: bool,
        measure: bool,
        explain: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        self._compiled_function = function
        self._max_plans = max_plans
        self._check = check
        self._measure = measure
        self._plans = Plans(max_plans)
        self._budget = Budget()
        self._scopes = Scopes()
        self._explain = explain
        self._reasons = Reasons(self._name, explain)
        self._busy = threading.Lock()
        self._trace: Trace | None = None  # of the first call, and then of recordings
        self.calls: int = 0
        self.replays: int = 0
        self.recordings: int = 0

    def __reduce__(self) -> Any:
        """Copies have no plans. What a decorator made is a part of its module, as functions are."""
        owner: Any = sys.modules.get(getattr(self, '__module__', ''))
        for name in getattr(self, '__qualname__', '').split('.'):
            owner = vars(owner).get(name) if hasattr(owner, '__dict__') else None
        if owner is self:
            return self.__qualname__
        return CompiledFunction, (
            self._compiled_function, self._max_plans, self._check, self._measure, self._explain,
        )  # fmt: skip

    @property
    def _name(self) -> str:
        function = self._compiled_function
        return str(getattr(function, '__qualname__', type(function).__name__))

    def __repr__(self) -> str:
        return f'<compiled {self._name}: {self.calls} calls, {self.replays} of them by a plan>'

    def _repr_html_(self) -> str:
        parts = self.report()._repr_html_() + self.summary()._repr_html_()
        return html_table.unfolding_html(repr(self), parts)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return functools.partial(self, instance)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Calls the function, or runs a plan of an earlier call."""
        # First and without the lock: it is all that calls cost which hardly ever have a plan.
        if self._budget.sleep > 0:
            self._budget.sleep -= 1
            self.calls += 1
            return self._compiled_function(*args, **kwargs)
        if not self._busy.acquire(blocking=False):  # recursion, or another thread
            return self._compiled_function(*args, **kwargs)
        try:
            self.calls += 1
            arrays: list[Any] = []
            reason = ''
            try:
                form = _trees.flatten_arguments(args, kwargs, arrays)
            except GraphBreak as error:
                reason = str(error)
            # Not while the error is handled: it would be the context of those of the function.
            if reason:
                if not self._plans.by_key:
                    self._budget.pause(False)  # to raise an error costs more than to call
                return self._run_eagerly(args, kwargs, reason)
            # Hooks see calls of functions, of which a plan has none.
            if has_hooks():
                return self._run_eagerly(args, kwargs, 'hooks of functions or links are active')
            plan, inputs = self._plans.find(arrays, form)
            if plan is None or inputs is None:
                return self._record(args, kwargs, arrays, form)
            self.replays += 1
            self._budget.count_run()
            if not self._check:
                return plan.run(inputs)
            call = functools.partial(self._compiled_function, *args, **kwargs)
            return _check.run_both(plan, inputs, call)
        finally:
            self._busy.release()

    def _run_eagerly(self, args: Any, kwargs: Any, reason: str) -> Any:
        self._reasons.count(reason)
        return self._compiled_function(*args, **kwargs)

    def _record(self, args: Any, kwargs: Any, arrays: list[Any], form: Any) -> Any:
        call = functools.partial(self._compiled_function, *args, **kwargs)
        if self._budget.is_paused():
            return call()
        if self._budget.is_spent():
            self._give_up()
            return call()
        if not chainerx.is_available():
            return self._run_eagerly(args, kwargs, 'ChainerX is not built')
        # The trace would take its place.
        if sys.getprofile() is not None:
            return self._run_eagerly(args, kwargs, 'a profiler is active')
        if self._trace is None:
            self._trace = Trace()
            return self._run_traced(call, self._trace)
        if self._budget.is_first(hash(key_of(arrays, form, environment())), self.recordings):
            if self._budget.has_seen_too_many():
                self._give_up()
            return self._run_eagerly(args, kwargs, 'arguments are new in shape or value')
        if self._explain:
            change = self._plans.find_change(arrays, form)
            if change is not None:
                self._reasons.explain_change(change)
        recording = self._prepare(args, kwargs, arrays, form, self._trace)
        # Not where the error is handled, which would be the context of those that the call raises.
        if recording is None:
            return call()
        known_graphs = len(self._scopes.graphs)
        try:
            # The call runs once, eagerly, whether or not a plan comes of it: an error in what
            # observes it must not become one of the program.
            value, found = recording.run(call)
            # What the call did to its arguments, the next call's have not had done to them.
            if isinstance(found, Recorded) and not _is_unchanged(args, kwargs, arrays, form):
                found = GraphBreak('an argument is changed')
            return self._take(value, found, recording, arrays)
        finally:
            self._trace.clear()
            # Plans made before may leave a state without the graph in which later calls go on.
            if len(self._scopes.graphs) > known_graphs:
                self._plans = Plans(self._max_plans)

    def _prepare(
        self, args: Any, kwargs: Any, arrays: list[Any], form: Any, trace: Trace
    ) -> Recording | None:
        """Returns a recording that can begin, or ``None``."""
        # Objects among the arguments are compared by identity only, so the scope watches them.
        roots = [self._compiled_function, *_trees.objects_of(form)]
        try:
            arguments = NumpyArguments(self._compiled_function, args, kwargs, arrays)
            scope = self._scopes.find(environment(), roots)
            own = [array for array in arrays if type(array) is _trees.chx_ndarray]
            recording = Recording(scope, trace, own, arguments, form, self._plans.scratch)
            recording.prepare()
        except Exception as error:  # noqa: BLE001 - the program has none, or raises its own
            self._refuse(_text_of(error))
            return None
        return recording

    def _run_traced(self, call: Callable[[], Any], trace: Trace) -> Any:
        """Runs the first call, to find the code of which recordings look for names."""
        try:
            trace.start(skips_updates=True)
            try:
                value = call()
            finally:
                trace.stop()
            self._scopes.codes.update(trace.codes)
            return value
        finally:
            trace.clear()

    def _take(self, value: Any, found: Any, recording: Recording, arrays: list[Any]) -> Any:
        """Keeps what a recording found; returns the value of its call."""
        if isinstance(found, Recorded):
            self._keep(found, arrays)
            return _trees.without_graphs(value)
        if isinstance(found, Again):
            # The next recording knows of code that ran for the first time, and of slots.
            self._scopes.codes.update(recording.trace.codes)
        else:
            self._refuse(_text_of(found))
        return value

    def _keep(self, found: Recorded, arrays: list[Any]) -> None:
        found.plan.set_measured(self._measure)
        key = key_of(arrays, found.form, found.environment)
        before = self._plans.last_scope
        self.recordings += 1
        if self._budget.count_plan(*self._plans.keep(found, key)):
            changed = None if before is None else before.find_change()
            self._refuse(f'{changed or "an argument"} changes at every call')

    def _give_up(self) -> None:
        """Warns, once, that calls differ too much."""
        if self._budget.has_given_up:
            return
        self._budget.has_given_up = True
        reason = (
            f'calls differ in more ways than plans are worth, as {self._plans.describe_changes()} '
            f'changed at {self.recordings} calls. Pad arrays to few shapes, pass what changes '
            f'as arrays, or pass a larger max_plans than {self._max_plans}'
        )
        self._reasons.count(reason)
        # The level names the line that calls the function: where arguments can be padded.
        warnings.warn(
            f'chainer.compile: {self._name} falls back to eager: {reason}', PerformanceWarning, 4
        )

    def _refuse(self, reason: str) -> None:
        self._reasons.count(reason)
        self._budget.pause(bool(self._plans.by_key))

    def report(self) -> Text:
        """Tells how calls ran, and why some ran eagerly, with lines and counts.

        Returns:
            str: A text, which notebooks show as a table.

        """
        counts = (
            f'{self.calls} calls: {self.replays} ran a plan, {self.recordings} made one, '
            f'{self.calls - self.replays - self.recordings} ran eagerly'
        )
        return with_html(
            '\n'.join([counts, *self._reasons.lines()]), f'<p>{counts}</p>{self._reasons.html()}'
        )

    def summary(self) -> Text:
        """Describes the plans, the one used last first.

        Returns:
            str: A text, which notebooks show as a table.

        """
        return summarize(self._plans)

    def draw(self, plan: int = 0) -> Drawing:
        """Draws a plan: a row for each kernel, with its time and the memory that it needs.

        The columns are the kernels in order, with what they compute; their mean times in
        microseconds, with ``measure=True``; and the memory of intermediate arrays: each rectangle
        is an array, as wide as its bytes, from the first to the last kernel that needs it. Tooltips
        tell more.

        Args:
            plan (int): The number of the plan, in the order of :meth:`summary`.

        Returns:
            str: A picture in SVG, which notebooks show and ``pathlib.Path.write_text`` saves.

        Raises:
            IndexError: If there are not so many plans.

        .. admonition:: Example

            >>> @chainer.compile(measure=True)
            ... def function(x):
            ...     return F.relu(x * 2 + 1).array
            >>> x = chainer.get_device('native:0').send(np.ones((2, 3), 'f'))
            >>> results = [function(x) for _ in range(4)]
            >>> picture = function.draw()
            >>> picture[:4], picture[-6:]
            ('<svg', '</svg>')

        """
        return draw(self._find_plan(plan), self._name)

    def save(self, path: str | PathLike[str], plan: int = 0) -> None:
        """Writes a plan to a file, with the parameters and states of the moment.

        :class:`SavedPlan` and, in C++ and without Python, ``chainerx::SavedPlan`` run it to the
        bit, and go on with a training. The file has no code: it names kernels, and has shapes,
        constants, the names of parameters and states and their contents, and what the function
        depends on besides its arguments.

        Args:
            path (str or path-like): The file, which is replaced if it exists.
            plan (int): The number of the plan, in the order of :meth:`summary`.

        Raises:
            IndexError: If there are not so many plans.
            ValueError: If the plan needs Python, or a kernel that files do not have; the text
                says which. No file is written.
            ~chainerx.ChainerxError: If the file cannot be written.

        """
        recorded = self._find_plan(plan)
        code: Any = getattr(self._compiled_function, '__code__', None)
        is_method = isinstance(self._compiled_function, types.MethodType)
        parameters = code.co_varnames[is_method : code.co_argcount] if code else ()
        try:
            contents = Contents(recorded, parameters)
        except ValueError as error:
            raise ValueError(f'{self._name} cannot be saved: {error}') from None
        # Last: the reasons of effects tell more.
        if recorded.plan.refusal:
            raise ValueError(f'{self._name} cannot be saved: {recorded.plan.refusal}')
        contents.write(path)

    def _find_plan(self, number: int) -> Recorded:
        plans = self._plans.in_order
        if not 0 <= number < len(plans):
            raise IndexError(f'there is no plan {number}: the function has {len(plans)}')
        return plans[number]

    def clear(self) -> None:
        """Forgets all plans."""
        # What is known of costs goes, too: a program calls this when it has changed. Which code
        # runs is kept, as recordings find out if it is other code.
        with self._busy:
            self._plans = Plans(self._max_plans)
            self._budget = Budget()
            self._scopes.forget()


def _text_of(error: Exception) -> str:
    text = str(error)
    if isinstance(error, (GraphBreak, chainerx.ChainerxError)):
        return text
    return f'the recording fails: {type(error).__name__}: {text}'


def _is_unchanged(args: Any, kwargs: Any, arrays: list[Any], form: Any) -> bool:
    now: list[Any] = []
    try:
        same = _trees.flatten_arguments(args, kwargs, now) == form
    except GraphBreak:
        return False
    return same and len(now) == len(arrays) and all(map(operator.is_, now, arrays))


def _watch_compiled(scope: Scope, value: CompiledFunction[..., Any], label: str) -> None:
    scope.visit(type(value), 'CompiledFunction')
    for name in sorted(scope.names):  # others count the calls, or are those of the function
        scope.add(scope.watch.add_entry, f'{label}.{name}', vars(value), name)
        scope.visit_if_read(name, vars(value).get(name), f'{label}.{name}')
    scope.visit(value._compiled_function, label)


KINDS[CompiledFunction] = Kind(_watch_compiled)


@overload
def compile(  # noqa: A001
    function: Callable[_P, _R],
    *,
    max_plans: int = 512,
    check: bool = False,
    measure: bool = False,
    explain: bool = False,
) -> CompiledFunction[_P, _R]: ...
@overload
def compile(  # noqa: A001
    function: None = None,
    *,
    max_plans: int = 512,
    check: bool = False,
    measure: bool = False,
    explain: bool = False,
) -> Callable[[Callable[_P, _R]], CompiledFunction[_P, _R]]: ...
def compile(  # noqa: A001 - the name that users expect
    function: Callable[..., Any] | None = None,
    *,
    max_plans: int = 512,
    check: bool = False,
    measure: bool = False,
    explain: bool = False,
) -> Any:
    """Makes a function that runs without Python where its calls repeat.

    The function may be a whole training step (forward, backward, update) or a computation without
    gradients, on ChainerX's devices. The first calls run eagerly; one of them records the
    kernels that ChainerX runs. Later calls run these as one plan in C++, with the same results to
    the last bit, as long as all that the function reads is as it was: the forms of its arguments,
    the configuration, attributes of links, what closures and globals have. If something differs, a
    call records again. Updates of optimizers are a part of the plan, which reads learning rates
    and other hyperparameters at each call; updates with hooks of your own run eagerly between its
    parts.

    What no plan can repeat makes calls fall back to eager, and :meth:`CompiledFunction.report`
    names the line and the cure: values of arrays that Python reads, calls with side effects,
    random numbers that Python reads, functions that fall back to NumPy, hooks that see each call.

    Results belong to no graph, as after ``unchain_backward``.

    Args:
        function (callable): The function. Without it, returns a decorator.
        max_plans (int): Number of plans to keep; that used least recently goes. They share the
            memory of intermediate arrays, as much as the largest needs. If they themselves take
            more than 256 MiB, fewer are kept, but at least eight.
        check (bool): Whether to run the function, too, each time that a plan runs, and compare.
        measure (bool): Whether to measure kernels: :meth:`CompiledFunction.summary` tells the mean
            time of each kind in a run, and :meth:`CompiledFunction.draw` that of each.
        explain (bool): Whether to print at once, and once for each reason, why a call makes no
            plan, with the line of the program, and what has changed when one records again.

    Returns:
        CompiledFunction: The function that records and repeats.

    Raises:
        TypeError: If ``function`` is not callable.
        ValueError: If ``max_plans`` is not positive.
        RuntimeError: By a call, if ``check`` finds a difference.

    .. admonition:: Example

        >>> model = L.Linear(3, 2)
        >>> optimizer = chainer.optimizers.Adam().setup(model)
        >>> @chainer.compile
        ... def step(x, t):
        ...     loss = F.softmax_cross_entropy(model(x), t)
        ...     model.cleargrads()
        ...     loss.backward()
        ...     optimizer.update()
        ...     return loss
        >>> _ = model.to_device('native:0')
        >>> x, t = model.device.send((np.ones((4, 3), 'f'), np.zeros(4, 'i')))
        >>> losses = [step(x, t) for _ in range(10)]
        >>> print(step.report())
        10 calls: 8 ran a plan, 1 made one, 1 ran eagerly

    """
    if function is None:
        return functools.partial(
            compile, max_plans=max_plans, check=check, measure=measure, explain=explain
        )
    if not callable(function):
        raise TypeError(f'function must be callable, not {type(function)}')
    if max_plans < 1:
        raise ValueError(f'max_plans must be positive, not {max_plans}')
    return CompiledFunction(function, max_plans, check, measure, explain)
