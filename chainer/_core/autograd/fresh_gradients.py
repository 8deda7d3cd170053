"""Gradients of parameters before anything sets them.

They read as NaN, which shows a program that it uses a gradient too early. Until a program reads
one, it has no array. What accumulates gradients or consumes them takes one that nothing has changed
for missing, so that training works without clearing the gradients first.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend

if TYPE_CHECKING:
    from chainer._core.variables.variable import Variable

_chx_ndarray = chainerx.ndarray

# Variables of ChainerX whose arrays have the NaN that a program reads. ChainerX would add to it.
shown: dict[int, weakref.ref[Variable]] = {}


def show(var: Variable) -> Any:
    """Makes the gradient that a program reads."""
    array = var.array
    device = var.device
    with backend.using_device(device):
        grad = device.xp.full_like(array, numpy.nan)
    var._set_grad(grad)
    var._fresh_grad = True
    if isinstance(array, _chx_ndarray):
        shown[id(var)] = weakref.ref(var)
    return grad


def is_untouched(var: Variable) -> bool:
    """Tells whether nothing has set or changed the gradient."""
    if not var._fresh_grad:
        return False
    array = var._array
    if not isinstance(array, _chx_ndarray):
        return var._grad is None or _is_nan(var._grad)
    if not var._requires_grad or array.grad is None:
        return True
    ref = shown.get(id(var))
    return ref is not None and ref() is var and _is_nan(array.grad)


def _is_nan(grad: Any) -> bool:
    if isinstance(grad, _chx_ndarray):
        grad = grad.as_grad_stopped()
    return bool((grad != grad).all())


def settle(var: Variable) -> None:
    """Makes a gradient that nothing has touched a missing one."""
    if is_untouched(var):
        var._set_grad(None)
    var._fresh_grad = False


def hide() -> None:
    """Takes away what :func:`show` gave to ChainerX, before ChainerX accumulates gradients."""
    for ref in list(shown.values()):
        var = ref()
        if var is not None and is_untouched(var):
            var._set_grad(None)
            var._fresh_grad = True
    shown.clear()
