"""Recomputation of intermediate results in the backward pass."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import numpy

import chainerx
from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer._core.variables.backward import backward_inside
from chainer.configuration import config, using_config
from chainer.function import force_backprop_mode, no_backprop_mode
from chainer.functions._base import Operation
from chainer.variable import Variable, as_variable
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer._core.reports.fallback import FallbackType
    from chainer.backend import Device
    from chainer.types import NdArray, VariableLike

_T = TypeVar('_T')


class _Memory(threading.local):
    """What :func:`remember` calls in this thread, ``None`` outside of :func:`forget`."""

    access: Callable[[Callable[[], Any]], Any] | None = None


_memory = _Memory()


@contextlib.contextmanager
def _using_memory(access):
    outer = _memory.access
    _memory.access = access
    try:
        yield
    finally:
        _memory.access = outer


def remember(make: Callable[[], _T]) -> _T:
    """Returns ``make()``, and the same value again when :func:`forget` recomputes the call.

    Functions with a side effect, such as an update of statistics, use it for values that are other
    ones after the effect.
    """
    return make() if _memory.access is None else _memory.access(make)


class Forget(Operation):
    """Function that keeps only its inputs and computes everything else twice."""

    # The functions that it calls use kernels themselves.
    _kernels = NO_KERNELS
    _computed: tuple[NdArray, ...] | None = None

    def __init__(self, func: Callable[..., Any]) -> None:
        self.func = func

    def compute_without_inputs(self) -> Device:
        """Computes the results, which alone tell the device."""
        self._computed = self._results([None])
        return backend.get_device_from_array(*self._computed)

    def _call(self, xs):
        outputs = self.func(*xs)
        if isinstance(outputs, Variable):
            return (outputs,)
        if isinstance(outputs, tuple):
            for y in outputs:
                if not isinstance(y, Variable):
                    raise RuntimeError(
                        'func of chainer.functions.forget must return variables, '
                        f'got a tuple with {type(y)}'
                    )
            return outputs
        raise RuntimeError(
            'func of chainer.functions.forget must return a variable or a tuple '
            f'of variables, got {type(outputs)}'
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs(range(len(inputs)))
        return self._results([Variable(x) for x in inputs])

    def _results(self, xs):
        if self._computed is not None:
            results, self._computed = self._computed, None
            return results
        self._remembered: list[Any] = []
        outer = _memory.access

        def record(make):
            value = make() if outer is None else outer(make)
            self._remembered.append(value)
            return value

        with no_backprop_mode(), using_config('_will_recompute', True), _using_memory(record):
            return tuple([y.array for y in self._call(xs)])

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        outputs = self._results([as_variable(x.as_grad_stopped()) for x in inputs])
        return tuple(
            _internal.function_node_forward(
                self, list(inputs), list(outputs), list(range(len(inputs))), []
            )
        )

    def _backward_chainerx(
        self, target_input_indexes, grad_outputs, retained_inputs, retained_outputs
    ):
        double = any(
            x.is_backprop_required() for x in (*retained_inputs, *grad_outputs) if x is not None
        )
        xs, gys = [
            tuple([None if a is None else as_variable(a.as_grad_stopped()) for a in arrays])
            for arrays in (retained_inputs, grad_outputs)
        ]
        self._retain_views(xs, (), len(gys))
        with using_config('enable_backprop', double):
            gxs = self.backward(target_input_indexes, gys)
        return tuple([None if gx is None else gx.array for gx in gxs])

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        if config.enable_backprop:
            raise RuntimeError('double backpropagation in functions.forget is not allowed.')
        # Fresh variables: gradients of the inputs are taken here, those of parameters that
        # func uses are accumulated where they are.
        with force_backprop_mode():
            xs = [Variable(x.array) for x in self.get_retained_inputs()]
            remembered = iter(self._remembered)
            memory = _using_memory(lambda make: next(remembered))
            with using_config('in_recomputing', True), memory:
                outputs = self._call(xs)
            given = zip(outputs, grad_outputs)
            pairs = [(y, gy) for y, gy in given if gy is not None and y.requires_grad]
            if pairs:
                backward_inside([y for y, _ in pairs], [gy for _, gy in pairs], xs)
        return tuple([xs[i].grad_var for i in target_input_indexes])


def forget(func: Callable[..., Any], *xs: VariableLike) -> Any:
    """Calls a function without keeping its intermediate results.

    The backward pass recomputes them, which saves memory and costs time.

    Args:
        func (callable): Function of variables that returns a variable or a tuple of them. It
            must return the same results again. (For example, batch normalization reads
            ``chainer.config.in_recomputing`` to update its statistics only once.)
        xs (:class:`~chainer.Variable` or array): Arguments of ``func``.

    Returns:
        ~chainer.Variable or tuple: Results of ``func``, in their shapes and dtypes.

    Raises:
        TypeError: If ``func`` is not callable.
        RuntimeError: If ``func`` returns something else, or on double backprop.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 2], np.float32))
        >>> y = F.forget(lambda x: F.exp(F.log(x)) * x, x)
        >>> F.sum(y).backward()
        >>> y.array.round(3), x.grad.round(3)
        (array([1., 4.], dtype=float32), array([2., 4.], dtype=float32))

    """
    if not callable(func):
        raise TypeError(f'func must be callable, got {type(func)}')
    inputs = tuple([as_variable(x) for x in xs])
    function = Forget(func)
    if not any(x.requires_grad for x in inputs):
        # Parameters inside func get gradients only if the walk back reaches it.
        function.func = lambda *args: func(*args[:-1])
        device = inputs[0].device if inputs else function.compute_without_inputs()
        inputs += (Variable(device.send(numpy.zeros((), 'f'))),)
    outputs = function.apply(inputs)
    return outputs[0] if len(outputs) == 1 else outputs
