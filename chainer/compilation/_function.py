"""Functions that run without Python once they repeat."""

from __future__ import annotations

import functools
import operator
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import chainerx
from chainer.compilation import _check, _trees
from chainer.compilation._kinds import Kind
from chainer.compilation._objects import KINDS
from chainer.compilation._recorded import Recorded, environment, has_hooks
from chainer.compilation._recording import Recording
from chainer.compilation._trace import Again, GraphBreak, Trace
from chainer.warnings import PerformanceWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._scope import Scope

_P = ParamSpec('_P')
_R = TypeVar('_R')

_MAX_PAUSE = 1024
_MAX_PAUSE_IN_VAIN = 32  # after plans that no call used
_MAX_UNUSED = 4  # plans in a row that no call used
_COST_OF_RECORDING = 100  # in runs of a plan: what they save pays for it, for small models
_MORE_RECORDINGS = 16
_SHARE_FOR_MORE = 4  # of the gain may go into recordings after these: one fourth
_GAIN_OF_RUN = 8  # in searches for a plan
_MAX_IN_VAIN = 64  # searches; then calls do without for a while
#: Plans beyond the first few go if all keep more bytes than this for their intermediate arrays.
_FEW_PLANS, _MAX_SCRATCH = 8, 1 << 30


class CompiledFunction(Generic[_P, _R]):
    """A function whose calls are repeated without Python; see :func:`chainer.compile`.

    Attributes:
        calls (int): Number of calls.
        replays (int): Number of calls that ran a plan.
        recordings (int): Number of plans made.

    """

    def __init__(
        self, function: Callable[_P, _R], max_plans: int, check: bool, measure: bool
    ) -> None:
        functools.update_wrapper(self, function)
        self._compiled_function = function
        self._max_plans = max_plans
        self._check = check
        self._measure = measure
        self._plans: list[Recorded] = []  # the one used last comes first
        self._plans_by_key: dict[Any, list[Recorded]] = {}
        self._set_credit()
        self._codes: dict[int, Any] = {}
        self._slots: dict[tuple[int, str], Any] = {}
        self._reasons: dict[str, int] = {}
        self._busy = threading.Lock()
        self._pause = self._wait = self._unused = self._in_vain = self._sleep = 0
        self._is_traced = False
        self.calls: int = 0
        self.replays: int = 0
        self.recordings: int = 0

    def _set_credit(self) -> None:
        """Pays for the first recordings, in runs of plans; later ones have to earn their cost."""
        self._credit = _COST_OF_RECORDING * (self._max_plans + _MORE_RECORDINGS)
        self._gave_up = False

    def __reduce__(self) -> Any:
        """Copies have no plans. What a decorator made is a part of its module, as functions are."""
        owner: Any = sys.modules.get(getattr(self, '__module__', ''))
        for name in getattr(self, '__qualname__', '').split('.'):
            owner = vars(owner).get(name) if hasattr(owner, '__dict__') else None
        if owner is self:
            return self.__qualname__
        args = self._compiled_function, self._max_plans, self._check, self._measure
        return CompiledFunction, args

    def __repr__(self) -> str:
        name = getattr(self, '__qualname__', type(self._compiled_function).__name__)
        return f'<compiled {name}: {self.calls} calls, {self.replays} of them by a plan>'

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return functools.partial(self, instance)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Calls the function, or runs a plan of an earlier call."""
        if not self._busy.acquire(blocking=False):  # recursion, or another thread
            return self._compiled_function(*args, **kwargs)
        try:
            self.calls += 1
            if self._sleep:
                self._sleep -= 1
                return self._compiled_function(*args, **kwargs)
            arrays: list[Any] = []
            try:
                form = _trees.flatten_arguments(args, kwargs, arrays)
            except GraphBreak as error:
                return self._run_eagerly(args, kwargs, str(error))
            if has_hooks():
                return self._run_eagerly(args, kwargs, 'hooks of functions or links are active')
            plan = inputs = None
            if self._plans:
                # Most calls are like the last one. A lookup finds the few others that may fit.
                plan, here = self._plans[0], environment()
                if plan.environment == here and plan.form == form:
                    inputs = plan.find_inputs(arrays)
                if inputs is None:
                    plan, inputs = self._look_up(here, arrays, form)
            if plan is not None and inputs is not None:
                self.replays += 1
                self._credit += 1
                if self._unused:
                    self._unused = self._wait = 0
                if self._in_vain > 0:
                    self._in_vain -= _GAIN_OF_RUN
                if self._check:
                    return _check.run_both(
                        plan, inputs, lambda: self._compiled_function(*args, **kwargs)
                    )
                return plan.run(inputs)
            return self._record(args, kwargs, arrays, form)
        finally:
            self._busy.release()

    def _look_up(
        self, here: Any, arrays: list[Any], form: Any
    ) -> tuple[Recorded | None, list[Any] | None]:
        plans = self._plans
        for plan in self._plans_by_key.get(_key_of(arrays, form), ()):
            if plan is not plans[0] and plan.environment == here:
                inputs = plan.find_inputs(arrays)
                if inputs is not None:
                    plans.remove(plan)
                    plans.insert(0, plan)
                    return plan, inputs
        return None, None

    def _keep(self, plan: Recorded, key: Any) -> None:
        """Keeps a plan; those that were used least recently go."""
        plan.key = key
        self._plans.insert(0, plan)
        self._plans_by_key.setdefault(key, []).insert(0, plan)
        scratch = sum([p.plan.scratch_bytes for p in self._plans])
        while len(self._plans) > self._max_plans or (
            len(self._plans) > _FEW_PLANS and scratch > _MAX_SCRATCH
        ):
            last = self._plans.pop()
            scratch -= last.plan.scratch_bytes
            others = self._plans_by_key[last.key]
            others.remove(last)
            if not others:
                del self._plans_by_key[last.key]

    def _has_no_credit(self) -> bool:
        """Tells whether recordings cost more than plans have gained."""
        if self._credit >= 0:
            return False
        if not self._gave_up:
            self._gave_up = True
            change = self._plans[0].scope.find_change() if self._plans else None
            reason = (
                f'calls differ in more ways than plans are worth: {change or "arguments"} '
                f'changed at {self.recordings} calls. Pad arrays to few shapes, pass what changes '
                f'as arrays, or pass a larger max_plans than {self._max_plans}'
            )
            self._reasons[reason] = 1
            name = getattr(self._compiled_function, '__qualname__', 'a function')
            warnings.warn(
                f'chainer.compile: {name} falls back to eager: {reason}', PerformanceWarning, 4
            )
        self._in_vain += 1
        if self._in_vain >= _MAX_IN_VAIN:  # hardly any call has a plan: do not even search
            self._in_vain, self._sleep = 0, _MAX_PAUSE
        return True

    def _run_eagerly(self, args: Any, kwargs: Any, reason: str) -> Any:
        self._reasons[reason] = self._reasons.get(reason, 0) + 1
        return self._compiled_function(*args, **kwargs)

    def _record(self, args: Any, kwargs: Any, arrays: list[Any], form: Any) -> Any:
        if self._wait > 0:
            self._wait -= 1
            return self._compiled_function(*args, **kwargs)
        if self._has_no_credit():
            return self._compiled_function(*args, **kwargs)
        if not chainerx.is_available():
            return self._run_eagerly(args, kwargs, 'ChainerX is not built')
        if sys.getprofile() is not None:
            return self._run_eagerly(args, kwargs, 'a profiler is active')

        def call() -> Any:
            return self._compiled_function(*args, **kwargs)

        if not self._is_traced:
            trace = Trace()
            trace.start()
            try:
                value = call()
            finally:
                trace.stop()
            self._codes.update(trace.codes)
            self._is_traced = True
            return value
        roots = [self._compiled_function, *_trees.objects_of(form)]
        try:
            recording = Recording(roots, self._codes, self._slots, arrays, form)
            recording.prepare()
        except Exception as error:  # noqa: BLE001 - the program has none, or raises its own
            self._refuse(_text_of(error))
            return call()
        value, found = recording.run(call)
        if isinstance(found, Recorded) and not _is_unchanged(args, kwargs, arrays, form):
            found = GraphBreak('an argument is changed')
        if isinstance(found, Recorded):
            found.plan.set_measured(self._measure)
            changed = self._plans[0].scope.find_change() if self._plans else None
            self._keep(found, _key_of(arrays, form))
            self.recordings += 1
            self._credit -= _COST_OF_RECORDING * (_SHARE_FOR_MORE if self._gave_up else 1)
            if self._unused == 0:  # else the plans made last never ran
                self._pause = 0
            self._unused += 1
            if self._unused > _MAX_UNUSED:
                self._refuse(
                    f'{changed or "an argument"} changes at every call', _MAX_PAUSE_IN_VAIN
                )
            return _trees.without_graphs(value)
        if isinstance(found, Again):
            self._codes.update(recording.trace.codes)
        else:
            self._refuse(_text_of(found))
        return value

    def _refuse(self, reason: str, limit: int = _MAX_PAUSE) -> None:
        self._reasons[reason] = self._reasons.get(reason, 0) + 1
        self._pause = min(limit, 2 * self._pause + 1)
        self._wait = self._pause

    def report(self) -> str:
        """Tells how calls ran, and why some ran eagerly."""
        lines = [
            f'{self.calls} calls: {self.replays} ran a plan, {self.recordings} made one, '
            f'{self.calls - self.replays - self.recordings} ran eagerly'
        ]
        for reason, count in sorted(self._reasons.items(), key=lambda item: -item[1]):
            lines.append(f'no plan: {reason}' + (f' ({count} times)' if count > 1 else ''))
        return '\n'.join(lines)

    def summary(self) -> str:
        """Describes the plans, the one used last first."""
        return '\n\n'.join(_summarize(plan) for plan in self._plans)

    def clear(self) -> None:
        """Forgets all plans."""
        with self._busy:
            self._plans.clear()
            self._plans_by_key.clear()
            self._set_credit()
            self._wait = self._pause = self._unused = self._in_vain = self._sleep = 0


def _key_of(arrays: list[Any], form: Any) -> Any:
    return form, tuple([(a.shape, a.strides, a.dtype) for a in arrays])


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


def _summarize(recorded: Recorded) -> str:
    plan = recorded.plan
    parts = 1 + sum(effect.interruptions for effect in recorded.effects)
    counts: dict[str, int] = {}
    times: dict[str, float] = {}
    for line in plan.describe().splitlines():
        seconds, name, *_ = line.split()
        counts[name] = counts.get(name, 0) + 1
        times[name] = times.get(name, 0) + float(seconds)
    total = sum(times.values())
    kernels = []
    for name in sorted(counts, key=lambda name: -times[name]):
        text = f'{name} x {counts[name]}' if counts[name] > 1 else name
        if total:
            text += f' {times[name] / recorded.runs * 1e6:.1f} us ({times[name] / total:.0%})'
        kernels.append(text)
    return (
        f'{plan.call_count} kernels in {parts} parts, ran {recorded.runs} times\n'
        f'memory: {plan.scratch_bytes} bytes, {plan.unshared_scratch_bytes} without sharing\n'
        f'kernels: {", ".join(kernels)}'
        + ''.join(f'\neager: {effect.reason}' for effect in recorded.effects if effect.reason)
    )


@overload
def compile(  # noqa: A001
    function: Callable[_P, _R], *, max_plans: int = 64, check: bool = False, measure: bool = False
) -> CompiledFunction[_P, _R]: ...
@overload
def compile(  # noqa: A001
    function: None = None, *, max_plans: int = 64, check: bool = False, measure: bool = False
) -> Callable[[Callable[_P, _R]], CompiledFunction[_P, _R]]: ...
def compile(  # noqa: A001 - the name that users expect
    function: Callable[..., Any] | None = None,
    *,
    max_plans: int = 64,
    check: bool = False,
    measure: bool = False,
) -> Any:
    """Makes a function that runs without Python where its calls repeat.

    The function may be a whole training step (forward, backward, update) or a computation without
    gradients, on ChainerX's native devices. The first calls run eagerly; one of them records the
    kernels that ChainerX runs. Later calls run these as one plan in C++, with the same results to
    the last bit, as long as all that the function reads is as it was: the forms of its arguments,
    the configuration, attributes of links, what closures and globals have. If something differs, a
    call records again. Updates of optimizers are a part of the plan, which reads learning rates
    and other hyperparameters at each call; updates with hooks of your own run eagerly between its
    parts.

    What no plan can repeat makes calls fall back to eager, and :meth:`CompiledFunction.report`
    names the line and the cure: values of arrays that Python reads, calls with side effects,
    NumPy's random numbers, functions that fall back to NumPy, hooks of functions and links.

    Results belong to no graph, as after ``unchain_backward``.

    Args:
        function (callable): The function. Without it, returns a decorator.
        max_plans (int): Number of plans to keep; that used least recently goes. Each keeps the
            memory of its intermediate arrays; if that is more than 1 GiB in all, eight are kept.
        check (bool): Whether to run the function, too, each time that a plan runs, and compare.
        measure (bool): Whether to measure kernels: :meth:`CompiledFunction.summary` tells the mean
            time of each kind in a run.

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
        return functools.partial(compile, max_plans=max_plans, check=check, measure=measure)
    if not callable(function):
        raise TypeError(f'function must be callable, not {type(function)}')
    if max_plans < 1:
        raise ValueError(f'max_plans must be positive, not {max_plans}')
    return CompiledFunction(function, max_plans, check, measure)
