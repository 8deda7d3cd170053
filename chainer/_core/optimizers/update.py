"""Running update rules on the arrays of parameters, one by one or many at once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd import variable_gradient
from chainer._core.devices.array_types import get_array_types
from chainer._core.optimizers.step import Buffers, Step, are_numbers
from chainer._core.settings.half import is_half
from chainer._core.variables.parameter import Parameter
from chainer._core.variables.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chainer._core.optimizers.update_rule import UpdateRule

_ndarray = numpy.ndarray
_chx_ndarray = chainerx.ndarray


def all_finite(array: Any) -> bool:
    """Tells whether all elements of an array are finite."""
    return bool(backend.get_array_module(array).isfinite(array).all())


def unscale_grad(param: Parameter) -> None:
    """Divides the loss scale out of a gradient."""
    scale, param._loss_scale = param._loss_scale, None
    if param.grad is not None:
        grad = param.grad.copy()
        grad /= scale  # in place, since quotients of 0-dimensional NumPy arrays are scalars
        param.grad = grad


def move_state(state: dict[str, Any], param: Parameter) -> None:
    """Moves the arrays of a state to the device of a parameter."""
    # Looking for a device costs more than to see that all is of NumPy, as it mostly is.
    if type(param.array) is numpy.ndarray:
        for value in state.values():
            if type(value) is not numpy.ndarray:
                break
        else:
            return
    device = param.device
    for name, value in state.items():
        if isinstance(value, get_array_types()) and not (device.is_array_supported(value)):
            state[name] = device.send(value)


def update_core_by_sharing(rule: UpdateRule, param: Parameter) -> None:
    """Runs ``update_core`` on NumPy or CuPy arrays that share ChainerX memory."""
    grad = param.grad
    if grad is None:
        return
    array = backend.from_chx(param.array)
    shared_param: Any = Variable(array, name=param.name, grad=backend.from_chx(grad))
    state = rule._state or {}
    shared_state = backend.from_chx(state)
    rule._state = dict(shared_state)
    try:
        rule.update_core(shared_param)
        if shared_param.array is not array:
            backend.copyto(param.array, shared_param.array)
    finally:
        # Keep the arrays updated in place, move replaced ones to ChainerX.
        for name, value in rule._state.items():
            if name not in state or value is not shared_state[name]:
                is_array = isinstance(value, get_array_types())
                state[name] = param.device.send(value) if is_array else value
        rule._state = state


def lacks_grad(param: Parameter) -> bool:
    """Tells whether a parameter has an array but lacks its possible gradient."""
    if param._fresh_grad:
        variable_gradient.settle(param)
    if param._grad is not None:
        return False
    array = param._array
    if type(array) is _chx_ndarray and param._requires_grad:
        return array.grad is None
    return array is not None and param._requires_grad and param.grad is None


def fill_grad(param: Parameter) -> None:
    """Sets the gradient to zeros."""
    device = param.device
    with backend.using_device(device):
        param.grad = device.xp.zeros_like(param.array)


def update_params(params: Iterable[Parameter], buffers: Buffers) -> None:
    """Updates parameters by their rules.

    For small arrays calls cost more than arithmetic. So parameters with rules of
    :mod:`chainer.optimizers` and equal hyperparameters update together, without
    the layers of methods for hooks and subclasses. ``buffers`` is kept from update to update.
    """
    groups, rest = divide(list(params))
    buffers.start()
    for group in groups:
        group.update(buffers)
    for param in rest:
        param.update()


def divide(params: list[Parameter]) -> tuple[list[Group], list[Parameter]]:
    """Divides parameters into groups that update together, and the rest.

    Fills missing gradients of initialized parameters with zeros.
    """
    # One loop without calls of helpers: it runs for each parameter at each update, which for small
    # models costs more than the arithmetic.
    groups: dict[Any, Group] = {}
    rest: list[Parameter] = []
    last = group = None
    has_shared = len(set(map(id, params))) < len(params)  # which are updated more than once
    for param in params:
        if param._fresh_grad:
            variable_gradient.settle(param)
        rule = param.update_rule
        array = param._array
        if type(array) is _ndarray:
            grad, device = param._grad, None
        elif type(array) is _chx_ndarray and param._requires_grad:
            grad, device = array.grad, array.device
        else:
            grad = None
        if grad is None and lacks_grad(param):
            fill_grad(param)
        if rule is None:
            continue
        if (
            grad is None
            or not rule.enabled
            or rule._pre_update_hooks
            or rule._post_update_hooks
            or param._layout is not None
        ):
            rest.append(param)
            continue
        hyperparam: Any = rule.hyperparam
        if len(hyperparam.__dict__) == 1:  # all values inherited
            hyperparam = hyperparam._parent
        # All that a step depends on. Values of a rule's own keep it out of the groups of others,
        # since sets of hyperparameters are compared by identity.
        key = (
            type(rule),
            type(param),
            hyperparam,
            rule._own_values,
            rule.t,
            rule._use_fp32_update,
            array.dtype,
            device,
        )
        # Parameters in a row mostly have equal keys, and hashing one costs more than comparing.
        if key != last:
            last = key
            # mypy thinks that classes with `__hash__` are unhashable.
            plain = _is_plain(type(rule), type(param))  # type: ignore[arg-type]
            group = groups.setdefault(key, Group()) if plain and not has_shared else None
        if group is None:
            rest.append(param)
            continue
        group.params.append(param)
        group.rules.append(rule)
        group.arrays.append(array)
        group.grads.append(grad)
    return list(groups.values()), rest


@functools.cache
def _is_plain(rule_class: Any, param_class: type[Parameter]) -> bool:
    """Tells whether an update is just the step of the rule's class."""
    return param_class.update is Parameter.update and rule_class._is_only_a_step()


