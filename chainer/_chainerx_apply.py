"""Application of functions to ChainerX arrays, and the fallback to NumPy or CuPy.

A function that has a native path answers ``forward_chainerx`` with ChainerX arrays, whose
graph ChainerX keeps. Otherwise forward runs on NumPy or CuPy views of the same memory, and
one node in the ChainerX graph stands for the function: its backward runs on views again.
When that backward must itself be differentiable, it is recorded as a Chainer graph of the
views, and that graph in turn becomes a node of the ChainerX graph.
"""

from __future__ import annotations

import chainerx
from chainer import _backprop, _fallback_report, backend, configuration
from chainer._fallback import Fallback
from chainer.function_hook import _thread_hooks
from chainer.variable import Parameter, Variable, as_variable

_new_object = object.__new__
_config = configuration.config
_ndarray = chainerx.ndarray
_plain = Variable, Parameter

# False inside `chainer.no_backprop_mode()`, which sets the mode of ChainerX, too: it need not be
# entered for each function then.
_is_recording = getattr(chainerx, 'is_backprop_required', None)


def _variable(array, requires_grad):
    """The same as ``Variable._from_array``, one bound method shorter."""
    var = _new_object(Variable)
    var._array = array
    var._requires_grad = requires_grad
    return var


def operate(operation, lhs, rhs):
    """Applies an operator to a variable of ChainerX and another one or a number.

    Returns:
        Variable, or ``None`` where a :class:`~chainer.FunctionNode` is needed: hooks or debug mode
        want to see it, or an error wants to be explained.

    """
    kind = type(rhs)
    if kind in _plain:
        rhs = rhs._array
        if type(rhs) is not _ndarray:
            return None
    elif kind is not float and kind is not int:
        return None
    if _thread_hooks.hooks or _config.debug or (not _config.enable_backprop and _is_recording()):
        return None
    try:
        y = operation(lhs._array, rhs)
    except Exception:
        return None
    return _variable(y, y.is_backprop_required())


def apply(func, inputs):
    """Applies ``func`` to variables or arrays of ChainerX; returns a tuple of variables."""
    in_data = tuple([x._array if isinstance(x, Variable) else x for x in inputs])
    for x in in_data:
        if type(x) is not _ndarray:
            func._check_array_kinds([as_variable(x)._array for x in inputs])
    if (
        _thread_hooks.hooks
        or func._local_function_hooks
        or _config.debug
        or (not _config.enable_backprop and _is_recording())
    ):
        return _apply_watched(func, in_data)
    outputs = _forward(func, in_data)
    if len(outputs) == 1:
        (y,) = outputs
        return (_variable(y, y is not None and y.is_backprop_required()),)
    return _wrap(outputs)


def _wrap(outputs):
    return tuple([_variable(y, y is not None and y.is_backprop_required()) for y in outputs])


def _apply_watched(func, in_data):
    """Does the same with hooks, in debug mode, or without a graph."""
    hooks = _backprop._hooks_of(func, _thread_hooks.hooks)
    for hook in hooks:
        hook.forward_preprocess(func, in_data)
    if _config.enable_backprop:
        outputs = _forward(func, in_data)
    else:
        with chainerx.no_backprop_mode():
            outputs = _forward(func, in_data)
    for hook in hooks:
        hook.forward_postprocess(func, in_data)
    if _config.debug and _backprop._find_nan(outputs):
        raise RuntimeError(f'NaN is detected on forward computation of {func.label}')
    return _wrap(outputs)


def _forward(func, in_data):
    if not func._checked_natively and _config.type_check:
        func._check_types(in_data)
    try:
        outputs = func.forward_chainerx(in_data)
    except Exception:
        _check_devices(func, in_data)
        # A type error that Chainer can explain is better told in its own words.
        if _config.type_check:
            func._check_types(in_data)
        raise
    if outputs is Fallback:
        _fallback_report.notice(func, in_data)
        with _fallback_report.measuring(func, 'forward'):
            return _forward_fallback(func, in_data)
    return outputs


def _check_devices(func, in_data):
    devices = {x.device for x in in_data}
    if len(devices) > 1:
        names = ', '.join(sorted(d.name for d in devices))
        raise chainerx.DeviceError(f'{func.label}: arrays are on different devices: {names}')


