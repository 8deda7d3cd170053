"""The common part of the optimizer hooks that handle parameters one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer._core.autograd.variable_gradient import loss_scale_of
from chainer._core.optimizers import step
from chainer._core.reports import representation
from chainer._core.settings.half import is_half
from chainer.backends import cuda

if TYPE_CHECKING:
    from chainer._core.optimizers.update_rule import UpdateRule
    from chainer._core.variables.parameter import Parameter


def squared_norm(x):
    """Returns the squared norm, of at least single precision, as a 0-dimensional array."""
    # A dot product takes one pass and no temporary array.
    if x.ndim != 1:
        x = x.ravel()
    # Squares of float16 overflow from 256 on.
    if is_half(x.dtype):
        x = x.astype(numpy.float32)
    return x.dot(x)


class GradientHook:
    """Hook that changes the gradient of every parameter in place.

    A subclass defines ``_apply(p, g, scale, rule)``, which gets the arrays of the
    parameter and of its gradient (NumPy, CuPy or ChainerX) and the loss scale.
    It may also define a faster ``_call_for_all``, the loop over all parameters.
    """

    def __repr__(self) -> str:
        return representation.of_arguments(self)

    call_for_each_param = True
    timing = 'pre'

    def __call__(self, rule: UpdateRule, param: Parameter) -> None:
        if param.raw_array is None:
            return
        p, g = param.array, param.grad
        if g is None:
            return
        # Hooks of optimizers run before the update, which divides by the loss scale. As hooks of a
        # rule they run after that, and the scale is one.
        scale = loss_scale_of(param)
        if isinstance(g, cuda.ndarray):
            with g.device:
                self._apply(p, g, scale, rule)
        else:
            self._apply(p, g, scale, rule)

    def _apply(self, p, g, scale, rule):
        raise NotImplementedError

    def _call_for_all(self, params):
        for param in params:
            self(param.update_rule, param)


class AddingHook(GradientHook):
    """Hook that adds ``rate`` times a term, the result of ``_term(p)``, to the gradient."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def _term(self, p):
        raise NotImplementedError

    def _call_for_all(self, params):
        groups, rest = self._divide(params)
        for param in rest:
            self(param.update_rule, param)
        for scale, group in groups:
            arrays = [param.raw_array for param in group]
            grads = [array.grad for array in arrays]
            terms = [self._term(array) for array in arrays]
            if not step.run_kernel('sgd', grads + terms, self._scalars(scale)):
                super()._call_for_all(group)

    def _divide(self, params):
        """Returns parameters whose gradients change in one call, with loss scales, and others."""
        # ChainerX changes all in one call, by a step of gradient descent: g - (-rate) term.
        groups: dict[tuple[Any, ...], list[Parameter]] = {}
        rest = []
        for param in params:
            array = param.raw_array
            if type(array) is not chainerx.ndarray or not param.requires_grad:
                rest.append(param)
            elif array.grad is not None:
                key = array.dtype, array.device, loss_scale_of(param)
                groups.setdefault(key, []).append(param)
        return [(scale, group) for (_, _, scale), group in groups.items()], rest

    def _scalars(self, scale):
        return [-float(self.rate) * scale]

    def _apply(self, p, g, scale, rule):
        rate = self.rate * scale
        g += rate * self._term(p)


def call_for_each_param(hook, params):
    """Calls a hook with the update rule of every parameter and the parameter."""
    # A subclass of a program may have its own `__call__`, which must see each parameter.
    if type(hook).__call__ is GradientHook.__call__:
        hook._call_for_all(params)
    else:
        for param in params:
            hook(param.update_rule, param)
