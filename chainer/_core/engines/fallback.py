"""The engine below ChainerX: functions without a native path run on NumPy or CuPy views.

One node of the ChainerX graph represents the function, and its tape runs on views again. A
backward pass to be differentiated in turn is recorded as a Chainer graph of the views, which
becomes the next node of the ChainerX graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend, configuration
from chainer._core import backprop, fallback_report
from chainer._core.engines import arrays
from chainer._core.variable_node import BaseVariable
from chainer.function_hook import _thread_hooks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.variable import Variable
    from chainer.function_node import FunctionNode

_config = configuration.config
_from_array = BaseVariable._from_array


def run(func: FunctionNode, in_data: tuple[Any, ...], reason: str) -> Sequence[Any]:
    """Runs a function on views of ChainerX arrays; returns ChainerX arrays."""
    fallback_report.notice(func, in_data, reason)
    with fallback_report.measuring(func, 'forward', reason):
        return _run(func, in_data, reason)


def _run(func: FunctionNode, in_data: tuple[Any, ...], reason: str) -> Sequence[Any]:
    if func._kernels.check and _config.type_check:
        func._check_types(in_data)
    check_devices(func, in_data)
    device = backend.ChainerxDevice(in_data[0].device)
    func.chainerx_device = device
    views = tuple([_view(x) for x in in_data])
    with backend.using_device(device.fallback_device):
        ys, func._tape = arrays.run(func, None, views)
    outputs = [None if y is None else device.send(y) for y in ys]
    if not any([x.is_backprop_required() for x in in_data]):
        return outputs
    # Nodes carry shapes and dtypes for backward; ChainerX keeps the arrays themselves.
    func.inputs = tuple([_from_array(x, True).node for x in views])
    return chainerx._core._function_node_forward(
        _FallbackTape(func, len(outputs), reason),
        list(in_data),
        outputs,
        list(func._input_indexes_to_retain),
        list(func._output_indexes_to_retain),
    )


def check_devices(func: FunctionNode, in_data: tuple[Any, ...]) -> None:
    """Raises an error that names the devices unless all arrays are on one."""
    devices = {x.device for x in in_data}
    if len(devices) > 1:
        names = ', '.join(sorted(d.name for d in devices))
        raise chainerx.DeviceError(f'{func.label}: arrays are on different devices: {names}')


def _view(array: Any) -> Any:
    """NumPy or CuPy view of a ChainerX array, outside its graph."""
    if array.is_backprop_required():
        array = array.as_grad_stopped()
    return backend.from_chx(array)


class _FallbackTape:
    """Function in the graph of ChainerX, which calls :meth:`_backward_chainerx`."""

    def __init__(self, func: FunctionNode, n_outputs: int, reason: str) -> None:
        self._func = func
        self._n_outputs = n_outputs
        self._reason = reason

    def _backward_chainerx(
        self,
        targets: Sequence[int],
        grad_outputs: Sequence[Any],
        retained_inputs: Sequence[chainerx.ndarray],
        retained_outputs: Sequence[chainerx.ndarray],
    ) -> tuple[Any, ...]:
        with fallback_report.measuring(self._func, 'backward', self._reason):
            return self._backward(tuple(targets), grad_outputs, retained_inputs, retained_outputs)

    def _backward(
        self,
        targets: tuple[int, ...],
        grad_outputs: Sequence[Any],
        retained_inputs: Sequence[chainerx.ndarray],
        retained_outputs: Sequence[chainerx.ndarray],
    ) -> tuple[Any, ...]:
        func = self._func
        present = [g for g in grad_outputs if g is not None]
        chx = [*retained_inputs, *retained_outputs, *present]
        double = any(x.is_backprop_required() for x in chx)
        n_in, n_out = len(retained_inputs), len(retained_outputs)
        # A backward may itself differentiate by retained variables.
        variables = [_from_array(_view(x), double or i < n_in + n_out) for i, x in enumerate(chx)]
        func._retain_views(variables[:n_in], variables[n_in : n_in + n_out], self._n_outputs)
        rest = iter(variables[n_in + n_out :])
        gys = [None if g is None else next(rest) for g in grad_outputs]
        if not double:
            gys = [None if g is None else g._array for g in gys]
        device = func.chainerx_device
        hooks = backprop.hooks_of(func, _thread_hooks.hooks)
        if hooks:
            in_data: list[Any] = [None] * len(func.inputs)
            for i, x in zip(func._input_indexes_to_retain, retained_inputs):
                in_data[i] = x
            hook_args = func, tuple(in_data), tuple(grad_outputs)
            for hook in hooks:
                hook.backward_preprocess(*hook_args)
        with (
            configuration.using_config('enable_backprop', double),
            backend.using_device(device.fallback_device),
        ):
            gxs = func._tape.grad(func, targets, tuple(gys), double, None)
        if hooks:
            for hook in hooks:
                hook.backward_postprocess(*hook_args)
        if not double:
            return tuple([None if g is None else device.send(g) for g in gxs])
        return _connect(gxs, chx, variables, device)


def _connect(
    gxs: Sequence[Any], chx: list[chainerx.ndarray], variables: Sequence[Variable], device: Any
) -> tuple[Any, ...]:
    """Turns gradients into ChainerX arrays that are connected to ``chx``."""
    known = [g for g in gxs if g is not None]
    outputs = [device.send(g.array) for g in known]
    if outputs:
        tape = _RecordedTape(variables, known, device)
        outputs = chainerx._core._function_node_forward(
            tape, chx, outputs, list(range(len(chx))), []
        )
    rest = iter(outputs)
    return tuple([None if g is None else next(rest) for g in gxs])


class _RecordedTape:
    """Backward of a fallback function, recorded as a Chainer graph of views."""

    label = 'FallbackBackward'

    def __init__(
        self, in_vars: Sequence[Variable], out_vars: Sequence[Variable], device: Any
    ) -> None:
        self._in_vars = in_vars
        self._out_vars = out_vars
        self._device = device

    def _backward_chainerx(
        self,
        targets: Sequence[int],
        grad_outputs: Sequence[Any],
        retained_inputs: Sequence[chainerx.ndarray],
        retained_outputs: Sequence[chainerx.ndarray],
    ) -> tuple[Any, ...]:
        present = [g for g in grad_outputs if g is not None]
        chx = [*retained_inputs, *present]
        double = any(x.is_backprop_required() for x in chx)
        gys = [_from_array(_view(g), double) for g in present]
        ys = [y for y, g in zip(self._out_vars, grad_outputs) if g is not None]
        with backend.using_device(self._device.fallback_device):
            gxs = backprop.grad(
                ys, [self._in_vars[i] for i in targets], gys, enable_double_backprop=double
            )
        if not double:
            return tuple([None if g is None else self._device.send(g.array) for g in gxs])
        return _connect(gxs, chx, [*self._in_vars, *gys], self._device)
