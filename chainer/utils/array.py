"""Shapes of arrays."""
import math

from chainer.backends import cuda


def as_vec(x):
    """Returns ``x`` as a one-dimensional array."""
    return x if x.ndim == 1 else x.ravel()


def as_mat(x):
    """Returns ``x`` as a matrix, whose rows are along its first axis."""
    return x if x.ndim == 2 else x.reshape(len(x), -1)


def empty_like(x):
    """Returns an uninitialized array like ``x``, of the same module."""
    return cuda.get_array_module(x).empty_like(x)


def size_of_shape(shape):
    """Returns the number of elements of an array of a shape.

    >>> from chainer import utils
    >>> utils.size_of_shape((2, 3))
    6

    """
    return math.prod(shape)


def sum_to(x, shape):
    """Sums elements along axes so that the result has a shape: the opposite of broadcasting.

    Args:
        x: Array of any module.
        shape (tuple of int): Shape, which can be broadcast to that of ``x``.

    Returns:
        Array of the shape.

    >>> import numpy as np
    >>> from chainer import utils
    >>> utils.sum_to(np.array([[1., 2., 3.], [4., 5., 6.]]), (2, 1))
    array([[ 6.],
           [15.]])

    """
    if x.shape == shape:
        return x
    lead = x.ndim - len(shape)
    if lead < 0 or any(n != 1 and n != m for n, m in zip(shape, x.shape[lead:])):
        raise ValueError(f'shape {tuple(shape)} cannot be broadcast to {x.shape}')
    axes = tuple([
        i for i in range(x.ndim) if i < lead or shape[i - lead] == 1 and x.shape[i] != 1])
    y = x.sum(axis=axes, keepdims=True)
    return y.reshape(shape) if lead > 0 else y
