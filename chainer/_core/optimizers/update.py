"""Running update rules on the arrays of parameters, one by one or many at once."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend, configuration
from chainer._core.autograd import fresh_gradients
from chainer._core.devices.array_types import get_array_types
from chainer._core.variables.parameter import Parameter
from chainer._core.variables.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from chainer._core.optimizers.update_rule import UpdateRule

_ndarray = numpy.ndarray
_chx_ndarray = chainerx.ndarray
_config = configuration.config


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
        fresh_gradients.settle(param)
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
    the layers of methods for hooks and subclasses.

    Fills missing gradients of initialized parameters with zeros.

    Args:
        params (iterable of Parameters): Parameters.
        buffers (Buffers): Memory kept from update to update.

    """
    params = list(params)
    if len(set(map(id, params))) < len(params):  # a shared one is updated more than once
        for param in params:
            if lacks_grad(param):
                fill_grad(param)
            param.update()
        return
    groups: dict[Any, _Group | None] = {}
    rest: list[Parameter] = []
    last = group = None
    for param in params:
        if param._fresh_grad:
            fresh_gradients.settle(param)
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
        if key != last:
            last = key
            if key not in groups:
                # mypy thinks that classes with `__hash__` are unhashable.
                plain = _is_plain(type(rule), type(param))  # type: ignore[arg-type]
                groups[key] = _Group() if plain else None
            group = groups[key]
        if group is None:
            rest.append(param)
            continue
        group.params.append(param)
        group.rules.append(rule)
        group.arrays.append(array)
        group.grads.append(grad)

    buffers.start()
    for group in groups.values():
        if group is not None:
            group.update(buffers)
    for param in rest:
        param.update()


@functools.cache
def _is_plain(rule_class: Any, param_class: type[Parameter]) -> bool:
    """Tells whether an update is just the step of the rule's class."""
    return param_class.update is Parameter.update and rule_class._is_only_a_step()


class _Group:
    """Parameters of one device and dtype whose rules have the same hyperparameters."""

    def __init__(self) -> None:
        self.params: list[Parameter] = []
        self.rules: list[Any] = []
        self.arrays: list[Any] = []
        self.grads: list[Any] = []

    def update(self, buffers: Buffers) -> None:
        rule = self.rules[0]
        t = rule.t + 1
        for r in self.rules:
            r.t = t
        if rule._use_fp32_update and self.arrays[0].dtype == numpy.float16:
            self._update_masters(buffers)
            return
        for i, param in enumerate(self.params):
            if param._loss_scale is not None:
                unscale_grad(param)
                self.grads[i] = param.grad
        self._step(buffers)

    def _update_masters(self, buffers: Buffers) -> None:
        params = self.params
        self.params = [rule._take_master(param) for rule, param in zip(self.rules, params)]
        self.arrays = [master.array for master in self.params]
        self.grads = [master.grad for master in self.params]
        self._step(buffers)
        for rule, param in zip(self.rules, params):
            rule._give_master(param)

    def _step(self, buffers: Buffers) -> None:
        rule = self.rules[0]
        states = self._states()
        scalars = rule._scalars_for(self.arrays[0].dtype)
        if type(self.arrays[0]) is _ndarray:
            if are_numbers(scalars):
                self._step_numpy(states, scalars, buffers)
                return
        elif run_kernel(rule._chainerx_name, sum(states, self.arrays + self.grads), scalars):
            return
        for r, param in zip(self.rules, self.params):
            r.update_core(param)

    def _states(self) -> list[list[Any]]:
        """Returns the arrays of each kind of state, on the device of the parameters."""
        dicts = [rule._state for rule in self.rules]
        if not all(dicts):  # not yet made, or the rule has none
            for i, state in enumerate(dicts):
                if state is None:
                    self.rules[i]._prepare(self.params[i])
                    dicts[i] = self.rules[i]._state
        names = self.rules[0]._state_names
        states = [[state[name] for state in dicts] for name in names]
        if not all(map(self._are_here, states)):
            for rule, param in zip(self.rules, self.params):
                rule._prepare(param)
            states = [[state[name] for state in dicts] for name in names]
        return states

    def _are_here(self, arrays: Any) -> bool:
        kind = type(self.arrays[0])
        if set(map(type, arrays)) != {kind}:
            return False
        if kind is _ndarray:
            return True
        device = self.arrays[0].device
        return all([array.device is device for array in arrays])

    def _step_numpy(
        self, states: list[list[Any]], scalars: Sequence[Any], buffers: Buffers
    ) -> None:
        # Arrays that own their memory do not overlap.
        small = [
            i for i, array in enumerate(self.arrays) if array.size <= _SMALL and array.base is None
        ]
        if len(small) < 2 or len({id(self.arrays[i]) for i in small}) < len(small):
            small = []
        columns: Sequence[list[Any]] = self.arrays, self.grads, *states
        rules = self.rules
        if len(small) < len(rules):
            joined = set(small)
            for i, rule in enumerate(rules):
                if i not in joined:
                    rule._step_on([column[i] for column in columns], scalars)
            columns = [[column[i] for i in small] for column in columns]
            rules = [rules[i] for i in small]
        if small:
            buffers.step(rules, columns, scalars)


