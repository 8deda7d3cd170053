"""Numerical gradients by finite differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend
from chainer._core.names.set_module import set_module
from chainer._core.settings.half import FLOAT_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer.types import NdArray


@set_module('chainer.gradient_check')
class NondifferentiableError(Exception):
    """Raised when a function seems not to be differentiable at the point of the check.

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> x = np.array([0.])
        >>> gradient_check.numerical_grad(
        ...     lambda: (abs(x),), (x,), (np.ones(1),), detect_nondifferentiable=True)
        Traceback (most recent call last):
            ...
        chainer.gradient_check.NondifferentiableError: Nondifferentiable input detected...

    """


@set_module('chainer.gradient_check')
def numerical_grad(
    f: Callable[..., Any],
    inputs: tuple[NdArray, ...],
    grad_outputs: tuple[NdArray, ...],
    eps: float = 1e-3,
    detect_nondifferentiable: bool = False,
    diff_atol: float = 0,
    diff_rtol: float = 1e-2,
    center_outputs: tuple[NdArray, ...] | None = None,
) -> list[NdArray]:
    r"""Computes gradients by finite differences.

    Estimates the gradient of :math:`\sum_j g_j \cdot y_j` with respect to each input element by
    the central difference :math:`(y(x + \epsilon) - y(x - \epsilon)) / 2\epsilon`.

    Args:
        f (callable): Function without arguments that computes a tuple of arrays from the current
            content of ``inputs``.
        inputs (tuple of arrays): Floating point arrays, changed in place during the computation
            and restored afterwards.
        grad_outputs (tuple of arrays): Gradients with respect to the outputs; ``None`` elements
            count as zero.
        eps (float): Step.
        detect_nondifferentiable (bool): Whether to look for points where the function is not
            smooth, by fitting a parabola to five values of each output element within the step.
        diff_atol (float): Absolute tolerance of that fit.
        diff_rtol (float): Tolerance of that fit relative to the range of the values.
        center_outputs (tuple of arrays): Outputs at the unchanged inputs, if known.

    Returns:
        list of arrays: Gradients, with shapes and dtypes of the inputs.

    Raises:
        AssertionError: If ``eps`` is not positive.
        RuntimeError: If an input is not of floating point.
        NondifferentiableError: If the requested check finds the function not differentiable.

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> x = np.array([1., 2.])
        >>> gx, = gradient_check.numerical_grad(lambda: (x * x,), (x,), (np.ones(2),))
        >>> gx.round(6)
        array([2., 4.])

    """
    assert eps > 0, f'eps must be positive: {eps}'
    inputs = tuple(inputs)
    grad_outputs = tuple(grad_outputs)
    for x in inputs:
        if x.dtype.kind not in FLOAT_KINDS:
            raise RuntimeError(f'The dtype of input arrays must be kind of float, not {x.dtype}')
    gys = [None if gy is None else to_double(gy) for gy in grad_outputs]

    def evaluate() -> list[Any]:
        ys = f()
        if not isinstance(ys, (tuple, list)):
            ys = (ys,)
        if len(ys) != len(gys):
            raise ValueError(
                f'grad_outputs must have as many elements as the function has outputs: {len(gys)} '
                f'and {len(ys)}'
            )
        return [_copy_result(y) for y in ys]

    center = None
    if detect_nondifferentiable:
        center = evaluate() if center_outputs is None else [_copy_result(y) for y in center_outputs]
    return [
        _numerical_grad_of_input(evaluate, x, gys, eps, center, (diff_atol, diff_rtol))
        for x in inputs
    ]


def _numerical_grad_of_input(
    evaluate: Callable[[], list[Any]],
    x: Any,
    gys: list[Any],
    eps: float,
    center: list[Any] | None,
    tolerances: tuple[float, float],
) -> Any:
    view = backend.from_chx(x)
    gx = numpy.zeros(x.shape, numpy.float64)

    def evaluate_at(index: tuple[int, ...], value: float) -> tuple[float, list[Any]]:
        view[index] = value
        return view[index].item(), evaluate()

    for index in numpy.ndindex(*x.shape):
        original = view[index].item()
        try:
            x0, ys0 = evaluate_at(index, original - eps)
            x1, ys1 = evaluate_at(index, original + eps)
            if center is not None:
                _, ys_left = evaluate_at(index, original - eps / 2)
                _, ys_right = evaluate_at(index, original + eps / 2)
                samples = zip(ys0, ys_left, center, ys_right, ys1)
                _check_differentiable(samples, index, eps, *tolerances)
        finally:
            view[index] = original
        # The step, rounded to the dtype of the input.
        step = x1 - x0 or 2 * eps
        for y0, y1, gy in zip(ys0, ys1, gys):
            if gy is not None:
                gx[index] += numpy.sum((to_double(y1) - to_double(y0)) * gy) / step
    gx = gx.astype(x.dtype)
    return backend.get_device_from_array(x).send(gx)


def _copy_result(y: Any) -> Any:
    # Functions may return their inputs, which change later.
    return None if y is None else numpy.array(backend.CpuDevice().send(y))


def to_double(array: Any) -> Any:
    """Returns an array as one of NumPy in float64."""
    return backend.CpuDevice().send(array).astype(numpy.float64)


# Residuals of the least squares parabola through values at -1, -1/2, 0, 1/2, 1.
_vandermonde = numpy.vander([-1, -0.5, 0, 0.5, 1], 3)
_to_residuals = numpy.eye(5) - _vandermonde @ numpy.linalg.pinv(_vandermonde)


def _check_differentiable(
    samples_of_outputs: Iterable[Any], index: tuple[int, ...], eps: float, atol: float, rtol: float
) -> None:
    for i, samples in enumerate(samples_of_outputs):
        if samples[0] is None or samples[0].dtype.kind not in FLOAT_KINDS:
            continue
        bad = _find_rough(samples, atol, rtol)
        if bad.any():
            where = numpy.flatnonzero(bad)
            j = where[0]
            values = ', '.join(str(y.ravel()[j]) for y in samples)
            place = numpy.unravel_index(j, samples[0].shape)
            raise NondifferentiableError(
                'Nondifferentiable input detected.\n'
                f'- eps: {eps}, diff_atol: {atol}, diff_rtol: {rtol}\n'
                f'- index in the input: {index}\n'
                f'- output {i}: {len(where)} of {len(bad)} elements, the first one at '
                f'{tuple(map(int, place))}\n'
                f'- its values at -eps, -eps/2, 0, eps/2, eps: {values}'
            )


def _find_rough(samples: Any, atol: float, rtol: float) -> Any:
    """Returns for each element whether its five values are far from any parabola."""
    ulp = numpy.finfo(samples[0].dtype).eps
    ys = numpy.stack([y.astype(numpy.float64).ravel() for y in samples])
    finite = numpy.isfinite(ys)
    same = (ys == ys[0]) | (numpy.isnan(ys) & numpy.isnan(ys[0]))
    bad = ~finite.all(axis=0) & ~same.all(axis=0)
    ys = numpy.where(finite.all(axis=0), ys, 0)
    residual = numpy.abs(_to_residuals @ ys).max(axis=0)
    # Rounding causes residuals, too.
    rounding = 8 * ulp * numpy.abs(ys).max(axis=0)
    return bad | (residual > atol + rtol * numpy.ptp(ys, axis=0) + rounding)
