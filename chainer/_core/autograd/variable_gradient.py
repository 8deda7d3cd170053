"""The gradient of a variable, and how it comes and goes.

Chainer keeps it in the variable, and ChainerX in the array.

The gradient of a parameter is *fresh* before anything sets it. It reads as NaN, which shows a
program that it uses a gradient too early. Until a program reads one, it has no array. What
accumulates gradients or consumes them takes one that nothing has changed for missing, so that
training works without clearing the gradients first.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.autograd.base_variable import BaseVariable, from_array
from chainer._core.devices.array_types import get_array_types
from chainer.backends import cuda

if TYPE_CHECKING:
    from chainer._core.autograd.variable_node import VariableNode
    from chainer._core.autograd.variable_state import VariableState
    from chainer._core.settings.types import AnyArray, NdArray

_chx_ndarray = chainerx.ndarray

# Variables of ChainerX whose arrays have the NaN that a program reads. ChainerX would add to it.
_shown: dict[int, weakref.ref[VariableGradient]] = {}


def check_array(array: Any) -> None:
    """Raises an error unless ``array`` is an array or ``None``."""
    if array is not None and not isinstance(array, get_array_types()):
        expected = ' or '.join(f'{t.__module__}.{t.__name__}' for t in get_array_types())
        raise TypeError(f'{expected} is expected as the data of a variable. Actual: {type(array)}')


def check_grad(array: Any, grad: Any, what: str) -> None:
    """Raises unless ``grad`` can be the gradient of a variable holding ``array``."""
    if grad is None or array is None:
        return
    if isinstance(array, _chx_ndarray) is not isinstance(grad, _chx_ndarray) or not isinstance(
        grad, backend.get_device_from_array(array).supported_array_types
    ):
        raise TypeError(f'Type of data and {what} mismatch: {type(array)} != {type(grad)}')
    if array.dtype != grad.dtype:
        raise TypeError(f'Dtype of data and {what} mismatch: {array.dtype} != {grad.dtype}')
    if array.shape != grad.shape:
        raise ValueError(f'Shape of data and {what} mismatch: {array.shape} != {grad.shape}')


class VariableGradient(BaseVariable):
    """Gradient of a variable."""

    _grad: Any = None  # gradient array
    _grad_var: Any = None  # gradient variable, made from `_grad` on demand
    _grad_cleared: bool = False  # before the initialization of a parameter
    _fresh_grad: bool = False
    _loss_scale: float | None = None  # factor in `grad`, divided out by the update rule

    @property
    def grad(self) -> AnyArray:
        """Gradient array, or ``None``."""
        array = self._array
        if isinstance(array, _chx_ndarray):
            if not self._requires_grad:
                return None
            try:
                grad = array.grad
            except chainerx.ChainerxError:  # a result, which does not keep its gradient
                return None
            if grad is None:
                return self._show_fresh_grad() if self._fresh_grad else None
            if grad.is_backprop_required():
                return grad.as_grad_stopped()
            return grad
        grad = self._grad
        if grad is None:
            if self._fresh_grad:
                return self._show_fresh_grad()
            if array is None:
                self._check_grad_known()
        return grad

    @grad.setter
    def grad(self, grad: NdArray | None) -> None:
        if grad is not None:
            check_array(grad)
            check_grad(self._array, grad, 'grad')
        elif self._array is None:
            self._grad_cleared = True
        self._set_grad(grad)

    @property
    def grad_var(self) -> VariableState | None:
        """Gradient variable, or ``None``."""
        if self._fresh_grad:
            self.grad  # noqa: B018 - makes the array
        if isinstance(self._array, _chx_ndarray):
            try:
                grad = self._array.grad if self._requires_grad else None
            except chainerx.ChainerxError:
                return None
            return None if grad is None else from_array(grad, grad.is_backprop_required())
        if self._grad_var is None and self._grad is not None:
            self._grad_var = from_array(self._grad, True)
        return self._grad_var

    @grad_var.setter
    def grad_var(self, grad_var: BaseVariable | None) -> None:
        if grad_var is None:
            self._set_grad(None)
            return
        check_grad(self._array, grad_var._array, 'grad')
        if isinstance(self._array, _chx_ndarray):
            self._set_grad(grad_var._array)
        else:
            self._fresh_grad = False
            self._keep_grad(grad_var)

    def cleargrad(self) -> None:
        """Forgets the gradient."""
        self._set_grad(None)

    def _set_grad(self, grad: Any) -> None:
        if self._fresh_grad:
            self._fresh_grad = False
        if isinstance(self._array, _chx_ndarray):
            if grad is not None or self._requires_grad:
                self._set_chainerx_grad(grad)
            return
        self._grad = grad
        self._grad_var = None

    def _keep_grad(self, grad: Any) -> None:
        """Takes what a backward pass computed for NumPy or CuPy, an array or a variable."""
        if hasattr(grad, 'raw_array'):
            self._grad = grad._array
            self._grad_var = grad
        else:
            self._grad = grad
            self._grad_var = None

    def _set_chainerx_grad(self, grad: Any) -> None:
        if not self._requires_grad:
            raise RuntimeError(
                'Cannot set a gradient of a ChainerX variable that does not require one.'
            )
        if grad is None:
            self._array.cleargrad()
        else:
            self._array.set_grad(grad)

    # -- before anything sets it ---------------------------------------------------------

    def _check_grad_known(self) -> None:
        """Raises an error if the gradient of a variable without an array is unknown."""

    def _show_fresh_grad(self) -> Any:
        """Makes the gradient that a program reads."""
        array = self._array
        if isinstance(array, _chx_ndarray):
            array = array.as_grad_stopped()
        device = backend.get_device_from_array(array)
        with backend.using_device(device):
            grad = device.xp.full_like(array, numpy.nan)
        self._set_grad(grad)
        self._fresh_grad = True
        if isinstance(array, _chx_ndarray):
            _shown[id(self)] = weakref.ref(self)
        return grad

    def _has_untouched_grad(self) -> bool:
        """Tells whether nothing has set or changed the gradient."""
        if not self._fresh_grad:
            return False
        array = self._array
        if not isinstance(array, _chx_ndarray):
            return self._grad is None or _is_nan(self._grad)
        if not self._requires_grad or array.grad is None:
            return True
        ref = _shown.get(id(self))
        return ref is not None and ref() is self and _is_nan(array.grad)

    def _get_known_grad(self) -> Any:
        """Returns the gradient, or ``None`` if nothing has set or changed it."""
        return None if self._has_untouched_grad() else self.grad


def _is_nan(grad: Any) -> bool:
    if isinstance(grad, _chx_ndarray):
        grad = grad.as_grad_stopped()
    with cuda.get_device_from_array(grad):
        return bool((grad != grad).all())


def clear_untouched(var: VariableGradient) -> None:
    """Makes a gradient that nothing has touched a missing one."""
    if var._has_untouched_grad():
        var._set_grad(None)
    var._fresh_grad = False


def store(node: VariableNode, grad: Any) -> Any:
    """Gives a gradient to the variable of a node, if it still exists; returns that variable."""
    var = node._variable()
    if var is not None:
        var._keep_grad(grad)
    return var


def clear_shown() -> None:
    """Takes NaN that programs have read away from ChainerX, before it accumulates gradients."""
    if not _shown:
        return
    for ref in list(_shown.values()):
        var = ref()
        if var is not None and var._has_untouched_grad():
            var._set_grad(None)
            var._fresh_grad = True
    _shown.clear()


# -- as optimizers see it


def fill_missing_grad(var: VariableState) -> None:
    """Sets the gradient to zeros if there is none, but an array that may have one."""
    if var._fresh_grad:
        clear_untouched(var)
    if var._grad is not None:
        return
    # Fields, not properties: hooks of optimizers have this asked of each parameter, twice.
    array = var._array
    if array is None or not var._requires_grad:
        return
    # `grad` of a variable of ChainerX makes a view of the gradient, for which there is no need.
    if (array.grad if type(array) is _chx_ndarray else var.grad) is None:
        fill_grad(var)


def loss_scale_of(var: VariableState) -> float:
    """Returns the ratio of the gradient to the true one."""
    return 1.0 if var._loss_scale is None else var._loss_scale


def unscale_grad(var: VariableState) -> None:
    """Divides the loss scale out of a gradient."""
    scale, var._loss_scale = var._loss_scale, None
    if var.grad is not None:
        # Hooks and programs may hold the scaled gradient, and several variables may share it.
        grad = var.grad.copy()
        grad /= scale  # in place, since quotients of 0-dimensional NumPy arrays are scalars
        var.grad = grad


def fill_grad(var: VariableState) -> None:
    """Sets the gradient to zeros."""
    device = var.device
    with backend.using_device(device):
        var.grad = device.xp.zeros_like(var.array)