# Up to this size it is cheaper to join arrays than to update them one by one.
_SMALL = 2048


class Buffers:
    """Memory in which small NumPy arrays are joined, so that one step updates all of them.

    It belongs to an optimizer, but not to its state: copies of it are empty.
    """

    def __init__(self) -> None:
        self._joined: dict[tuple[int, ...], _Joined] = {}
        self._before: dict[tuple[int, ...], _Joined] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Buffers, ()

    def start(self) -> None:
        """Forgets the buffers that the previous update did not use."""
        self._joined, self._before = {}, self._joined

    def step(
        self, rules: Sequence[Any], columns: Sequence[Sequence[Any]], scalars: Sequence[Any]
    ) -> None:
        """Updates the parameters ``columns[0]`` and the states ``columns[2:]``.

        The states of the rules become views of the joined memory, which saves
        copies in later updates.
        """
        arrays = columns[0]
        key = tuple(map(id, arrays))
        joined = self._before.pop(key, None)
        if joined is None or len(joined.flat) != len(columns):
            joined = _Joined(arrays, len(columns))
        self._joined[key] = joined
        copied = [
            k
            for k, pieces in enumerate(joined.pieces)
            if k < 2 or not all(map(operator.is_, pieces, columns[k]))
        ]
        for k in copied:
            for piece, array in zip(joined.pieces[k], columns[k]):
                piece[...] = array
        rules[0]._step(*joined.flat, *scalars)
        keeps_states = arrays[0].dtype == joined.flat[0].dtype
        for k in copied:
            if k == 1:  # the gradient is unchanged
                continue
            if k > 1 and keeps_states:
                name = rules[0]._state_names[k - 2]
                for rule, piece in zip(rules, joined.pieces[k]):
                    rule._state[name] = piece
            else:
                for piece, array in zip(joined.pieces[k], columns[k]):
                    array[...] = piece


class _Joined:
    """Flat arrays, and their pieces in the shapes of the arrays that they represent."""

    def __init__(self, arrays: Sequence[Any], n: int) -> None:
        self.arrays = arrays  # identified by ids, so they must stay alive
        size = sum(array.size for array in arrays)
        dtype = numpy.promote_types(arrays[0].dtype, numpy.float32)
        self.flat = [numpy.empty(size, dtype) for _ in range(n)]
        self.pieces: list[list[numpy.ndarray[Any, Any]]] = [[] for _ in range(n)]
        start = 0
        for array in arrays:
            stop = start + array.size
            for flat, pieces in zip(self.flat, self.pieces):
                pieces.append(flat[start:stop].reshape(array.shape))
            start = stop


def are_numbers(scalars: Sequence[Any]) -> bool:
    """Tells whether all scalars of a step are scalars, not arrays of values per element."""
    return set(map(type, scalars)) == {float}


def run_kernel_on_numpy(name: str, arrays: list[Any], scalars: Sequence[Any]) -> bool:
    """Runs an update rule of ChainerX on NumPy arrays; returns ``False`` if it cannot."""
    if not chainerx.is_available() or _config.use_native_kernels == 'never':
        return False
    views = chainerx._core._numpy_views(arrays, [False] * len(arrays))
    return views is not None and run_kernel(name, views, scalars)


def run_kernel(name: str, arrays: list[Any], scalars: Sequence[Any]) -> bool:
    """Runs an update rule of ChainerX; returns ``False`` if it does not support the arguments."""
    kernel = _find_kernel(name, arrays[0].device)
    if kernel is None or not are_numbers(scalars):
        return False
    try:
        kernel(arrays, scalars)
    except chainerx.DtypeError:  # a stored state may have another dtype
        return False
    return True


@functools.cache
def _find_kernel(name: str, device: chainerx.Device) -> Callable[..., None] | None:
    """Returns ChainerX's function for an update rule, or ``None`` if a device has none."""
    if (name, True) not in chainerx._core._kernels(device.backend.name):
        return None
    return getattr(chainerx._core, f'_{name}_update')
