"""Updates of optimizers by kernels of a plan."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from chainer.compilation._effects import undo
from chainer.compilation._effects.effect import Effect, methods_of
from chainer.compilation._effects.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.compilation._contents import Contents
    from chainer.compilation._effects.eager_update import EagerUpdate
    from chainer.compilation._effects.loss_scales import LossScale
    from chainer.compilation._effects.stages import Hook, Steps
    from chainer.compilation._scope import Scope

#: Attributes of optimizers that tell what an update does, besides the hooks and the counters.
_SETTINGS = (
    '_pre_update_hooks',
    '_post_update_hooks',
    '_loss_scaling_is_dynamic',
    '_params_to_update',
)


class PlannedUpdate(Effect):
    """An update by kernels, which are a segment of a plan, or several with eager hooks between.

    Each run gives the kernels the hyperparameters of the moment. What else tells what an update
    does is watched. Steps are of single elements, so it does not matter that the eager update may
    group parameters in another way.

    Attributes:
        scale (LossScale): The optimizer's loss scale, if runs read it.
        guards (Scope): What must be unchanged after an eager update of before; ``None``: nothing.

    Args:
        opt: The optimizer.
        hooks: The stages before the steps.
        steps: Those of its parameters.
        late_hooks: The stages after them.
        eager: The same update run eagerly, for hyperparameters that are no numbers.

    """

    def __init__(
        self,
        opt: Any,
        hooks: Sequence[Hook],
        steps: Sequence[Steps],
        late_hooks: Sequence[Hook],
        eager: EagerUpdate,
    ) -> None:
        self._optimizer = opt
        self._hooks = hooks
        self._steps = steps
        self._late_hooks = late_hooks
        self._stages = [*hooks, *steps, *late_hooks]
        self._eager = eager
        self._first = 0  # number of the first call that has scalars
        self._length = 1  # in segments
        self.scale: LossScale | None = None
        self.guards: Scope | None = None
        # Found once: runs of small models take a few microseconds.
        self._scalars = methods_of(self._stages, 'scalars', Stage)
        self._eager_hooks = [hook for hook in hooks if hook.runs_eagerly]
        self._late_eager_hooks = [hook for hook in late_hooks if hook.runs_eagerly]
        self.draws = any(hook.draws for hook in [*hooks, *late_hooks])
        names = [hook.name for hook in [*self._eager_hooks, *self._late_eager_hooks]]
        self.interruptions = len(names)
        self.reason = f'Python reads or draws numbers in {", ".join(names)}' if names else ''

    @property
    def arrays(self) -> list[Any]:
        """The arrays that kernels use besides parameters and gradients."""
        rules = [rule for step in self._steps for rule in step.group.rules]
        return [array for rule in rules for array in undo.arrays_of(rule)]

    def again(self, eager: EagerUpdate) -> PlannedUpdate | None:
        """Returns the same update for another recording, while the guards of this one hold.

        ``None`` if its steps have become others, or depend on gradients.
        """
        if not all(step.renew() for step in self._steps):
            return None
        planned = copy.copy(self)
        planned._eager = eager
        return planned

    def guard(self, scope: Scope) -> None:
        opt = self._optimizer
        for name in vars(opt).keys() & {*_SETTINGS}:  # the scope sees it if others come
            scope.add(scope.watch.add_entry, f'the optimizer.{name}', vars(opt), name)
        # Stages were made of these very objects, and run in this order.
        for hooks in opt._pre_update_hooks, opt._post_update_hooks:
            scope.add(scope.watch.add_items, 'hooks of the optimizer', hooks)
            if len(hooks) > 1:  # another number of them is another change
                scope.add(scope.watch.add_elements, 'the order of hooks of the optimizer', hooks)
        updated = {id(rule) for step in self._steps for rule in step.group.rules}
        # A frozen parameter has no step here, and must get one when it is thawed.
        for param in opt.target.params():
            scope.visit(type(param), type(param).__name__)
            rule = param.update_rule
            if rule is not None and id(rule) not in updated:
                scope.add(scope.watch.add_entry, 'a frozen parameter', vars(rule), 'enabled')
        for stage in self._stages:
            stage.guard(scope)

    def record(self, recorder: Any, end_segment: Callable[[], None]) -> None:
        """Updates while a recorder notes the kernels, and ends segments."""
        self._first = recorder.scalars_count
        start = recorder.segment
        self._record_stages(recorder, end_segment)
        count = sum(len(scalars() or ()) for scalars in self._scalars)
        if recorder.scalars_count - self._first != count:
            # Something did not run by the kernel that is made for it, with a rate that is watched
            # by nobody.
            recorder.note('an update runs by other kernels than those of its stages')
        end_segment()
        # If Python updates instead, a run leaves out so many segments.
        self._length = recorder.segment - start

    def _record_stages(self, recorder: Any, end_segment: Callable[[], None]) -> None:
        record(self._hooks, recorder, end_segment)
        self._optimizer.t += 1
        record([*self._steps, *self._late_hooks], recorder, end_segment)

    def run(self, plan: Any, segment: int) -> int:
        # All numbers are read before anything runs: an eager update must find all as it was.
        found = [scalars() for scalars in self._scalars]
        if (
            None in found
            or type(self._optimizer.t) is not int
            or (self.guards is not None and not self.guards.is_unchanged())
        ):
            return self._eager.run(plan, segment) + self._length
        # In the order in which they were recorded, which is that of their numbers.
        i = self._first
        for kernels in found:
            for values in kernels:
                plan.set_scalars(i, values)
                i += 1
        return self._run_stages(plan, segment)

    def _run_stages(self, plan: Any, segment: int) -> int:
        """Runs the segments; returns the number of the next one."""
        if self._eager_hooks:
            segment = run_hooks(self._eager_hooks, plan, segment)
        self._count()
        if self._late_eager_hooks:
            segment = run_hooks(self._late_eager_hooks, plan, segment)
        plan.run(segment)
        return segment + 1

    def _count(self) -> None:
        self._optimizer.t += 1
        for step in self._steps:
            step.group.count()

    def describe(self, contents: Contents) -> None:
        if self.reason:
            raise ValueError(self.reason)
        call = self._first
        for stage in self._stages:
            for scalars in stage.saved_scalars():
                contents.scalars.append((call, scalars))
                call += 1

    def save(self) -> Callable[[], None]:
        return undo.save_optimizer(self._optimizer)

    def results(self) -> list[tuple[str, Any]]:
        return [('a state of an optimizer', array) for array in undo.states_of(self._optimizer)]


def run_hooks(hooks: Sequence[Hook], plan: Any, segment: int) -> int:
    """Runs hooks eagerly, each after a segment; returns the number of the next one."""
    for hook in hooks:
        plan.run(segment)
        segment += 1
        hook.run()
    return segment


def record(stages: Sequence[Stage], recorder: Any, end_segment: Callable[[], None]) -> None:
    """Runs stages, those with kernels while a recorder notes them."""
    for stage in stages:
        if stage.runs_eagerly:
            end_segment()
            stage.record(recorder)
            continue
        recorder.start()
        try:
            stage.record(recorder)
        finally:
            recorder.stop()
