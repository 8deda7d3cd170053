"""Errors about gradients that do not fit the inputs of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import numpy

    from chainer._core.autograd.base_function import BaseFunction


def refuse_gradient(
    func: BaseFunction,
    index: int,
    grad: Any,
    shape: tuple[int, ...] | None,
    dtype: numpy.dtype[Any] | None,
) -> NoReturn:
    """Raises an error for a gradient that does not fit input ``index`` of a function.

    Raises:
        TypeError: If the gradient is not an array or has another dtype.
        ValueError: If it has another shape.

    """
    is_array = hasattr(grad, 'dtype')
    kind = ValueError if is_array and grad.dtype == dtype and grad.shape != shape else TypeError
    raise kind(describe_misfit(func, index, grad, shape, dtype))


def describe_misfit(
    func: BaseFunction,
    index: int,
    grad: Any,
    shape: tuple[int, ...] | None,
    dtype: numpy.dtype[Any] | None,
) -> str:
    """Describes a gradient that does not fit; in debug mode with the call of the function."""
    actual = f'is of {type(grad)}'
    if hasattr(grad, 'dtype'):
        actual += f', shape {grad.shape} and dtype {grad.dtype}'
    message = (
        f'{func.label} (Backward): gradient of input {index} {actual}, expected an array '
        f'of shape {shape} and dtype {dtype}'
    )
    if func.stack:
        message += f'\nThe function was called here:\n{"".join(func.stack.format())}'
    return message
