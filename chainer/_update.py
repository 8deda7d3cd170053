"""Running update rules on the arrays of parameters, one by one or many at once."""

import functools

import numpy

import chainer
import chainerx
from chainer import backend, variable


def all_finite(array):
    """Tells whether all elements of an array are finite."""
    array = backend.from_chx(array)
    return bool(backend.get_array_module(array).isfinite(array).all())


def move_state(state, param):
    """Moves the arrays of a state to the device of a parameter."""
    if type(param.array) is numpy.ndarray:
        for value in state.values():
            if type(value) is not numpy.ndarray:
                break
        else:
            return
    device = param.device
    for name, value in state.items():
        if isinstance(value, chainer.get_array_types()) and not (
                device.is_array_supported(value)):
            state[name] = device.send(value)


def update_core_by_sharing(rule, param):
    """Runs ``update_core`` on NumPy or CuPy arrays that share ChainerX memory."""
    grad = param.grad
    if grad is None:
        return
    array = backend.from_chx(param.array)
    shared_param = variable.Variable(array, name=param.name, grad=backend.from_chx(grad))
    state = rule._state or {}
    shared_state = backend.from_chx(state)
    rule._state = dict(shared_state)
    try:
        rule.update_core(shared_param)
        if shared_param.array is not array:
            backend.copyto(param.array, shared_param.array)
    finally:
        # What was updated in place is kept, what was replaced moves to ChainerX.
        for name, value in rule._state.items():
            if name not in state or value is not shared_state[name]:
                is_array = isinstance(value, chainer.get_array_types())
                state[name] = param.device.send(value) if is_array else value
        rule._state = state


def update_params(params):
    """Updates parameters by their rules.

    For small arrays calls cost more than arithmetic. So the rules of
    :mod:`chainer.optimizers` are run here without the layers of methods that
    hooks, subclasses and other devices need; and ChainerX parameters whose rule
    has a kernel for it are updated together, by one call.
    """
    batches = {}
    scalars = {}
    for param in params:
        rule = param.update_rule
        if rule is None:
            continue
        array, grad = param.array, param.grad
        kind = type(array)
        direct = grad is not None and _is_direct(rule, param) and array.dtype != numpy.float16
        if direct and kind is numpy.ndarray:
            kernel = None
        elif direct and kind is chainerx.ndarray and rule._fusable:
            kernel = _fused_kernel(rule._fused_name)
            direct = kernel is not None
        else:
            direct = False
        if not direct:
            param.update()
            continue

        rule.t += 1
        rule._prepare(param)
        values = _scalars_of(rule, array.dtype, scalars)
        state = rule._state
        arrays = [array, grad, *[state[name] for name in rule._state_names]]
        if kernel is None:
            rule._step(*arrays, *values)
        else:
            batches.setdefault((kernel, array.device, values), []).append(arrays)
    for (kernel, _, values), rows in batches.items():
        kernel(*map(list, zip(*rows)), *values)


def _is_direct(rule, param):
    return (
        rule.enabled and _is_unmodified(type(rule), type(param))
        and not rule._pre_update_hooks and not rule._post_update_hooks
        and param._loss_scale is None)


@functools.cache
def _is_unmodified(rule_class, param_class):
    """Tells whether an update is nothing but the ``_step`` of the rule's class."""
    from chainer.optimizers import _elementwise
    base = _elementwise.ElementwiseRule
    return (
        issubclass(rule_class, base)
        and param_class.update is variable.Parameter.update
        and all(getattr(rule_class, name) is getattr(base, name) for name in (
            'update', 'update_core', 'update_core_cpu', 'update_core_gpu',
            'update_core_chainerx')))


@functools.cache
def _fused_kernel(name):
    """Returns the ChainerX function that updates many parameters, or ``None``."""
    return name and getattr(getattr(chainerx, '_core', None), name, None)


def _scalars_of(rule, dtype, cache):
    """Returns the scalar arguments of a step, made once for equal hyperparameters."""
    hyperparam = rule.hyperparam
    has_own = len(hyperparam.__dict__) > 1
    key = type(rule), id(rule if has_own else hyperparam._parent), rule.t, dtype
    if key not in cache:
        rule._check_eps(numpy.dtype(dtype))
        cache[key] = rule._scalars()
    return cache[key]