class Group:
    """Parameters of one device and dtype whose rules make the same step."""

    def __init__(self) -> None:
        self.params: list[Parameter] = []
        self.rules: list[Any] = []
        self.arrays: list[Any] = []
        self.grads: list[Any] = []

    @classmethod
    def of_one(cls, param: Parameter) -> Group | None:
        """Returns a group of one parameter, if its update is a step, besides hooks of its rule."""
        rule: Any = param.update_rule
        if not _is_plain(type(rule), type(param)):  # type: ignore[arg-type]
            return None
        group = cls()
        group.params.append(param)
        group.rules.append(rule)
        group.arrays.append(param._array)
        group.grads.append(param.grad)
        return group

    def has_masters(self) -> bool:
        """Tells whether the step is made on float32 copies."""
        return self.rules[0]._use_fp32_update and is_half(self.arrays[0].dtype)

    def count(self) -> None:
        """Counts an update."""
        # Rules of a group have equal counts, which are a part of its key.
        t = self.rules[0].t + 1
        for rule in self.rules:
            rule.t = t

    def step(self) -> Step:
        """Returns the step of the update counted last."""
        step: Step = self.rules[0]._step_of([self.arrays, self.grads, *self._states()])
        return step

    def next_scalars(self) -> list[float] | None:
        """Returns the scalars of the next step, or ``None`` if one kernel cannot make it."""
        rule = self.rules[0]
        t = rule.t
        if any([r.t != t for r in self.rules]):
            return None
        # Scalars such as Adam's step size depend on the count, which must stay if this is all.
        rule.t = t + 1
        try:
            scalars: list[float] = rule._scalars_for(self.arrays[0].dtype)
        finally:
            rule.t = t
        return scalars if are_numbers(scalars) else None

    def update(self, buffers: Buffers) -> None:
        """Updates the parameters."""
        self.count()
        params = self.params
        has_masters = self.has_masters()
        if has_masters:
            self.params = [rule._take_master(param) for rule, param in zip(self.rules, params)]
            self.arrays = [master.array for master in self.params]
            self.grads = [master.grad for master in self.params]
        else:
            for i, param in enumerate(params):
                if param._loss_scale is not None:
                    unscale_grad(param)
                    self.grads[i] = param.grad
        self._run(self.step(), buffers)
        if has_masters:
            for rule, param in zip(self.rules, params):
                rule._give_master(param)

    def _run(self, step: Step, buffers: Buffers) -> None:
        if type(self.arrays[0]) is _ndarray:
            buffers.run(step, self.rules)
        elif not step.run_on_chainerx():
            for rule, param in zip(self.rules, self.params):
                rule.update_core(param)

    def _states(self) -> list[list[Any]]:
        """Returns the arrays of each kind of state, on the device of the parameters."""
        names = self.rules[0]._state_names
        dicts = [rule._state for rule in self.rules]
        if all([state is not None for state in dicts]):
            states = [[state[name] for state in dicts] for name in names]
            if all(map(self._are_here, states)):
                return states
        for rule, param in zip(self.rules, self.params):
            rule._prepare(param)
        return [[rule._state[name] for rule in self.rules] for name in names]

    def _are_here(self, arrays: Any) -> bool:
        if type(self.arrays[0]) is _ndarray:
            return {*map(type, arrays)} == {_ndarray}
        device = self.arrays[0].device
        return all([type(array) is _chx_ndarray and array.device is device for array in arrays])
