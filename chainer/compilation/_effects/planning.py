"""Which updates of optimizers kernels of a plan can make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import optimizer
from chainer._core.optimizers import update
from chainer._core.optimizers.elementwise import Group
from chainer._core.optimizers.loss_scaling import all_finite
from chainer.compilation._effects.planned_update import PlannedUpdate
from chainer.compilation._effects.scaled_update import ScaledUpdate
from chainer.compilation._effects.stages import HookedSteps, Steps, stage_of_hook
from chainer.compilation._kinds.ownership import is_patched
from chainer.compilation._trace import GraphBreak

if TYPE_CHECKING:
    from chainer.compilation._effects.eager_update import EagerUpdate

_chx_ndarray = chainerx.ndarray
#: What an update calls.
_METHODS = (
    'reallocate_cleared_grads', 'check_nan_in_grads', 'call_hooks', 'call_hook',
    'is_safe_to_update', 'update_loss_scale', '_looks_at_grads',
)  # fmt: skip


def plan_update(opt: Any, eager: EagerUpdate) -> PlannedUpdate:
    """Returns the update of an optimizer by kernels.

    Raises:
        GraphBreak: If only the eager one serves.

    """
    params = list(opt.target.params())
    # Before `divide`, which fills missing gradients: hooks of an eager update may see that.
    check_update(opt, params)
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
    # Only such an update depends on what gradients are, and so on Python.
    if not opt._loss_scaling_is_dynamic:
        return PlannedUpdate(opt, hooks, steps, late_hooks, eager)
    if any(isinstance(step, HookedSteps) for step in steps):
        # They change gradients, which a run would not have where it leaves the steps out.
        raise GraphBreak('an update rule has hooks, and the loss scale is dynamic')
    if not all(all_finite(param.raw_array.grad) for param in params):
        raise GraphBreak('gradients are not finite')
    return ScaledUpdate(opt, hooks, steps, late_hooks, eager)


def check_update(opt: Any, params: list[Any]) -> None:
    """Raises unless kernels can stand for all that an optimizer's update of parameters calls."""
    _check_optimizer(opt, params)
    for param in params:
        _check_parameter(param)


def _check_optimizer(opt: Any, params: list[Any]) -> None:
    cls, base = type(opt), optimizer.GradientMethod
    replaced = [
        name
        for name in _METHODS
        if name in vars(opt) or getattr(cls, name) is not getattr(base, name)
    ]
    if replaced:
        raise GraphBreak(f'{cls.__name__} has a method {replaced[0]} of its own')
    if opt._params_to_update is not None:
        raise GraphBreak('it updates other parameters than those of its target')
    # Kernels stand for these methods, so that a replaced one would not be called.
    hooks = [*opt._pre_update_hooks.values(), *opt._post_update_hooks.values()]
    parts = [opt, *hooks, *params, *[param.update_rule for param in params]]
    if any(map(is_patched, {type(part) for part in parts})):
        raise GraphBreak('the program has replaced a method of a class that it needs')


def _check_parameter(param: Any) -> None:
    array = param.raw_array
    if (
        type(array) is not _chx_ndarray
        or not param.requires_grad
        or array.grad is None
        or param._fresh_grad
        or param.layout is not None
    ):
        raise GraphBreak(f'the parameter {param.name} has no gradient')