def _forward_fallback(func, in_data):
    if func._checked_natively and _config.type_check:
        func._check_types(in_data)
    _check_devices(func, in_data)
    device = backend.ChainerxDevice(in_data[0].device)
    func.chainerx_device = device
    views = tuple([_view(x) for x in in_data])
    with backend.using_device(device.fallback_device):
        outputs = func._run_forward(views)
    outputs = [None if y is None else device.send(y) for y in outputs]
    if not any([x.is_backprop_required() for x in in_data]):
        return outputs
    # Nodes carry shapes and dtypes for backward; the arrays themselves are ChainerX's to keep.
    func.inputs = tuple([_variable(x, True).node for x in views])
    func._n_chainerx_inputs = len(in_data)
    func._n_chainerx_outputs = len(outputs)
    return chainerx._core._function_node_forward(
        func,
        list(in_data),
        outputs,
        list(func._input_indexes_to_retain),
        list(func._output_indexes_to_retain),
    )


def _view(array):
    """NumPy or CuPy view of a ChainerX array, outside its graph."""
    if array.is_backprop_required():
        array = array.as_grad_stopped()
    return backend.from_chx(array)


def backward(func, target_input_indexes, grad_outputs, retained_inputs, retained_outputs):
    """Runs the backward of a fallback function; arrays in and out are ChainerX's."""
    with _fallback_report.measuring(func, 'backward'):
        return _backward(
            func, tuple(target_input_indexes), grad_outputs, retained_inputs, retained_outputs
        )


def _backward(func, targets, grad_outputs, retained_inputs, retained_outputs):
    present = [g for g in grad_outputs if g is not None]
    chx = [*retained_inputs, *retained_outputs, *present]
    double = any(x.is_backprop_required() for x in chx)
    n_in, n_out = len(retained_inputs), len(retained_outputs)
    # A backward may itself differentiate by what was retained.
    variables = [_variable(_view(x), double or i < n_in + n_out) for i, x in enumerate(chx)]
    func._chainerx_retained = (tuple(variables[:n_in]), tuple(variables[n_in : n_in + n_out]))
    rest = iter(variables[n_in + n_out :])
    gys = tuple([None if g is None else next(rest) for g in grad_outputs])
    device = func.chainerx_device
    hooks = _backprop._hooks_of(func, _thread_hooks.hooks)
    if hooks:
        in_data = [None] * func._n_chainerx_inputs
        for i, x in zip(func._input_indexes_to_retain, retained_inputs):
            in_data[i] = x
        hook_args = func, tuple(in_data), tuple(grad_outputs)
        for hook in hooks:
            hook.backward_preprocess(*hook_args)
    with (
        configuration.using_config('enable_backprop', double),
        backend.using_device(device.fallback_device),
    ):
        gxs = func.backward_accumulate(targets, gys, (None,) * len(targets))
    if hooks:
        for hook in hooks:
            hook.backward_postprocess(*hook_args)
    return _send(gxs, double, chx, variables, device)


def _send(gxs, double, chx, variables, device):
    """Turns gradients into ChainerX arrays, connected to ``chx`` if ``double``."""
    arrays = [device.send(g.array) for g in gxs if g is not None]
    if double and arrays:
        node = _RecordedBackward(variables, [g for g in gxs if g is not None], device)
        arrays = chainerx._core._function_node_forward(node, chx, arrays, list(range(len(chx))), [])
    arrays = iter(arrays)
    return tuple([None if g is None else next(arrays) for g in gxs])


class _RecordedBackward:
    """Backward of a fallback function, recorded as a Chainer graph of views."""

    label = 'FallbackBackward'

    def __init__(self, in_vars, out_vars, device):
        self._in_vars = in_vars
        self._out_vars = out_vars
        self._device = device

    def _backward_chainerx(
        self, target_input_indexes, grad_outputs, retained_inputs, retained_outputs
    ):
        present = [g for g in grad_outputs if g is not None]
        chx = [*retained_inputs, *present]
        double = any(x.is_backprop_required() for x in chx)
        gys = [_variable(_view(g), double) for g in present]
        ys = [y for y, g in zip(self._out_vars, grad_outputs) if g is not None]
        with backend.using_device(self._device.fallback_device):
            gxs = _backprop.grad(
                ys,
                [self._in_vars[i] for i in target_input_indexes],
                gys,
                enable_double_backprop=double,
            )
        return _send(gxs, double, chx, [*self._in_vars, *gys], self._device)
