"""Backpropagation from several variables: :func:`chainer.backward`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import configuration
from chainer._core.autograd.backprop import BackwardPass
from chainer._core.autograd.base_variable import BaseVariable
from chainer._core.autograd.leaves import watchers
from chainer._core.autograd.variable_gradient import check_grad
from chainer._core.names.set_module import set_module
from chainer._core.variables import chainerx_backward
from chainer.utils import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.variables.variable import Variable


@set_module('chainer')
def backward(
    outputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None = None,
    **kwargs: Any,
) -> None:
    """Runs backpropagation from several variables at once.

    A shared input gets the gradients of all outputs in one pass. Unlike
    :meth:`chainer.Variable.backward` this sets no gradient: outputs without one count as constants.

    Args:
        outputs (sequence of Variable): Variables to start from.
        grad_outputs (sequence of Variable, optional): Gradients of the outputs, of their shapes
            and dtypes. By default the gradients set before, which the call takes away.
        retain_grad (bool): Whether outputs and intermediate variables keep their gradients
            (default: ``False``).
        enable_double_backprop (bool): Whether the backward pass is recorded (default:
            ``False``).
        loss_scale (float or None): Factor of the initial gradients.

    Raises:
        TypeError: If ``outputs`` is not a sequence of variables.
        ValueError: If the numbers of outputs and gradients differ.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> h = x * x
        >>> one = chainer.Variable(np.array(1, np.float32))
        >>> chainer.backward([F.sum(h), F.max(h)], [one, one])
        >>> x.grad
        array([2., 8.], dtype=float32)

    """
    retain_grad, double, loss_scale = argument.parse_kwargs(
        kwargs, ('retain_grad', False), ('enable_double_backprop', False), ('loss_scale', None)
    )
    _check(outputs, grad_outputs)
    are_chainerx = [isinstance(y.raw_array, chainerx.ndarray) for y in outputs]
    if any(are_chainerx):
        if not all(are_chainerx):
            raise ValueError('outputs mix ChainerX and other arrays')
        if grad_outputs is not None:
            for y, gy in zip(outputs, grad_outputs):
                y.grad_var = gy
        arrays = [y.chx_array for y in outputs]
        chainerx_backward.run(arrays, retain_grad, double, loss_scale)
        return
    gys = _take_gradients(outputs) if grad_outputs is None else grad_outputs
    roots = []
    for y, gy in zip(outputs, gys):
        if gy is not None:
            check_grad(y.raw_array, gy.raw_array, 'grad_outputs')
            if loss_scale is not None:
                with configuration.using_config('enable_backprop', bool(double)):
                    gy = gy * loss_scale
            roots.append((y.node, gy if double else gy.raw_array))
    BackwardPass(retain_grad, double, loss_scale).run(roots)


def backward_inside(
    outputs: Sequence[Variable], grad_outputs: Sequence[Variable], inputs: Sequence[Variable]
) -> None:
    """Runs a pass inside of another one, as a part of it.

    A loss scale of that pass is in ``grad_outputs`` already. It stays in the gradients of
    ``inputs``, and leaves remember it.
    """
    if isinstance(outputs[0].raw_array, chainerx.ndarray):
        for y, gy in zip(outputs, grad_outputs):
            y.grad_var = gy
        chainerx_backward.run_inside([y.chx_array for y in outputs], [x.chx_array for x in inputs])
        return
    roots = [(y.node, gy.raw_array) for y, gy in zip(outputs, grad_outputs)]
    BackwardPass(False, False, watchers.loss_scale).run(roots)


def _check(outputs: Any, grad_outputs: Any) -> None:
    if not isinstance(outputs, (tuple, list)):
        raise TypeError(f'outputs must be a tuple or a list, not {type(outputs)}')
    for y in outputs:
        if not isinstance(y, BaseVariable):
            raise TypeError(f'outputs must be variables, got {type(y)}')
    if grad_outputs is None:
        return
    if not isinstance(grad_outputs, (tuple, list)):
        raise TypeError(f'grad_outputs must be None, a tuple or a list, not {type(grad_outputs)}')
    if len(outputs) != len(grad_outputs):
        raise ValueError(
            'grad_outputs must be of the same length as outputs: '
            f'{len(grad_outputs)} != {len(outputs)}'
        )


def _take_gradients(outputs: Sequence[Variable]) -> list[Variable | None]:
    """Takes the gradients of variables away from them."""
    grads = []
    for y in outputs:
        grad = y.grad_var
        if grad is None:
            warnings.warn(
                'chainer.backward ignores outputs without a gradient, and it does not repeat those '
                'given twice. Set their gradients first or give grad_outputs.',
                RuntimeWarning,
                stacklevel=3,
            )
        y.grad_var = None
        grads.append(grad)
    return grads
