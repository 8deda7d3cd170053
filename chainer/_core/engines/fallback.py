"""The engine below ChainerX: functions without a native path run on NumPy or CuPy views.

One node of the ChainerX graph represents the function. The tapes of functions of this package and
of old-style functions run on views again. A backward pass of these to be differentiated in turn is
recorded as a Chainer graph of the views, which becomes the next node of the ChainerX graph. The
``backward`` that users write for a :class:`~chainer.FunctionNode` gets variables of ChainerX.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend, configuration
from chainer._core.autograd.base_variable import from_array
from chainer._core.autograd.gradient_errors import describe_misfit, refuse_gradient
from chainer._core.autograd.input_checks import check_types
from chainer._core.autograd.tape import ArrayRule, raw
from chainer._core.autograd.thread_hooks import hooks_of
from chainer._core.engines import arrays
from chainer._core.reports import fallback_report
from chainer._core.variables.grad import grad
from chainer.backends import _streams
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.variables.variable import Variable

    _Run = Callable[[BaseFunction, Sequence[Any], tuple[Any, ...]], Sequence[Any]]

_config = configuration.config


def engine(reason: str) -> _Run:
    """The engine for a function that has no native path for the reason given."""

    def run(func: BaseFunction, in_vars: Sequence[Any], in_data: tuple[Any, ...]) -> Sequence[Any]:
        fallback_report.notice(func, [x for x in in_data if x is not None], reason)
        with fallback_report.measuring(func, 'forward', reason):
            return _run(func, in_data, reason)

    return run


def _run(func: BaseFunction, in_data: tuple[Any, ...], reason: str) -> Sequence[Any]:
    """Runs a function on views of ChainerX arrays (or ``None``); returns ChainerX arrays."""
    if func._kernels.check and _config.type_check:
        check_types(func, in_data)
    check_devices(func, in_data)
    present = [i for i, x in enumerate(in_data) if x is not None]
    device = backend.ChainerxDevice(in_data[present[0]].device)
    try:
        fallback_device = device.fallback_device
    except RuntimeError as error:
        raise RuntimeError(
            f'{func.label} does not run natively on {device.name} ({reason}) and cannot fall back: '
            f'{error}'
        ) from error
    func.chainerx_device = device
    views = tuple([None if x is None else _view(x) for x in in_data])
    with _using_views(device, fallback_device), _attributes(func, device):
        ys = arrays.run(func, (), views)
    outputs = [None if y is None else device.send(y) for y in ys]
    if not any([in_data[i].is_backprop_required() for i in present]):
        return outputs
    # Nodes carry shapes and dtypes for backward; ChainerX keeps the arrays themselves.
    func.inputs = tuple([from_array(x, x is not None).node for x in views])
    return _internal.function_node_forward(
        _FallbackTape(func, present, len(outputs), reason),
        [in_data[i] for i in present],
        outputs,
        [present.index(i) for i in func._input_indexes_to_retain if i in present],
        list(func._output_indexes_to_retain),
    )


@contextlib.contextmanager
def _using_views(device: Any, fallback_device: Any) -> Iterator[None]:
    """Makes the device of views current and, on a GPU, ChainerX's stream."""
    with backend.using_device(fallback_device), _streams.follow_chainerx(device.device):
        yield


def check_devices(func: BaseFunction, in_data: tuple[Any, ...]) -> None:
    """Raises an error that names the devices unless all arrays are on one."""
    devices = {x.device for x in in_data if x is not None}
    if len(devices) > 1:
        names = ', '.join(sorted(d.name for d in devices))
        raise chainerx.DeviceError(f'{func.label}: arrays are on different devices: {names}')


def _view(array: Any) -> Any:
    """NumPy or CuPy view of a ChainerX array, outside its graph."""
    if array.is_backprop_required():
        array = array.as_grad_stopped()
    return backend.from_chx(array)


@contextlib.contextmanager
def _attributes(func: BaseFunction, device: Any) -> Iterator[None]:
    """Lets attributes of a user's function be views inside, and ChainerX arrays outside."""
    if func._rule is ArrayRule:
        yield
        return
    attributes = vars(func._public_function())
    views = {}
    for name, value in attributes.items():
        if isinstance(value, chainerx.ndarray):
            views[name] = _view(value), value
            attributes[name] = views[name][0]
    try:
        yield
    finally:
        types = device.fallback_device.supported_array_types
        for name, value in attributes.items():
            view, array = views.get(name, (None, None))
            if value is view and array is not None:
                attributes[name] = array
            elif isinstance(value, types):
                attributes[name] = device.send(value)


def _chainerx_variable(array: Any) -> Any:
    return None if array is None else from_array(array, array.is_backprop_required())


