"""The engine of ChainerX arrays: it calls ``forward_chainerx``, and ChainerX keeps the tape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import configuration
from chainer._core.autograd.batched_array import mapping_of
from chainer._core.autograd.gradients import find_nan
from chainer._core.autograd.input_checks import check_array_kinds, check_types
from chainer._core.autograd.thread_hooks import hooks_of, thread_hooks as _thread_hooks
from chainer._core.engines import fallback
from chainer._core.reports.fallback import ARGUMENT_ERRORS, FallbackType
from chainer._core.variables.operators import is_recording
from chainer._core.variables.variable import Variable, as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.autograd.base_function import BaseFunction

_new_object = object.__new__
_config = configuration.config
_ndarray = chainerx.ndarray


def _variable(array: Any, requires_grad: bool) -> Variable:
    """The same as ``from_array``, for the class at hand."""
    var = _new_object(Variable)
    var._array = array
    var._requires_grad = requires_grad
    return var


def apply(func: BaseFunction, inputs: Sequence[Any]) -> tuple[Variable, ...]:
    """Applies ``func`` to variables or arrays of ChainerX; returns a tuple of variables."""
    in_data = tuple([x._array if isinstance(x, Variable) else x for x in inputs])
    for x in in_data:
        if type(x) is not _ndarray:
            in_vars = [as_variable(x) for x in inputs]
            mapping = mapping_of([x._array for x in in_vars])
            if mapping is not None:
                return mapping.apply(func, in_vars)
            check_array_kinds(func, [x._array for x in in_vars])
    if (
        _thread_hooks.hooks
        or func._extras is not None
        or _config.debug
        or (not _config.enable_backprop and is_recording())
    ):
        return _apply_watched(func, inputs, in_data)
    outputs = run(func, inputs, in_data)
    if len(outputs) == 1 and type(outputs[0]) is _ndarray:
        (y,) = outputs
        return (_variable(y, y.is_backprop_required()),)
    return _wrap(func, outputs)


def _wrap(func: BaseFunction, outputs: Sequence[Any]) -> tuple[Variable, ...]:
    for y in outputs:
        if y is not None and not isinstance(y, _ndarray):
            raise TypeError(
                'the output of forward_chainerx must be a tuple of chainerx.ndarray, but '
                f'{func.label} returned {type(y)}'
            )
    return tuple([_variable(y, y is not None and y.is_backprop_required()) for y in outputs])


def _apply_watched(
    func: BaseFunction, inputs: Sequence[Any], in_data: tuple[Any, ...]
) -> tuple[Variable, ...]:
    """Like :func:`apply`, with hooks, in debug mode, or without a graph."""
    hooks = hooks_of(func)
    for hook in hooks:
        hook.forward_preprocess(func, in_data)
    if _config.enable_backprop:
        outputs = run(func, inputs, in_data)
    else:
        with chainerx.no_backprop_mode():
            outputs = run(func, inputs, in_data)
    for hook in hooks:
        hook.forward_postprocess(func, in_data)
    if _config.debug and find_nan(outputs):
        raise RuntimeError(f'NaN is detected on forward computation of {func.label}')
    return _wrap(func, outputs)


def run(func: BaseFunction, in_vars: Sequence[Any], in_data: tuple[Any, ...]) -> Sequence[Any]:
    """Calls ``forward_chainerx``, or the engine below if that falls back."""
    if not func._kernels.check and _config.type_check:
        check_types(func, in_data)
    try:
        outputs: Any = func.forward_chainerx(in_data)
    except ARGUMENT_ERRORS:
        fallback.check_devices(func, in_data)
        # Chainer's own message for a type error is better.
        if _config.type_check:
            check_types(func, in_data)
        raise
    if outputs.__class__ is not tuple:
        if outputs.__class__ is FallbackType:
            return fallback.engine(outputs.reason)(func, in_vars, in_data)
        outputs = _as_tuple(func, outputs)
    return outputs


def _as_tuple(func: BaseFunction, outputs: Any) -> tuple[Any, ...]:
    if not isinstance(outputs, (tuple, list)):
        raise TypeError(
            f'the output of forward_chainerx must be a tuple or chainer.Fallback ({func.label})\n'
            f'Actual: {type(outputs)}'
        )
    return tuple(outputs)
