"""Updates of optimizers: by kernels of a plan, or eagerly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import optimizer
from chainer._core.optimizers import update
from chainer.compilation._kinds import is_patched
from chainer.compilation._trace import is_framework_module
from chainer.optimizer_hooks._base import AddingHook

if TYPE_CHECKING:
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


class EagerUpdate:
    """An update that runs eagerly, between segments of a plan.

    Args:
        opt: The optimizer.
        fixed: A watch of the arrays of parameters.

    """

    def __init__(self, opt: Any, fixed: Any) -> None:
        self._optimizer = opt
        self._fixed = fixed

    def run(self, plan: Any, segment: int) -> int:
        """Updates; returns the segment with which the plan goes on."""
        self._optimizer.update()
        if self._fixed.find_change() >= 0:
            raise RuntimeError(
                'chainer.compile: an update replaced the array of a parameter in the middle '
                'of a compiled function, which cannot go on'
            )
        return segment


class _Group:
    """Parameters that one call of a kernel updates: with equal rules, updated equally often."""

    def __init__(self) -> None:
        self.rules: list[Any] = []
        self.arrays: list[Any] = []
        self.counters: list[dict[str, Any]] = []

    def add(self, rule: Any, array: Any) -> None:
        self.rules.append(rule)
        self.arrays.append(array)
        self.counters.append(vars(rule))

    @property
    def states(self) -> list[Any]:
        rules = self.rules
        return [rule._state[name] for name in rules[0]._state_names for rule in rules]

    def scalars(self) -> list[float] | None:
        """Returns the scalars of the next step, or ``None`` if a kernel cannot make it."""
        rule = self.rules[0]
        t = rule.t
        if any([counter['t'] != t for counter in self.counters]):
            return None
        rule.t = t + 1
        try:
            scalars: list[float] = rule._scalars_for(self.arrays[0].dtype)
        except Exception:  # noqa: BLE001 - the eager update raises it, too
            return None
        finally:
            rule.t = t
        return scalars if update.are_numbers(scalars) else None

    def count(self) -> None:
        t = self.rules[0].t + 1
        for counter in self.counters:
            counter['t'] = t


class PlannedUpdate:
    """An update by kernels, which are a segment of a plan.

    Each run gives the kernels the hyperparameters of the moment. What else tells what an update
    does has to be watched; see :meth:`watch`. Steps are of single elements, so it does not matter
    that the eager update may group parameters in another way.

    Args:
        opt: The optimizer.
        groups: Its parameters.
        eager: The same update run eagerly, for hyperparameters that are no numbers.

    """

    def __init__(self, opt: Any, groups: list[_Group], eager: EagerUpdate) -> None:
        self._optimizer = opt
        self._groups = groups
        self._eager = eager
        self._first = 0  # number of the first call that has scalars
        self._hooks: list[Any] = []  # a hook for each of its calls

    @property
    def states(self) -> list[Any]:
        """The arrays of the states."""
        return [state for group in self._groups for state in group.states]

    def watch(self, scope: Scope) -> None:
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
            scalars = group.scalars()
            assert scalars is not None
            grads = [array.grad for array in group.arrays]
            name = group.rules[0]._chainerx_name
            group.count()
            if not update.run_kernel(name, group.arrays + grads + group.states, scalars):
                raise TypeError(f'ChainerX has no kernel {name} for these arrays')

    def run(self, plan: Any, segment: int) -> int:
        """Updates; returns the segment with which the plan goes on."""
        steps = [hook._scalars(1.0) if _is_number(hook.rate) else None for hook in self._hooks]
        steps += [group.scalars() for group in self._groups]
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
    groups: dict[Any, _Group] = {}
    params = list(opt.target.params())
    if len(set(map(id, params))) < len(params):
        return None
    parts = [opt, *opt._pre_update_hooks.values(), *params, *[p.update_rule for p in params]]
    if any(map(is_patched, {type(part) for part in parts})):
        return None
    for param in params:
        rule, array = param.update_rule, param._array
        if (
            type(array) is not _chx_ndarray
            or not param._requires_grad
            or array.grad is None
            or param._fresh_grad
            or param._layout is not None
        ):
            return None
        if rule is None or not rule.enabled:
            continue
        if not _is_plain(rule, param):
            return None
        own = len(vars(rule.hyperparam)) > 1
        values = rule.hyperparam if own else rule.hyperparam._parent
        key = type(rule), id(values), rule._own_values, rule.t, array.dtype
        groups.setdefault(key, _Group()).add(rule, array)
    if not groups or any(group.scalars() is None for group in groups.values()):
        return None
    return PlannedUpdate(opt, list(groups.values()), eager)


def lacks_states(opt: Any) -> bool:
    """Tells whether the next update makes states, or moves them to the device."""
    rules = [param.update_rule for param in opt.target.params()]
    return any(
        rule is not None
        and rule.enabled
        and (rule._state is None or any(type(v) is not _chx_ndarray for v in rule._state.values()))
        for rule in rules
    )


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


def _is_plain(rule: Any, param: Any) -> bool:
    array = param._array
    return (
        is_framework_module(type(rule).__module__)
        and update._is_plain(type(rule), type(param))  # type: ignore[arg-type]
        and not (rule._pre_update_hooks or rule._post_update_hooks)
        and not (rule._use_fp32_update and array.dtype == numpy.float16)
        and rule._state is not None
        and rule._state.keys() == set(rule._state_names)
        and all(_fits(rule._state[name], array) for name in rule._state_names)
    )


def _fits(state: Any, array: Any) -> bool:
    return (
        type(state) is _chx_ndarray
        and state.dtype == array.dtype
        and state.shape == array.shape
        and state.device is array.device
    )