class _FallbackTape:
    """Function in the graph of ChainerX, which calls :meth:`_backward_chainerx`."""

    def __init__(self, func: BaseFunction, present: list[int], n_outputs: int, reason: str) -> None:
        self._func = func
        self._present = present  # indexes of the inputs in the graph, which are not None
        self._n_outputs = n_outputs
        self._reason = reason

    def _backward_chainerx(
        self,
        targets: Sequence[int],
        grad_outputs: Sequence[Any],
        retained_inputs: Sequence[chainerx.ndarray],
        retained_outputs: Sequence[chainerx.ndarray],
    ) -> tuple[Any, ...]:
        func = self._func
        hooks = hooks_of(func)
        if hooks:
            in_data: list[Any] = [None] * len(func.inputs)
            for i, x in zip(self._retained(), retained_inputs):
                in_data[i] = x
            hook_args = func, tuple(in_data), tuple(grad_outputs)
            for hook in hooks:
                hook.backward_preprocess(*hook_args)
        is_old_style = func._public_function() is not func
        run = self._on_views if is_old_style or func._tape is ArrayRule else self._on_arrays
        indexes = tuple([self._present[i] for i in targets])
        with fallback_report.measuring(func, 'backward', self._reason):
            gxs = run(indexes, grad_outputs, retained_inputs, retained_outputs)
        for index, gx in zip(indexes, gxs):
            node = func.inputs[index]
            if gx is not None and gx.shape != node.shape:
                raise chainerx.GradientError(
                    describe_misfit(func, index, gx, node.shape, node.dtype)
                )
        if hooks:
            for hook in hooks:
                hook.backward_postprocess(*hook_args)
        return gxs

    def _retained(self) -> list[int]:
        """Indexes of the retained inputs that are not ``None``."""
        return [i for i in self._func._input_indexes_to_retain if i in self._present]

    def _retain(self, inputs: Iterable[Any], outputs: Iterable[Any]) -> None:
        """Gives the function its retained variables."""
        func = self._func
        given = dict(zip(self._retained(), inputs))
        func._retain_views(
            [
                given[i] if i in given else from_array(None, False)
                for i in func._input_indexes_to_retain
            ],
            outputs,
            self._n_outputs,
        )

    def _on_arrays(
        self,
        targets: tuple[int, ...],
        grad_outputs: Sequence[Any],
        retained_inputs: Sequence[chainerx.ndarray],
        retained_outputs: Sequence[chainerx.ndarray],
    ) -> tuple[Any, ...]:
        """Runs the tape on variables of ChainerX."""
        func = self._func
        device = func.chainerx_device
        self._retain(
            map(_chainerx_variable, retained_inputs), map(_chainerx_variable, retained_outputs)
        )
        gys = tuple(map(_chainerx_variable, grad_outputs))
        double = _is_differentiated([*retained_inputs, *retained_outputs, *grad_outputs])
        with (
            configuration.using_config('enable_backprop', double),
            backend.using_device(device),
        ):
            gxs = func._tape.grad(func, targets, gys, True, None)
        grads = [None if g is None else raw(g) for g in gxs]
        for i, g in zip(targets, grads):
            if g is not None and not hasattr(g, 'dtype'):
                refuse_gradient(func, i, g, func.inputs[i].shape, func.inputs[i].dtype)
        return tuple([None if g is None else device.send(g) for g in grads])

    def _on_views(
        self,
        targets: tuple[int, ...],
        grad_outputs: Sequence[Any],
        retained_inputs: Sequence[chainerx.ndarray],
        retained_outputs: Sequence[chainerx.ndarray],
    ) -> tuple[Any, ...]:
        """Runs the tape on views of NumPy or CuPy."""
        func = self._func
        device = func.chainerx_device
        retained = [*retained_inputs, *retained_outputs]
        chx = [*retained, *[g for g in grad_outputs if g is not None]]
        double = _is_differentiated(chx)
        # A backward may itself differentiate by retained variables.
        variables = [from_array(_view(x), double or i < len(retained)) for i, x in enumerate(chx)]
        rest = iter(variables)
        self._retain([next(rest) for _ in retained_inputs], [next(rest) for _ in retained_outputs])
        gys = [None if g is None else next(rest) for g in grad_outputs]
        if not double:
            gys = [None if g is None else g.raw_array for g in gys]
        with (
            configuration.using_config('enable_backprop', double),
            _using_views(device, device.fallback_device),
            _attributes(func, device),
        ):
            gxs = func._tape.grad(func, targets, tuple(gys), double, None)
        if not double:
            return tuple([None if g is None else device.send(g) for g in gxs])
        return _connect(gxs, chx, variables, device)


def _is_differentiated(arrays: Iterable[Any]) -> bool:
    """Whether a backward pass of these arrays is recorded, to be differentiated in turn."""
    return any(x is not None and x.is_backprop_required() for x in arrays)


def _connect(
    gxs: Sequence[Any], chx: list[chainerx.ndarray], variables: Sequence[Variable], device: Any
) -> tuple[Any, ...]:
    """Turns gradients into ChainerX arrays that are connected to ``chx``."""
    known = [g for g in gxs if g is not None]
    outputs = [device.send(g.array) for g in known]
    if outputs:
        tape = _RecordedTape(variables, known, device)
        outputs = _internal.function_node_forward(tape, chx, outputs, list(range(len(chx))), [])
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
        double = _is_differentiated(chx)
        gys = [from_array(_view(g), double) for g in present]
        ys = [y for y, g in zip(self._out_vars, grad_outputs) if g is not None]
        with _using_views(self._device, self._device.fallback_device):
            inputs = [self._in_vars[i] for i in targets]
            gxs = grad(ys, inputs, gys, enable_double_backprop=double)
        if not double:
            return tuple([None if g is None else self._device.send(g.array) for g in gxs])
        return _connect(gxs, chx, [*self._in_vars, *gys], self._device)
