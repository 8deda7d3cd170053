"""The check of gradients in one random direction."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.gradient_checks.numerical import numerical_grad, to_double
from chainer._core.gradient_checks.probing import (
    as_tuple,
    backpropagate,
    random_directions,
    saved_grads,
    set_array,
    shift,
)
from chainer._core.settings.half import FLOAT_KINDS
from chainer.link import Link
from chainer.utils import _allclose
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from chainer.types import DTypeSpec


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a check computes and compares.

    Attributes:
        eps: Step of the numerical gradients.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
        dtype: Dtype of the numerical gradients; ``None`` for that of the inputs.
        detect_nondifferentiable: Whether to look for points where the function is not smooth.
        link: Link that the function calls, whose parameters need the dtype, too.

    """

    eps: float
    atol: float
    rtol: float
    dtype: DTypeSpec
    detect_nondifferentiable: bool
    link: Link | None

    def __post_init__(self) -> None:
        if self.dtype is not None and numpy.dtype(self.dtype).kind not in FLOAT_KINDS:
            raise ValueError(f'`dtype` is allowed only float type, not {self.dtype}')

    def __str__(self) -> str:
        return f'eps={self.eps} atol={self.atol} rtol={self.rtol}'


def without_gradients(x_data: Iterable[Any]) -> list[bool]:
    """Returns for each input whether it can have no gradient."""
    return [x.dtype.kind not in FLOAT_KINDS for x in x_data]


def _arrays_text(name: str, arrays: Iterable[Any]) -> str:
    return ''.join(f'{name}[{i}]:\n{array}\n' for i, array in enumerate(arrays))


