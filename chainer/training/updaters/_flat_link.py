"""Parameters and gradients of a link as one array, to send them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer._core.names.set_module import set_module

if TYPE_CHECKING:
    from chainer._core.settings.types import NdArray
    from chainer.link import Link


@set_module('chainer.training.updaters.multiprocess_parallel_updater')
def size_num_grads(link: Link) -> tuple[int, int]:
    """Counts the initialized parameters of a link and their elements.

    Args:
        link (chainer.Link): Link.

    Returns:
        tuple: Total number of elements, and number of parameters.

    .. admonition:: Example

        >>> from chainer.training.updaters import multiprocess_parallel_updater
        >>> multiprocess_parallel_updater.size_num_grads(L.Linear(3, 2))
        (8, 2)

    """
    params = _params(link)
    return sum(param.size for param in params), len(params)


@set_module('chainer.training.updaters.multiprocess_parallel_updater')
def gather_grads(link: Link) -> NdArray:
    """Concatenates all gradients of a link into one array.

    Args:
        link (chainer.Link): Link.

    Returns:
        1-dimensional array on the device of the link. Missing gradients are zeros.

    .. admonition:: Example

        >>> from chainer.training.updaters import multiprocess_parallel_updater
        >>> model = L.Linear(2, 1)
        >>> model.cleargrads()
        >>> F.sum(model(np.array([[3, 4]], np.float32))).backward()
        >>> multiprocess_parallel_updater.gather_grads(model)  # of W and b
        array([3., 4., 1.], dtype=float32)

    """
    return _gather(
        link, lambda param: param.xp.zeros_like(param.array) if param.grad is None else param.grad
    )


@set_module('chainer.training.updaters.multiprocess_parallel_updater')
def gather_params(link: Link) -> NdArray:
    """Concatenates all parameters of a link into one array.

    Args:
        link (chainer.Link): Link.

    Returns:
        1-dimensional array on the device of the link.

    .. admonition:: Example

        >>> from chainer.training.updaters import multiprocess_parallel_updater
        >>> multiprocess_parallel_updater.gather_params(L.Linear(2, 1, initialW=3))  # W and b
        array([3., 3., 0.], dtype=float32)

    """
    return _gather(link, lambda param: param.array)


@set_module('chainer.training.updaters.multiprocess_parallel_updater')
def scatter_grads(link: Link, array: NdArray) -> None:
    """Sets the gradients of a link to the parts of an array.

    Args:
        link (chainer.Link): Link.
        array: Array from :func:`gather_grads`.

    Raises:
        ValueError: If the shape of the array is wrong.

    .. admonition:: Example

        >>> from chainer.training.updaters import multiprocess_parallel_updater
        >>> model = L.Linear(2, 1)
        >>> multiprocess_parallel_updater.scatter_grads(model, np.array([1, 2, 3], np.float32))
        >>> model.W.grad, model.b.grad
        (array([[1., 2.]], dtype=float32), array([3.], dtype=float32))

    """
    for param, part in _parts(link, array):
        if param.grad is None:
            param.grad = part.copy()
        else:
            param.grad[...] = part


@set_module('chainer.training.updaters.multiprocess_parallel_updater')
def scatter_params(link: Link, array: NdArray) -> None:
    """Sets the parameters of a link to the parts of an array.

    Args:
        link (chainer.Link): Link.
        array: Array from :func:`gather_params`.

    Raises:
        ValueError: If the shape of the array is wrong.

    .. admonition:: Example

        >>> from chainer.training.updaters import multiprocess_parallel_updater
        >>> model = L.Linear(2, 1)
        >>> multiprocess_parallel_updater.scatter_params(model, np.array([1, 2, 3], np.float32))
        >>> model.W.array, model.b.array
        (array([[1., 2.]], dtype=float32), array([3.], dtype=float32))

    """
    for param, part in _parts(link, array):
        param.array[...] = part


def _params(link):
    return [param for _, param in sorted(link.namedparams()) if param.is_initialized]


def _gather(link, get):
    params = _params(link)
    if not params:
        return None
    return params[0].xp.concatenate([get(param).ravel() for param in params])


def _parts(link, array):
    params = _params(link)
    size = sum(param.size for param in params)
    if params and array.shape != (size,):
        raise ValueError(f'array must have the shape ({size},), but it has {array.shape}')
    start = 0
    for param in params:
        part = array[start : start + param.size].reshape(param.shape)
        yield param, part.astype(param.dtype, copy=False)
        start += param.size
