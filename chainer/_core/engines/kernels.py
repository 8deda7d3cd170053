"""The engine of ChainerX's compiled kernels under NumPy and CuPy arrays.

It runs ``forward_chainerx`` on views of the inputs and gives views of the outputs, without copies.
The tape is the ``_Subgraph`` that ChainerX records meanwhile, which has gradients of any order.
Unusual arrays run on the code for NumPy and CuPy.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import configuration
from chainer._core.autograd.base_variable import from_array
from chainer._core.autograd.tape import NoGradient
from chainer._core.engines import arrays as array_engine, cupy_views
from chainer._core.reports.fallback import ARGUMENT_ERRORS, FallbackType
from chainerx import _internal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.autograd.gradients import Gradients
    from chainer._core.autograd.variable_state import VariableState
    from chainer._core.engines.engine import Engine

_config = configuration.config


@dataclasses.dataclass(frozen=True, slots=True)
class Kernels:
    """How a class of functions uses kernels of ChainerX.

    Attributes:
        under_numpy: Whether kernels serve NumPy arrays.
        retain: Indexes of the inputs to retain for readers of the graph, where kernels serve NumPy
            arrays; ``None`` for all. The kernels keep the arrays they need themselves.
        least_size: Elements of all inputs together from which on kernels pay for NumPy arrays.
        rule_outputs: Indexes of the outputs that the gradient rule reads besides the retained
            inputs, if it can run on these: hooks then see the functions of the gradient.
        check: Whether ChainerX itself refuses the same inputs as ``check_type_forward``, which then
            does not run before ``forward_chainerx``. For functions whose time counts on small
            arrays.

    """

    under_numpy: bool = True
    retain: tuple[int, ...] | None = ()
    least_size: int = 0
    rule_outputs: tuple[int, ...] | None = None
    check: bool = False

    _replace = dataclasses.replace


#: For functions that users write: NumPy arrays run on their own code.
NO_KERNELS = Kernels(under_numpy=False)
#: The same, for functions whose arguments ChainerX checks itself.
CHECKED_BY_CHAINERX = Kernels(under_numpy=False, check=True)


def views(arrays: Sequence[Any], device: chainerx.Device) -> list[chainerx.ndarray] | None:
    """ChainerX arrays of ``device`` over the memory of NumPy arrays; ``None`` if impossible."""
    is_cuda = device.backend.name == 'cuda'
    xs: Any = (cupy_views.inputs if is_cuda else _internal.numpy_views)(
        arrays, [False] * len(arrays)
    )
    return xs if xs is not None and xs[0].device == device else None


def _serve(least_size: int, in_data: tuple[Any, ...]) -> bool:
    """Whether the configuration lets kernels run on these arrays."""
    setting = _config.use_native_kernels
    if setting == 'auto':
        return not least_size or sum([x.size for x in in_data]) >= least_size
    if setting in ('always', 'never'):
        return setting == 'always'
    raise ValueError(
        f'invalid use_native_kernels configuration: {setting!r} '
        "(must be 'always', 'auto', or 'never')"
    )


def serve_cupy(arrays: Sequence[Any]) -> bool:
    """Tells whether kernels run a function of CuPy arrays, in a graph or not."""
    return _serve(0, ()) and cupy_views.inputs(arrays, [True] * len(arrays)) is not None


class KernelTape:
    """Record by ChainerX of a function that ran on kernels."""

    __slots__ = ('_graph',)
    needs_device = False  # ChainerX's arrays know theirs

    if chainerx.is_available():
        _gradients: Any = staticmethod(_internal.numpy_gradients)
        _outputs: Any = staticmethod(_internal.numpy_outputs)

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def grad(
        self,
        func: BaseFunction,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        double: bool,
        known: Gradients | None,
    ) -> tuple[Any, ...]:
        """Gradients by ChainerX; see :mod:`chainer._core.autograd.tape`."""
        if double:
            return self._recorded_grad(func, targets, gys)
        return self._graph.numpy_grad(targets, gys)

    def _recorded_grad(
        self, func: BaseFunction, targets: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        gys = self._gradients([None if gy is None else gy.raw_array for gy in grad_outputs])
        present = []
        for gy, var in zip(gys, grad_outputs):
            if gy is not None:
                present.append(var)
                if var.requires_grad:
                    gy.require_grad()
        gys_present = [gy for gy in gys if gy is not None]
        with chainerx.force_backprop_mode(gys_present[0].device.context):
            gxs = self._graph.grad(targets, gys)
            known = [gx for gx in gxs if gx is not None]
            required = [gx.is_backprop_required() for gx in known]
        outputs, _ = self._outputs(gys_present, known)
        results = [from_array(*pair) for pair in zip(outputs, required)]
        if any(required):
            tape = type(self)(self._graph.of_gradients(gys_present, known))
            # The arrays in variables of inputs do not matter: ChainerX keeps those it needs.
            func._record_gradients(
                [*[x.get_variable() for x in func.inputs], *present], results, tape
            )
        rest = iter(results)
        return tuple([None if gx is None else next(rest) for gx in gxs])


class CupyTape(KernelTape):
    """The same for a function of CuPy arrays."""

    __slots__ = ()

    _gradients = staticmethod(cupy_views.gradients)
    _outputs = staticmethod(cupy_views.outputs)

    def grad(
        self,
        func: BaseFunction,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        double: bool,
        known: Gradients | None,
    ) -> tuple[Any, ...]:
        grads = [None if gy is None else gy.raw_array for gy in gys] if double else gys
        with cupy_views.stream_of(grads):
            if double:
                return self._recorded_grad(func, targets, gys)
            views = cupy_views.gradients(gys)
            return cupy_views.separate(self._graph.grad(targets, views, False), views)


def _engine(views: Callable[..., Any], tape: type[KernelTape], by_size: bool) -> Engine:
    """Engine that makes views of arrays by ``views``, and tapes of the class ``tape``.

    ``by_size``: whether kernels do not pay for small arrays of this kind.
    """

    def run(
        func: BaseFunction, in_vars: Sequence[VariableState], in_data: tuple[Any, ...]
    ) -> tuple[Any, ...] | None:
        if not _serve(func._kernels.least_size if by_size else 0, in_data):
            return None
        enable_backprop = bool(_config.enable_backprop)
        xs = views(in_data, [enable_backprop and x._requires_grad for x in in_vars])
        if xs is None:
            return None
        try:
            ys = func.forward_chainerx(xs)
        except ARGUMENT_ERRORS:
            # NumPy's code explains a wrong argument better. If it accepts them, the kernel has a
            # defect, which a slow but right result would hide.
            array_engine.run(func, in_vars, in_data)
            raise
        if ys.__class__ is FallbackType:
            return None
        func._output_indexes_to_retain = ()
        retain = func._kernels.retain
        func._input_indexes_to_retain = range(len(xs)) if retain is None else retain
        outputs: tuple[Any, ...]
        outputs, graph = tape._outputs(xs, ys)
        func._tape = NoGradient if graph is None else tape(graph)
        return outputs

    return run


_numpy_views: Any = _internal.numpy_views if chainerx.is_available() else None
#: The engine of NumPy arrays, for functions with kernels, which exist only where ChainerX is built.
run: Engine = _engine(_numpy_views, KernelTape, by_size=True)
_run_on_cupy = _engine(cupy_views.inputs, CupyTape, by_size=False)


def run_on_cupy(
    func: BaseFunction, in_vars: Sequence[VariableState], in_data: tuple[Any, ...]
) -> Sequence[Any] | None:
    """The engine of arrays of another kind, which may be CuPy's."""
    with cupy_views.stream_of(in_data):
        return _run_on_cupy(func, in_vars, in_data)
