"""Backward passes of ChainerX, for variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chainerx
from chainer._core.autograd.gradients import Gradients
from chainer._core.autograd.leaves import Pass, watchers
from chainer._core.autograd.variable_gradient import clear_shown
from chainer._core.engines import plan_data
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# The passes in which it runs add to gradients that are there, so none has to know of its own.
_NONE = Gradients(load=False, as_variables=False)


def run(
    outputs: Sequence[chainerx.ndarray], retain_grad: bool, double: bool, loss_scale: float | None
) -> None:
    """Runs a backward pass from arrays, of which it tells who records a plan or watches leaves."""
    clear_shown()
    if loss_scale is None and watchers.on_ready is None and not watchers.passes:
        # Nothing that a pass inside of this one would have to know.
        plan_data.backward(chainerx.backward)(
            outputs, loss_scale=None, enable_double_backprop=double, retain_grad=retain_grad
        )
        return
    on_leaf = None if double else _make_on_leaf()
    watchers.passes.append(Pass(_NONE, loss_scale))
    try:
        if on_leaf is not None:
            _internal.backward(
                outputs, loss_scale=loss_scale, retain_grad=retain_grad, on_leaf=on_leaf
            )
        else:
            plan_data.backward(chainerx.backward)(
                outputs,
                loss_scale=loss_scale,
                enable_double_backprop=double,
                retain_grad=retain_grad,
            )
    finally:
        watchers.passes.pop()


def run_inside(outputs: Sequence[chainerx.ndarray], inputs: Sequence[chainerx.ndarray]) -> None:
    """Runs the pass of a function inside of another pass, as a part of it.

    The gradients of ``outputs`` have the factor of that pass, and those of ``inputs`` keep it.
    """
    clear_shown()
    loss_scale = watchers.loss_scale
    on_leaf = _make_on_leaf()
    watchers.passes.append(Pass(_NONE, loss_scale))
    try:
        plan_data.backward(_internal.backward)(
            outputs, loss_scale=loss_scale, on_leaf=on_leaf, inputs=inputs
        )
    finally:
        watchers.passes.pop()


def _make_on_leaf() -> Callable[[chainerx.ndarray], None] | None:
    tell = watchers.on_late if watchers.passes else watchers.on_ready
    if tell is None or plan_data.local.recording is not None:
        return None
    variables = {id(var.raw_array): var for var in watchers.variables}

    def on_leaf(array: chainerx.ndarray) -> None:
        var = variables.get(id(array))
        if var is not None:
            tell(var)

    return on_leaf