class BackwardCheck:
    """Check of the gradients of one function at one point in a random direction."""

    def __init__(
        self,
        func: Any,
        x_data: Any,
        y_grad: Any,
        params: Any,
        no_grads: Sequence[bool] | None,
        settings: Settings,
    ) -> None:
        self.func = func
        self.x_data = as_tuple(x_data)
        self.y_grad = None if y_grad is None else as_tuple(y_grad)
        self.params = as_tuple(params)
        if no_grads is None:
            no_grads = without_gradients(self.x_data)
        elif len(no_grads) != len(self.x_data):
            raise ValueError(
                'Length of no_grads param and xs should be same.\n'
                f'Actual: {len(no_grads)} != {len(self.x_data)}'
            )
        self.no_grads = no_grads
        self.settings = settings

    def run(self) -> None:
        xs, ys = self._forward(self.x_data)
        # Only now, because the call of a link may initialize them.
        for param in self.params:
            if param.array is None:
                raise ValueError(f'A parameter is not initialized: {param}')
        gys = self._get_grad_outputs(ys)
        variables = self._select(xs)
        directions = random_directions([x.shape for x in variables])
        grads = self._get_gradients(xs, ys, gys)
        if not variables:
            return
        actual = sum(
            [
                float(numpy.sum(to_double(gx) * direction))
                for gx, direction in zip(grads, directions)
                if gx is not None
            ]
        )
        center = [y.array for y in ys] if self.settings.dtype is None else None
        expected = self._numerical_gradient(gys, directions, center)
        self._compare(actual, expected, gys, directions, grads)

    def _get_gradients(self, xs: Any, ys: Any, gys: Any) -> list[Any]:
        """Gradients of the inputs and parameters by backpropagation."""
        variables = self._select(xs)
        with saved_grads(self.params):
            for param in self.params:
                param.cleargrad()
            backpropagate(ys, gys)
            for x, no_grad in zip(xs, self.no_grads):
                if no_grad and x.grad is not None:
                    raise RuntimeError(
                        f'gradient of int variable must be None: an input of dtype {x.dtype} that '
                        'no_grads excludes has a gradient'
                    )
            grads = [x.grad for x in variables]
        for x, gx in zip(variables, grads):
            if gx is not None and gx.shape != x.shape:
                raise ValueError(
                    f'the gradient of an input of shape {x.shape} has shape {gx.shape}'
                )
        return grads

    def _select(self, xs: list[Any]) -> list[Any]:
        return [x for x, no_grad in zip(xs, self.no_grads) if not no_grad] + list(self.params)

    def _forward(self, x_data: Any) -> tuple[list[Any], tuple[Any, ...]]:
        xs = [
            # ChainerX takes no gradients of integers; other functions should give none.
            Variable(
                x, requires_grad=x.dtype.kind in FLOAT_KINDS or not isinstance(x, chainerx.ndarray)
            )
            for x in x_data
        ]
        ys = as_tuple(self.func(*xs))
        return xs, ys

    def _get_grad_outputs(self, ys: Any) -> tuple[Any, ...]:
        if self.y_grad is None:
            if len(ys) != 1 or ys[0].shape != ():
                raise ValueError(
                    'When `y_grad` is `None`, the function must return a zero-dimensional array'
                )
            array = ys[0].array
            return (backend.get_array_module(array).ones_like(array),)
        if len(self.y_grad) != len(ys):
            raise ValueError(
                '`y_grad` must have the same length of output values.\n'
                f'Actual: {len(self.y_grad)} != {len(ys)}'
            )
        for i, (y, gy) in enumerate(zip(ys, self.y_grad)):
            if gy is not None and gy.shape != y.shape:
                raise ValueError(
                    f'y_grad[{i}] must have the shape of the output: {gy.shape} != {y.shape}'
                )
        return self.y_grad

    def _numerical_gradient(self, gys: Any, directions: Any, center: Any) -> float:
        """Directional derivative of the outputs, with the inputs in the dtype of the check."""
        settings = self.settings
        delta = numpy.zeros((), numpy.float64)
        evaluate = self._function_of(delta, directions)
        others = self._other_params()
        changed = [*self.params, *others]
        arrays = [param.array for param in changed]
        with saved_grads(changed):
            try:
                for param in others:
                    set_array(param, self._cast(param.array))
                (grad,) = numerical_grad(
                    evaluate,
                    (delta,),
                    gys,
                    settings.eps,
                    settings.detect_nondifferentiable,
                    center_outputs=center,
                )
            finally:
                # Before the gradients, which have the dtype of these arrays.
                for param, array in zip(changed, arrays):
                    set_array(param, array)
        return float(grad)

    def _function_of(self, delta: Any, directions: Any) -> Callable[[], tuple[Any, ...]]:
        """Function of the step ``delta`` in the directions of the inputs and parameters."""
        data = [self._cast(x) for x in self.x_data]
        param_data = [self._cast(param.array) for param in self.params]
        checked = [i for i, no_grad in enumerate(self.no_grads) if not no_grad]
        starts = [*[data[i] for i in checked], *param_data]

        def evaluate() -> tuple[Any, ...]:
            points = [shift(x, float(delta), d) for x, d in zip(starts, directions)]
            x_data = list(data)
            for i, x in zip(checked, points):
                x_data[i] = x
            for param, x in zip(self.params, points[len(checked) :]):
                set_array(param, x)
            ys = self._forward(x_data)[1]
            return tuple([y.array for y in ys])

        return evaluate

    def _other_params(self) -> list[Any]:
        """Parameters of the link that are not checked, but need the dtype of the others."""
        link = self.settings.link
        if link is None or self.settings.dtype is None:
            return []
        checked = {id(param) for param in self.params}
        return [param for param in link.params(include_uninit=False) if id(param) not in checked]

    def _cast(self, array: Any) -> Any:
        if self.settings.dtype is None or array.dtype.kind not in FLOAT_KINDS:
            return array
        return array.astype(self.settings.dtype, copy=False)

    def _compare(
        self, actual: float, expected: float, gys: Any, directions: Any, grads: Any
    ) -> None:
        settings = self.settings
        try:
            _allclose.assert_allclose(actual, expected, atol=settings.atol, rtol=settings.rtol)
        except AssertionError as e:
            raise AssertionError(
                f'check_backward failed ({settings})\n'
                + _arrays_text('inputs', self.x_data)
                + _arrays_text('params', [param.array for param in self.params])
                + _arrays_text('grad_outputs', gys)
                + _arrays_text('directions', directions)
                + _arrays_text('gradients', grads)
                + f'gradients (numeric):  {expected}\ngradients (backward): {actual}\n\n{e}'
            ) from None
