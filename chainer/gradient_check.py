"""Comparison of gradients with numerical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer._core.gradient_checks import (
    backward_check as _backward_check,
    double_backward_check as _double_backward_check,
)
from chainer._core.gradient_checks.numerical import (
    NondifferentiableError as NondifferentiableError,
    numerical_grad as numerical_grad,
)
from chainer._core.gradient_checks.probing import as_tuple as _as_tuple
from chainer.link import Link
from chainer.utils import _allclose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.types import DTypeSpec, NdArray
    from chainer.variable import Variable


def assert_allclose(
    x: Any, y: Any, atol: float = 1e-5, rtol: float = 1e-4, verbose: bool = True
) -> None:
    """Asserts that arrays are close; see :func:`chainer.testing.assert_allclose`.

    Args:
        x, y: Arrays or scalars of any module.
        atol (float): Absolute tolerance.
        rtol (float): Tolerance relative to ``y``.
        verbose (bool): Whether the message shows the arrays.

    Raises:
        AssertionError: If they differ by more than ``atol + rtol * abs(y)``.

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> gradient_check.assert_allclose(np.array([1., 2.]), [1., 2.0001])

    """
    _allclose.assert_allclose(x, y, atol=atol, rtol=rtol, verbose=verbose)


def check_backward(
    func: Callable[..., Any],
    x_data: NdArray | Sequence[NdArray],
    y_grad: NdArray | Sequence[NdArray | None] | None,
    params: Variable | Sequence[Variable] = (),
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeSpec = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Checks the gradients of a function against numerical ones.

    Compares the gradients in one random direction of all inputs and parameters together. The
    check thus costs a few evaluations of the function for any size.

    Args:
        func (callable): Function that takes and returns variables, such as a link.
        x_data (array or tuple of arrays): Inputs.
        y_grad (array, tuple of arrays or None): Gradients with respect to the outputs. ``None``
            if there is a single output that is a scalar.
        params (~chainer.Variable or tuple of them): Parameters of ``func`` whose gradients are
            checked too. Their own gradients stay unchanged. Those that a call of ``func``
            initializes may be uninitialized.
        eps (float): Step of the numerical gradients.
        atol (float): Absolute tolerance.
        rtol (float): Relative tolerance.
        no_grads (list of bool): Which inputs must have no gradient; by default those without
            floating point dtype.
        dtype: Floating point dtype for the numerical gradients, to which inputs, parameters (also
            other ones of ``func`` if that is a link) and gradients are cast, such as float64 for a
            function in float16.
        detect_nondifferentiable (bool): Whether to look for points where the function is not
            smooth, such as the origin for ReLU.

    Raises:
        AssertionError: If the gradients differ. The message shows all values.
        NondifferentiableError: If the requested check finds the function not differentiable.
        RuntimeError: If an input that must have no gradient gets one.
        ValueError: If arguments do not match.

    See: :func:`numerical_grad`

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> x = np.array([1, 2, 3], np.float32)
        >>> gy = np.array([1, -1, 1], np.float32)
        >>> gradient_check.check_backward(lambda x: x * x, x, gy, dtype=np.float64)

    """
    link = func if isinstance(func, Link) else None
    settings = _backward_check.Settings(eps, atol, rtol, dtype, detect_nondifferentiable, link)
    _backward_check.BackwardCheck(func, x_data, y_grad, params, no_grads, settings).run()


def _check_link_backward(
    link: Link | None,
    func: Callable[..., Any],
    x_data: Any,
    y_grad: Any,
    params: Any,
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeSpec = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Implements the checks, of a function that may call ``link``."""
    settings = _backward_check.Settings(eps, atol, rtol, dtype, detect_nondifferentiable, link)
    _backward_check.BackwardCheck(func, x_data, y_grad, params, no_grads, settings).run()


def check_double_backward(
    func: Callable[..., Any],
    x_data: NdArray | Sequence[NdArray],
    y_grad: NdArray | Sequence[NdArray],
    x_grad_grad: NdArray | Sequence[NdArray],
    params: Variable | Sequence[Variable] = (),
    params_grad_grad: NdArray | Sequence[NdArray] = (),
    eps: float = 1e-3,
    atol: float = 1e-4,
    rtol: float = 1e-3,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeSpec = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Checks the gradients of the gradients of a function against numerical ones.

    Treats the backward computation of ``func`` as a function of the inputs and ``y_grad``, and
    passes it to :func:`check_backward`.

    Args:
        func (callable): Function that takes and returns variables.
        x_data (array or tuple of arrays): Inputs.
        y_grad (array or tuple of arrays): Gradients with respect to the outputs.
        x_grad_grad (array or tuple of arrays): Gradients with respect to the gradients of the
            inputs; those of inputs without gradient may be left out.
        params (~chainer.Variable or tuple of them): Parameters of ``func``.
        params_grad_grad (array or tuple of arrays): Gradients with respect to the gradients of
            the parameters.
        eps (float): Step of the numerical gradients.
        atol (float): Absolute tolerance.
        rtol (float): Relative tolerance.
        no_grads (list of bool): Which inputs have no gradient.
        dtype: Dtype for the numerical gradients; see :func:`check_backward`.
        detect_nondifferentiable (bool): Whether to look for points where the gradients are not
            smooth.

    Raises:
        AssertionError: If the gradients differ. The message shows all values.
        NondifferentiableError, RuntimeError, ValueError: As :func:`check_backward`.

    .. admonition:: Example

        >>> from chainer import gradient_check
        >>> x = np.array([1, 2, 3], np.float32)
        >>> gy = ggx = np.array([1, -1, 1], np.float32)
        >>> gradient_check.check_double_backward(lambda x: x * x, x, gy, ggx, dtype=np.float64)

    """
    link = func if isinstance(func, Link) else None
    settings = _backward_check.Settings(eps, atol, rtol, dtype, detect_nondifferentiable, link)
    _double_backward_check.DoubleBackwardCheck(
        func, x_data, y_grad, x_grad_grad, params, params_grad_grad, no_grads
    ).run(settings)


def _check_backward_with_params(
    func: Callable[..., Any],
    x_data: Any,
    y_grad: Any,
    params: Any = (),
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: DTypeSpec = None,
    detect_nondifferentiable: bool = False,
) -> None:
    """Like :func:`check_backward`, of a function of a tuple of inputs and one of parameters.

    Args:
        func (callable): Function that takes two tuples of variables.
        params (array or tuple of arrays): Parameters.

    """
    x_data, params = _as_tuple(x_data), _as_tuple(params)
    n = len(x_data)
    if no_grads is None:
        no_grads = _backward_check.without_gradients(x_data)
    check_backward(
        lambda *xs: func(xs[:n], xs[n:]),
        (*x_data, *params),
        y_grad,
        (),
        eps,
        atol,
        rtol,
        [*no_grads, *[False] * len(params)],
        dtype,
        detect_nondifferentiable,
    )
