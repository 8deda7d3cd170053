"""A plan and what a call needs besides it."""

from __future__ import annotations

import abc
import threading
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import link_hook, reporter
from chainer._core.autograd.thread_hooks import thread_hooks
from chainer.compilation._effects.effect import methods_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.compilation._effects.effect import Change, Effect
    from chainer.compilation._scope import Scope

_chx_ndarray = chainerx.ndarray
if chainerx.is_available():
    from chainerx import _random_source


def environment() -> tuple[Any, ...]:
    """Returns the state of the thread that a call depends on, besides the configuration."""
    return (
        threading.get_ident(),
        chainerx.get_default_device(),
        chainerx.is_backprop_required(),
        bool(reporter._get_reporters()),
        _random_source.is_seeded,  # which says who draws
        abc.get_cache_token(),  # changes with each subclass that an abstract class registers
    )


def has_hooks() -> bool:
    """Tells whether hooks of functions or links watch the thread."""
    return bool(thread_hooks.hooks or link_hook._get_link_hooks())


class Recorded:
    """A plan and all that a call needs besides it.

    Args:
        environment: The state of the thread; see :func:`environment`.
        form: The arguments without their arrays.
        scope: What has to be unchanged.
        plan: The kernels.
        effects: What a run does besides them, in order.
        changes: What it changes at its end, after all effects.
        result: Returns the result for the arrays that a run returns.

    """

    def __init__(
        self,
        environment: tuple[Any, ...],
        form: Any,
        scope: Scope,
        plan: Any,
        effects: list[Effect],
        changes: list[Change],
        result: Callable[[list[Any]], Any],
    ) -> None:
        self.key: Any = None  # by which the function finds it
        self.used_at = 0  # a number that grows with each use
        self.environment = environment
        self.form = form
        self.plan = plan
        self.effects = effects
        self.runs = 0
        self._result = result
        self._set_scope(scope)
        # Bound once: runs of small models take a few microseconds.
        self._find_inputs = methods_of(effects, 'find_inputs')
        self._take = methods_of(effects, 'take')
        self._draw = methods_of(effects, 'draw')
        self._prepare = methods_of(effects, 'prepare')
        runs = methods_of(effects, 'run')
        self._runs = [(run.__self__.changes_before, run) for run in runs]
        self._changes = changes

    def shares_scope(self, other: Recorded) -> bool:
        """Takes the scope of another plan if it is the same, which saves memory and time."""
        # Hundreds of plans with one scope also find it in the cache of the processor.
        is_same = self.scope.watches_as(other.scope)
        if is_same:
            self._set_scope(other.scope)
        return is_same

    def _set_scope(self, scope: Scope) -> None:
        self.scope = scope
        self._find_changes = [watch.find_change for watch in scope.watches()]

    def find_inputs(self, arrays: list[Any]) -> list[Any] | None:
        """Completes the inputs of the plan; returns ``None`` if it cannot run."""
        given = arrays
        arrays = [*arrays]
        if self._take:
            arrays = [array for array in arrays if type(array) is _chx_ndarray]
        for find_inputs in self._find_inputs:
            if not find_inputs(arrays):
                return None
        if not self.plan.fits(arrays):
            return None
        # These take longest: calls with other shapes do not reach them.
        for find_change in self._find_changes:
            if find_change() >= 0:
                return None
        if self._take:
            arrays += [take(given) for take in self._take]
        return arrays

    def make_result(self, arrays: list[Any]) -> Any:
        """Makes the result of the arrays that a run returns."""
        return self._result(arrays)

    def run(self, inputs: list[Any]) -> Any:
        """Runs the plan with the effects.

        Raises:
            Exception: What a kernel raises, with the text of the eager call, or an effect.

        """
        self.runs += 1
        plan = self.plan
        # Random numbers are drawn last of all inputs, when the run is sure to take place.
        if self._draw:
            inputs = [*inputs, *[draw() for draw in self._draw]]
        try:
            arrays: list[Any] = plan.start(inputs)
            for prepare in self._prepare:
                prepare(plan)
            segment = 0
            for changes, run in self._runs:
                plan.run(segment)
                # Python, which may run now, sees what eager calls have changed by then; and that
                # stays if it raises.
                for change in changes:
                    change(arrays)
                segment = run(plan, segment + 1)
            plan.run(segment)
        except chainerx.ChainerxError as error:
            text = str(error)
            if not text.startswith('run: '):  # which ChainerX calls the plan itself
                raise
            raise type(error)(text[len('run: ') :]) from None
        for change in self._changes:
            change(arrays)
        return self._result(arrays)
