"""Access to the arrays that optimizer hooks change in place."""

from chainer import backend


def shared_arrays(param):
    """Returns the array and the gradient as NumPy or CuPy arrays on the same memory.

    Returns ``None, None`` if one of them is missing.
    """
    array, grad = param.array, param.grad
    if array is None or grad is None:
        return None, None
    return backend.from_chx(array), backend.from_chx(grad)


def loss_scale_of(param):
    """Returns the factor by which the gradient is larger than the true one."""
    return 1. if param._loss_scale is None else param._loss_scale
