"""The state of an update rule on the device of its parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.devices.array_types import get_array_types
from chainer._core.variables.variable import Variable

if TYPE_CHECKING:
    from chainer._core.optimizers.update_rule import UpdateRule
    from chainer._core.variables.parameter import Parameter


def move_state(state: dict[str, Any], param: Parameter) -> bool:
    """Moves the arrays of a state to the device of a parameter.

    Returns:
        Whether some were elsewhere.

    """
    # Looking for a device costs more than to see that all is of NumPy, as it mostly is.
    if type(param.array) is numpy.ndarray:
        for value in state.values():
            if type(value) is not numpy.ndarray:
                break
        else:
            return False
    device = param.device
    elsewhere = [
        name
        for name, value in state.items()
        if isinstance(value, get_array_types()) and not device.is_array_supported(value)
    ]
    for name in elsewhere:
        state[name] = device.send(state[name])
    return bool(elsewhere)


def update_core_by_sharing(rule: UpdateRule, param: Parameter) -> None:
    """Runs ``update_core`` on NumPy or CuPy arrays that share ChainerX memory."""
    grad = param.grad
    if grad is None:
        return
    array = backend.from_chx(param.array)
    shared_param: Any = Variable(array, name=param.name, grad=backend.from_chx(grad))
    # The method reads its state from the rule, which therefore has views for the time of the call.
    state = rule.state or {}
    shared_state = backend.from_chx(state)
    rule._state = dict(shared_state)
    try:
        rule.update_core(shared_param)
        # The method may replace the array instead of writing to it.
        if shared_param.array is not array:
            backend.copyto(param.array, shared_param.array)
    finally:
        # Keep the arrays updated in place, move replaced ones to ChainerX.
        for name, value in (rule.state or {}).items():
            if name not in state or value is not shared_state[name]:
                is_array = isinstance(value, get_array_types())
                state[name] = param.device.send(value) if is_array else value
        rule._state = state
