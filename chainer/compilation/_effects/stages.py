"""The stages of an update: hooks, and the steps of update rules."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import chainerx
from chainer import optimizer_hooks
from chainer._core.optimizers.elementwise import ElementwiseRule
from chainer._core.optimizers.update_rule import master_of
from chainer.compilation._trace import GraphBreak, is_framework_module
from chainer.optimizer_hooks.gradient_noise import exponential_decay_noise
from chainer.optimizers.adam import AdamRule

if TYPE_CHECKING:
    from chainer._core.optimizers.elementwise import Group
    from chainer.compilation._scope import Scope

_chx_ndarray = chainerx.ndarray


class Scalars(NamedTuple):
    """Scalars of a kernel, as files have them.

    Attributes:
        values: The scalars, or what each update computes those of Adam from.
        rule: How they are made; see ``PlanScalars::Rule`` in ``capture/saved_plan.h``.
        updates: Of Adam the number of updates so far.

    """

    values: list[float]
    rule: int = 0
    updates: int = 0


class Stage:
    """A part of an update.

    Attributes:
        runs_eagerly (bool): Whether it runs eagerly, between segments, and not by kernels.
        name (str): What it is called in descriptions of plans.

    """

    runs_eagerly = False
    name = ''

    def guard(self, scope: Scope) -> None:
        """Lets the plan run only while the stage does the same, but for its scalars."""

    def record(self, recorder: Any) -> None:
        """Runs while a recorder notes the kernels, unless the stage runs eagerly."""

    def scalars(self) -> list[list[float]] | None:
        """Returns those of the next run, a list for each kernel; ``None`` if no kernel takes them.

        Other numbers are constants of the plan.
        """
        return []

    def saved_scalars(self) -> list[Scalars]:
        """Returns what the scalars of all further runs are made of.

        Raises:
            ValueError: If C++ cannot make them.

        """
        found = self.scalars()
        if found is None:
            raise ValueError('a hyperparameter is no number')
        return [Scalars(values) for values in found]


# -- hooks


class Hook(Stage):
    """A hook of this package that runs by kernels, with constants."""

    draws = False
    #: Attributes whose changes the stage follows; others are watched.
    followed: tuple[str, ...] = ()

    def __init__(self, hook: Any, opt: Any) -> None:
        self.name = hook.name
        self._hook = hook
        self._optimizer = opt

    def guard(self, scope: Scope) -> None:
        _guard_hook(scope, self._hook, self.followed)

    def record(self, recorder: Any) -> None:
        self._optimizer.call_hook(self._hook)

    def run(self) -> None:
        """Runs the hook eagerly."""
        self._optimizer.call_hook(self._hook)


class AddingHook(Hook):
    """Weight decay and Lasso, whose kernels take the rate of the moment."""

    followed = ('rate',)

    def __init__(self, hook: Any, opt: Any) -> None:
        super().__init__(hook, opt)
        self._count = 0  # of kernels

    def record(self, recorder: Any) -> None:
        # The hook itself runs a kernel for each group of parameters.
        groups, _ = self._hook._divide(self._optimizer.target.params())
        self._count = len(groups)
        super().record(recorder)

    def scalars(self) -> list[list[float]] | None:
        if not _is_number(self._hook.rate):
            return None
        return [self._hook._scalars(1.0)] * self._count


class EagerHook(Hook):
    """A hook of this package of which Python reads numbers, or which draws some."""

    runs_eagerly = True


class DrawingHook(EagerHook):
    """A hook that draws random numbers."""

    draws = True


_HOOKS: dict[type, tuple[type[Hook], set[str]]] = {
    optimizer_hooks.WeightDecay: (AddingHook, {'rate'}),
    optimizer_hooks.Lasso: (AddingHook, {'rate'}),
    optimizer_hooks.GradientHardClipping: (Hook, {'lower_bound', 'upper_bound'}),
    optimizer_hooks.GradientLARS: (Hook, {'threshold', 'weight_decay', 'eps'}),
    optimizer_hooks.GradientClipping: (EagerHook, {'threshold'}),
    optimizer_hooks.GradientNoise: (DrawingHook, {'eta', 'noise_func'}),
}


def stage_of_hook(hook: Any, opt: Any) -> Hook:
    """Returns the stage of a hook of an optimizer.

    Raises:
        GraphBreak: If it may do anything.

    """
    kind, names = _HOOKS.get(type(hook), (Hook, None))
    if names is None:
        raise GraphBreak(f'the hook {_name_of(hook)} is not one of chainer.optimizer_hooks')
    # Kernels compute what methods of the class do with numbers.
    # Attributes of an object may hide methods of its class.
    if vars(hook).keys() != names or not all(
        _is_number(value) or value is exponential_decay_noise for value in vars(hook).values()
    ):
        raise GraphBreak(f'the hook {_name_of(hook)} has attributes of the program')
    return kind(hook, opt)


def _guard_hook(scope: Scope, hook: Any, followed: tuple[str, ...] = ()) -> None:
    scope.visit(type(hook), type(hook).__name__)
    scope.add(scope.watch.add_attributes, f'the hook {hook.name}', hook, followed)


def _name_of(hook: Any) -> str:
    name = getattr(hook, '__qualname__', type(hook).__qualname__)
    return name if isinstance(name, str) else type(hook).__qualname__


# -- steps


class Steps(Stage):
    """The step that the rules of a group make.

    Args:
        group: The parameters, with their rules.

    """

    def __init__(self, group: Group) -> None:
        self.group = group
        if not _has_one_kernel(group) or self.scalars() is None:
            raise GraphBreak(f'no kernel makes a step of {type(group.rules[0]).__name__}')

    def guard(self, scope: Scope) -> None:
        kind = type(self.group.rules[0])
        scope.visit(kind, kind.__name__)
        for rule in self.group.rules:
            # Each update changes the count; arrays of states are compared one by one below.
            scope.add(scope.watch.add_attributes, 'an update rule', rule, ['t', '_state'])
            for hooks in rule._pre_update_hooks, rule._post_update_hooks:
                scope.add(scope.watch.add_items, 'hooks of an update rule', hooks)
            if rule._state:
                label = 'the state of an update rule'
                scope.add(scope.watch.add_items_of_entry, label, vars(rule), '_state')
            if self.group.has_masters():
                entries = vars(rule._fp32_param)
                scope.add(scope.watch.add_entry, 'a float32 copy', entries, '_array')
        self._guard_hyperparameters(scope, kind._defaults)

    def _guard_hyperparameters(self, scope: Scope, defaults: dict[str, Any]) -> None:
        # Scalars follow numbers. Flags choose the kernel.
        followed = {name for name, value in defaults.items() if type(value) in (int, float)}
        found: dict[int, Any] = {}  # most rules share those of the optimizer
        for rule in self.group.rules:
            values = rule.hyperparam
            while values is not None and id(values) not in found:
                found[id(values)] = values
                numbers = [name for name in vars(values) if name in followed]
                scope.add(scope.watch.add_attributes, 'hyperparameters', values, numbers)
                values = values._parent

    def renew(self) -> bool:
        """Takes the gradients of the moment; returns whether the rules can still step as one."""
        group = self.group
        arrays: list[Any] = [param.raw_array for param in group.params]
        if not all(map(operator.is_, arrays, group.arrays)) or self.scalars() is None:
            return False
        group.grads = [array.grad for array in arrays]
        return True

    def record(self, recorder: Any) -> None:
        group = self.group
        # First, as in eager updates: hooks of rules read the count.
        group.count()
        if group.has_masters():
            self._step(group.take_masters())
            group.give_masters()
        else:
            self._step(group)
        group.grads.clear()  # the plan has its own

    def _step(self, group: Group) -> None:
        step = group.step()
        if not step.run_on_chainerx():
            raise TypeError(f'ChainerX has no kernel {step.kernel} for these arrays')

    def saved_scalars(self) -> list[Scalars]:
        rule = self.group.rules[0]
        hp = rule.hyperparam
        if type(rule) is AdamRule:
            values = [hp.alpha, hp.beta1, hp.beta2, hp.eps, hp.eta, hp.weight_decay_rate]
            if hp.adabound:
                # As for the bounds.
                values += [hp.final_lr * hp.alpha / rule.initial_alpha, hp.gamma]
            return [Scalars([*map(float, values)], 1 + bool(hp.adabound), rule.t)]
        if type(rule)._scalars is not ElementwiseRule._scalars:
            raise ValueError(f'scalars of {type(rule).__name__} change at each update')
        return super().saved_scalars()

    def scalars(self) -> list[list[float]] | None:
        # A schedule may have set anything, such as a text.
        try:
            scalars = self.group.next_scalars()
        except Exception:  # noqa: BLE001 - the eager update raises it, too
            return None
        return None if scalars is None else [scalars]


class HookedSteps(Steps):
    """The step of a rule with hooks, which run by kernels, with constants."""

    def __init__(self, group: Group) -> None:
        super().__init__(group)
        # Hooks of a rule see one parameter, so that its group has no other.
        (self._rule,) = group.rules
        self._hooks = [*self._rule._pre_update_hooks.values()]
        self._late_hooks = [*self._rule._post_update_hooks.values()]
        for hook in self._hooks + self._late_hooks:
            if stage_of_hook(hook, None).runs_eagerly:
                raise GraphBreak(f'the hook {_name_of(hook)} of an update rule runs eagerly')

    def guard(self, scope: Scope) -> None:
        super().guard(scope)
        for hook in self._hooks + self._late_hooks:
            _guard_hook(scope, hook)

    def _step(self, group: Group) -> None:
        (param,) = group.params
        for hook in self._hooks:
            hook(self._rule, param)
        super()._step(group)
        for hook in self._late_hooks:
            hook(self._rule, param)


def _has_one_kernel(group: Group) -> bool:
    if not is_framework_module(type(group.rules[0]).__module__):
        return False
    arrays = [*map(_master_of, group.rules, group.arrays)] if group.has_masters() else group.arrays
    return all(map(_has_fitting_states, group.rules, arrays))


def _master_of(rule: Any, array: Any) -> Any:
    """Returns the float32 copy of a parameter, or ``None`` if the update makes another one."""
    master = master_of(rule)
    is_fitting = (
        type(master) is _chx_ndarray
        and master.dtype == 'float32'
        and master.shape == array.shape
        and master.device is array.device
    )
    return master if is_fitting else None


def _has_fitting_states(rule: Any, array: Any) -> bool:
    state = rule._state
    return (
        array is not None
        and state is not None
        and state.keys() == set(rule._state_names)
        and all(
            type(value) is _chx_ndarray
            and value.dtype == array.dtype
            and value.shape == array.shape
            and value.device is array.device
            for value in state.values()
        )
    )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
