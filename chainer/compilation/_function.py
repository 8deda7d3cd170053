"""Functions that run without Python once they repeat."""

from __future__ import annotations

import functools
import operator
import sys
import threading
from typing import TYPE_CHECKING, Any, overload

import chainerx
from chainer.compilation import _check, _trees
from chainer.compilation._recording import Again, Recorded, Recording, environment, has_hooks
from chainer.compilation._trace import Obstacle, Trace
from chainer.compilation._update import UsualUpdate

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_PAUSE = 1024
_MAX_PAUSE_IN_VAIN = 32  # after plans that no call used
_MAX_UNUSED = 4  # plans in a row that no call used


class CompiledFunction:
    """A function whose calls are repeated without Python; see :func:`chainer.compile`.

    Attributes:
        calls (int): Number of calls.
        replays (int): Number of calls that ran a plan.
        recordings (int): Number of plans made.

    """

    def __init__(
        self, function: Callable[..., Any], max_plans: int, check: bool, measure: bool
    ) -> None:
        functools.update_wrapper(self, function)
        self._compiled_function = function
        self._max_plans = max_plans
        self._check = check
        self._measure = measure
        self._plans: list[Recorded] = []  # the one used last comes first
        self._codes: dict[int, Any] = {}
        self._slots: dict[tuple[int, str], Any] = {}
        self._reasons: dict[str, int] = {}
        self._busy = threading.Lock()
        self._pause = self._wait = self._unused = 0
        self._is_traced = False
        self.calls: int = 0
        self.replays: int = 0
        self.recordings: int = 0

    def __repr__(self) -> str:
        name = getattr(self, '__qualname__', type(self._compiled_function).__name__)
        return f'<compiled {name}: {self.calls} calls, {self.replays} of them by a plan>'

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, or runs a plan of an earlier call."""
        if not self._busy.acquire(blocking=False):  # recursion, or another thread
            return self._compiled_function(*args, **kwargs)
        try:
            self.calls += 1
            arrays: list[Any] = []
            try:
                form = _trees.flatten_arguments(args, kwargs, arrays)
            except Obstacle as error:
                return self._run_eagerly(args, kwargs, str(error))
            if has_hooks():
                return self._run_eagerly(args, kwargs, 'hooks of functions or links are active')
            if self._plans:
                here = environment()
                for i, plan in enumerate(self._plans):
                    if (
                        plan.environment != here
                        or plan.form != form
                        or plan.scope.watch.find_change() >= 0
                    ):
                        continue
                    inputs = plan.inputs(list(arrays))
                    if inputs is None:
                        continue
                    if i:
                        self._plans.insert(0, self._plans.pop(i))
                    self.replays += 1
                    if self._unused:
                        self._unused = self._wait = 0
                    if self._check:
                        return _check.run_both(
                            plan, inputs, lambda: self._compiled_function(*args, **kwargs)
                        )
                    return plan.run(inputs)
            return self._record(args, kwargs, arrays, form)
        finally:
            self._busy.release()

    def _run_eagerly(self, args: Any, kwargs: Any, reason: str) -> Any:
        self._reasons[reason] = self._reasons.get(reason, 0) + 1
        return self._compiled_function(*args, **kwargs)

    def _record(self, args: Any, kwargs: Any, arrays: list[Any], form: Any) -> Any:
        if self._wait > 0:
            self._wait -= 1
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
            recording = Recording(roots, self._codes, self._slots)
        except Obstacle as error:
            self._refuse(str(error))
            return call()
        value, found = recording.run(call, arrays, form)
        if isinstance(found, Recorded) and not _is_unchanged(args, kwargs, arrays, form):
            found = Obstacle('an argument is changed')
        if isinstance(found, Recorded):
            found.plan.set_measured(self._measure)
            self._plans.insert(0, found)
            del self._plans[self._max_plans :]
            self.recordings += 1
            if self._unused == 0:  # else plans are made in vain
                self._pause = 0
            self._unused += 1
            if self._unused > _MAX_UNUSED:
                changed = next((p.scope.find_change() for p in self._plans[1:2]), None)
                self._refuse(
                    f'{changed or "an argument"} changes at every call', _MAX_PAUSE_IN_VAIN
                )
            return _trees.without_graphs(value)
        if isinstance(found, Again):
            self._codes.update(recording.trace.codes)
        else:
            self._refuse(str(found))
        return value

    def _refuse(self, reason: str, limit: int = _MAX_PAUSE) -> None:
        self._reasons[reason] = self._reasons.get(reason, 0) + 1
        self._pause = min(limit, 2 * self._pause + 1)
        self._wait = self._pause

    def report(self) -> str:
        """Tells how calls ran, and why some ran as usual."""
        lines = [
            f'{self.calls} calls: {self.replays} ran a plan, {self.recordings} made one, '
            f'{self.calls - self.replays - self.recordings} ran as usual'
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
            self._wait = self._pause = self._unused = 0


def _is_unchanged(args: Any, kwargs: Any, arrays: list[Any], form: Any) -> bool:
    now: list[Any] = []
    try:
        same = _trees.flatten_arguments(args, kwargs, now) == form
    except Obstacle:
        return False
    return same and len(now) == len(arrays) and all(map(operator.is_, now, arrays))


def _summarize(recorded: Recorded) -> str:
    plan = recorded.plan
    parts = 1 + sum(isinstance(update, UsualUpdate) for update in recorded.updates)
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
    )


@overload
def compile(  # noqa: A001
    function: Callable[..., Any], *, max_plans: int = 8, check: bool = False, measure: bool = False
) -> CompiledFunction: ...
@overload
def compile(  # noqa: A001
    function: None = None, *, max_plans: int = 8, check: bool = False, measure: bool = False
) -> Callable[[Callable[..., Any]], CompiledFunction]: ...
def compile(  # noqa: A001 - the name that users expect
    function: Callable[..., Any] | None = None,
    *,
    max_plans: int = 8,
    check: bool = False,
    measure: bool = False,
) -> Any:
    """Makes a function that runs without Python where its calls repeat.

    The function may be a whole training step (forward, backward, update) or a computation without
    gradients, on ChainerX's native devices. The first calls run as usual; one of them records the
    kernels that ChainerX runs. Later calls run these as one plan in C++, with the same results to
    the last bit, as long as all that the function reads is as it was: the forms of its arguments,
    the configuration, attributes of links, what closures and globals have. If something differs, a
    call records again. Updates of optimizers are a part of the plan, which reads learning rates
    and other hyperparameters at each call; updates with hooks run as usual between its parts.

    What no plan can repeat makes calls run as usual, and :meth:`CompiledFunction.report` names the
    line: values of arrays that Python reads, calls with side effects, NumPy's random numbers,
    functions that fall back to NumPy, hooks of functions and links.

    Results belong to no graph, as after ``unchain_backward``.

    Args:
        function (callable): The function. Without it, returns a decorator.
        max_plans (int): Number of plans to keep; that used least recently goes.
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
        10 calls: 8 ran a plan, 1 made one, 1 ran as usual

    """
    if function is None:
        return functools.partial(compile, max_plans=max_plans, check=check, measure=measure)
    if not callable(function):
        raise TypeError(f'function must be callable, not {type(function)}')
    if max_plans < 1:
        raise ValueError(f'max_plans must be positive, not {max_plans}')
    return CompiledFunction(function, max_plans, check, measure)
