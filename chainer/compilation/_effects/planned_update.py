"""Updates of optimizers by kernels of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import optimizer
from chainer._core.optimizers import update
from chainer._core.optimizers.elementwise import Group
from chainer.compilation._effects import undo
from chainer.compilation._effects.effect import Effect, methods_of
from chainer.compilation._effects.stages import Hook, HookedSteps, Stage, Steps, stage_of_hook
from chainer.compilation._kinds.ownership import is_patched
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.compilation._effects.eager_update import EagerUpdate
    from chainer.compilation._scope import Scope

_chx_ndarray = chainerx.ndarray
#: What an update calls.
_METHODS = (
    'reallocate_cleared_grads', 'check_nan_in_grads', 'call_hooks', 'call_hook',
    'is_safe_to_update', 'update_loss_scale', '_looks_at_grads',
)  # fmt: skip
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
        # Found once: runs of small models take a few microseconds.
        self._scalars = methods_of(self._stages, 'scalars', Stage)
        self._eager_hooks = [hook for hook in hooks if hook.runs_eagerly]
        self._late_eager_hooks = [hook for hook in late_hooks if hook.runs_eagerly]
        names = [hook.name for hook in [*self._eager_hooks, *self._late_eager_hooks]]
        self.interruptions = len(names)
        self.reason = f'Python reads or draws numbers in {", ".join(names)}' if names else ''

    @property
    def states(self) -> list[Any]:
        """The arrays of the states."""
        rules = [rule for step in self._steps for rule in step.group.rules]
        return [state for rule in rules for state in rule._state.values()]

    def guard(self, scope: Scope) -> None:
        opt = self._optimizer
        for name in vars(opt).keys() & {*_SETTINGS}:  # the scope sees it if others come
            scope.add(scope.watch.add_entry, f'the optimizer.{name}', vars(opt), name)
        for hooks in opt._pre_update_hooks, opt._post_update_hooks:
            scope.add(scope.watch.add_items, 'hooks of the optimizer', hooks)
            scope.add(scope.watch.add_elements, 'the order of hooks of the optimizer', hooks)
        updated = {id(rule) for step in self._steps for rule in step.group.rules}
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
        _record(self._hooks, recorder, end_segment)
        self._optimizer.t += 1
        _record([*self._steps, *self._late_hooks], recorder, end_segment)
        count = sum(len(scalars() or ()) for scalars in self._scalars)
        if recorder.scalars_count - self._first != count:
            # Something did not run by the kernel that is made for it, with a rate that is watched
            # by nobody.
            recorder.note('an update runs by other kernels than those of its stages')
        end_segment()

    def run(self, plan: Any, segment: int) -> int:
        opt = self._optimizer
        # All numbers are read before anything runs: an eager update must find all as it was.
        found = [scalars() for scalars in self._scalars]
        if None in found or type(opt.t) is not int:
            return self._eager.run(plan, segment) + self.interruptions + 1
        i = self._first
        for kernels in found:
            for values in kernels:
                plan.set_scalars(i, values)
                i += 1
        for hook in self._eager_hooks:
            plan.run(segment)
            segment += 1
            hook.run()
        opt.t += 1
        for step in self._steps:
            step.group.count()
        for hook in self._late_eager_hooks:
            plan.run(segment)
            segment += 1
            hook.run()
        plan.run(segment)
        return segment + 1

    def save(self) -> Callable[[], None]:
        return undo.save_optimizer(self._optimizer)

    def results(self) -> list[tuple[str, Any]]:
        return [('a state of an optimizer', array) for array in undo.states_of(self._optimizer)]


def _record(stages: Sequence[Stage], recorder: Any, end_segment: Callable[[], None]) -> None:
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


def plan_update(opt: Any, eager: EagerUpdate) -> PlannedUpdate:
    """Returns the update of an optimizer by kernels.

    Raises:
        GraphBreak: If only the eager one serves.

    """
    _check_optimizer(opt)
    params = list(opt.target.params())
    # Before `divide`, which fills missing gradients: hooks of an eager update may see that.
    for param in params:
        _check_parameter(param)
    hooks = [stage_of_hook(hook, opt) for hook in opt._pre_update_hooks.values()]
    late_hooks = [stage_of_hook(hook, opt) for hook in opt._post_update_hooks.values()]
    groups, rest = update.divide(params)
    steps: list[Steps] = [Steps(group) for group in groups]
    for param in rest:
        rule = param.update_rule
        if rule is not None and rule.enabled:
            group = Group.of_one(param)
            if group is None:
                raise GraphBreak(f'{type(rule).__name__} updates parameters in a way of its own')
            steps.append(HookedSteps(group))
    if not steps:
        raise GraphBreak('it has no parameters to update')
    rules = [rule for step in steps for rule in step.group.rules]
    if len({*map(id, rules)}) < len(rules):  # which count each parameter
        raise GraphBreak('an update rule has several parameters')
    return PlannedUpdate(opt, hooks, steps, late_hooks, eager)


def _check_optimizer(opt: Any) -> None:
    cls, base = type(opt), optimizer.GradientMethod
    replaced = [
        name
        for name in _METHODS
        if name in vars(opt) or getattr(cls, name) is not getattr(base, name)
    ]
    if replaced:
        raise GraphBreak(f'{cls.__name__} has a method {replaced[0]} of its own')
    if opt._loss_scaling_is_dynamic:
        raise GraphBreak('its loss scale is dynamic, so Python reads gradients')
    if opt._params_to_update is not None:
        raise GraphBreak('it updates other parameters than those of its target')
    hooks = [*opt._pre_update_hooks.values(), *opt._post_update_hooks.values()]
    params = list(opt.target.params())
    parts = [opt, *hooks, *params, *[param.update_rule for param in params]]
    if any(map(is_patched, {type(part) for part in parts})):
        raise GraphBreak('the program has replaced a method of a class that it needs')


def _check_parameter(param: Any) -> None:
    array = param._array
    if (
        type(array) is not _chx_ndarray
        or not param._requires_grad
        or array.grad is None
        or param._fresh_grad
        or param._layout is not None
    ):
        raise GraphBreak(f'the parameter {param.name} has no gradient')
