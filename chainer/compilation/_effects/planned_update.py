"""Updates of optimizers by kernels of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import optimizer
from chainer._core.optimizers import update
from chainer.compilation._effects import undo
from chainer.compilation._effects.effect import Effect
from chainer.compilation._kinds import is_patched
from chainer.compilation._trace import is_framework_module
from chainer.optimizer_hooks._base import AddingHook

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer._core.optimizers.update import Group
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
    """An update by kernels, which are a segment of a plan.

    Each run gives the kernels the hyperparameters of the moment. What else tells what an update
    does has to be watched; see :meth:`guard`. Steps are of single elements, so it does not matter
    that the eager update may group parameters in another way.

    Args:
        opt: The optimizer.
        groups: Its parameters.
        eager: The same update run eagerly, for hyperparameters that are no numbers.

    """

    def __init__(self, opt: Any, groups: list[Group], eager: EagerUpdate) -> None:
        self._optimizer = opt
        self._groups = groups
        self._eager = eager
        self._first = 0  # number of the first call that has scalars
        self._hooks: list[Any] = []  # a hook for each of its calls

    @property
    def states(self) -> list[Any]:
        """The arrays of the states."""
        rules = [rule for group in self._groups for rule in group.rules]
        return [state for rule in rules for state in rule._state.values()]

    def guard(self, scope: Scope) -> None:
        """Lets the plan run only while an update does the same, but for hyperparameters."""
        opt = self._optimizer
        hyperparams: dict[int, Any] = {}
        rules = {id(rule): rule for group in self._groups for rule in group.rules}
        params = list(opt.target.params())
        for name in vars(opt).keys() & {*_SETTINGS}:  # the scope sees it if others come
            scope.add(scope.watch.add_entry, f'the optimizer.{name}', vars(opt), name)
        for hooks in opt._pre_update_hooks, opt._post_update_hooks:
            scope.add(scope.watch.add_items, 'hooks of the optimizer', hooks)
        parts = [*opt._pre_update_hooks.values(), *rules.values(), *params]
        for kind in {type(part) for part in parts}:
            scope.visit(kind, kind.__name__)
        for hook in opt._pre_update_hooks.values():
            scope.add(scope.watch.add_attributes, f'hook {hook.name}', hook, ['rate'])
        for param in params:
            rule = param.update_rule
            if rule is not None and id(rule) not in rules:
                scope.add(scope.watch.add_entry, 'a frozen parameter', vars(rule), 'enabled')
        for rule in rules.values():
            scope.add(scope.watch.add_attributes, 'an update rule', rule, ['t', '_state'])
            for hooks in rule._pre_update_hooks, rule._post_update_hooks:
                scope.add(scope.watch.add_items, 'hooks of an update rule', hooks)
            if rule._state:
                label = 'the state of an update rule'
                scope.add(scope.watch.add_items_of_entry, label, vars(rule), '_state')
            values = rule.hyperparam
            while values is not None and id(values) not in hyperparams:
                hyperparams[id(values)] = values
                # Flags choose the kernel.
                numbers = [k for k in vars(values) if type(rule._defaults.get(k)) in (int, float)]
                scope.add(scope.watch.add_attributes, 'hyperparameters', values, numbers)
                values = values._parent

    def record(self, recorder: Any) -> None:
        """Updates while a recorder notes the kernels."""
        opt = self._optimizer
        self._first = recorder.scalars_count
        for hook in opt._pre_update_hooks.values():
            opt.call_hook(hook)
            self._hooks += [hook] * (recorder.scalars_count - self._first - len(self._hooks))
        opt.t += 1
        for group in self._groups:
            group.count()
            step = group.step()
            if not step.run_on_chainerx():
                raise TypeError(f'ChainerX has no kernel {step.kernel} for these arrays')
            group.grads.clear()  # the plan has its own

    def run(self, plan: Any, segment: int) -> int:
        """Updates; returns the segment with which the plan goes on."""
        steps = [hook._scalars(1.0) if _is_number(hook.rate) else None for hook in self._hooks]
        steps += map(_next_scalars, self._groups)
        if None in steps or type(self._optimizer.t) is not int:
            return self._eager.run(plan, segment) + 1
        for i, scalars in enumerate(steps, self._first):
            plan.set_scalars(i, scalars)
        opt = self._optimizer
        opt.t += 1
        for group in self._groups:
            group.count()
        plan.run(segment)
        return segment + 1

    def save(self) -> Callable[[], None]:
        return undo.save_optimizer(self._optimizer)

    def results(self) -> list[tuple[str, Any]]:
        return [('a state of an optimizer', array) for array in undo.states_of(self._optimizer)]


def plan_update(opt: Any, eager: EagerUpdate) -> PlannedUpdate | None:
    """Returns the update of an optimizer by kernels, or ``None`` if only the eager one serves."""
    cls, base = type(opt), optimizer.GradientMethod
    if (
        any(getattr(cls, name) is not getattr(base, name) for name in _METHODS)
        or not vars(opt).keys().isdisjoint(_METHODS)
        or opt._loss_scale is not None
        or opt._loss_scaling_is_dynamic
        or opt._params_to_update is not None
        or opt._post_update_hooks
        or not all(map(_is_adding_hook, opt._pre_update_hooks.values()))
    ):
        return None
    params = list(opt.target.params())
    parts = [opt, *opt._pre_update_hooks.values(), *params, *[p.update_rule for p in params]]
    if any(map(is_patched, {type(part) for part in parts})):
        return None
    for param in params:
        array = param._array
        if (
            type(array) is not _chx_ndarray
            or not param._requires_grad
            or array.grad is None
            or param._fresh_grad
            or param._layout is not None
        ):
            return None
    groups, rest = update.divide(params)
    rules = [param.update_rule for param in rest]
    if not groups or any(rule is not None and rule.enabled for rule in rules):
        return None
    return PlannedUpdate(opt, groups, eager) if all(map(_runs_one_kernel, groups)) else None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_adding_hook(hook: Any) -> bool:
    kind = type(hook)
    return (
        issubclass(kind, AddingHook)
        and is_framework_module(kind.__module__)
        and _is_number(hook.rate)
        and hook.call_for_each_param is True
    )


def _runs_one_kernel(group: Group) -> bool:
    rule = group.rules[0]
    return (
        is_framework_module(type(rule).__module__)
        and not group.has_masters()
        and all(map(_has_fitting_states, group.rules, group.arrays))
        and _next_scalars(group) is not None
    )


def _next_scalars(group: Group) -> list[float] | None:
    try:
        return group.next_scalars()
    except Exception:  # noqa: BLE001 - the eager update raises it, too
        return None


def _has_fitting_states(rule: Any, array: Any) -> bool:
    state = rule._state
    return (
        state is not None
        and state.keys() == set(rule._state_names)
        and all(
            type(value) is _chx_ndarray
            and value.dtype == array.dtype
            and value.shape == array.shape
            and value.device is array.device
            for value in state.values()
        )
    )
