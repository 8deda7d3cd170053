"""Kernels on CuPy, and functions wrapped at the first call. The public names are in ``cuda``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from chainer.backends import _cupy

if TYPE_CHECKING:
    from collections.abc import Callable

    _Function = Callable[..., Any]


def _lazy_decorator(wrap: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    """Makes a decorator that applies ``wrap`` at the first call, if CUDA is available.

    Decorated functions are usually in the global scope and should not import CuPy early.
    """

    def decorator(func: _Function) -> _Function:
        wrapped: _Function | None = None

        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            nonlocal wrapped
            if wrapped is None:
                wrapped = wrap(func) if _cupy.public.available else func
            return wrapped(*args, **kwargs)

        return wrapper

    return decorator


def memoize(for_each_device: bool = False) -> Callable[..., Any]:
    """Makes a function remember its results, by :func:`cupy.memoize`.

    Without CUDA the function is unchanged.

    Args:
        for_each_device (bool): Whether to keep results for each CUDA device.

    Returns:
        callable: Decorator of functions with hashable arguments.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> @cuda.memoize(for_each_device=True)
        ... def make_table(n):
        ...     return chainer.get_device('@numpy').xp.arange(n)
        >>> make_table(3)
        array([0, 1, 2])

    """
    return _lazy_decorator(lambda func: _cupy.public.cupy.memoize(for_each_device)(func))


def clear_memo() -> None:
    """Forgets all results of functions decorated with :func:`memoize`.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> cuda.clear_memo()

    """
    if _cupy.public.available:
        _cupy.public.cupy.clear_memo()


def fuse(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Fuses the elementwise operations of a function, by :func:`cupy.fuse`.

    Without CUDA the function is unchanged. Usable as ``@fuse`` and as
    ``@fuse(kernel_name='name')``.

    Args:
        args: The function, if used without parentheses.
        kwargs: Arguments of :func:`cupy.fuse`.

    Returns:
        callable: The function, or the decorator if none is given.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> @cuda.fuse()
        ... def multiply_add(x, y, z):
        ...     return x * y + z
        >>> multiply_add(np.array([1, 2]), 10, 1)
        array([11, 21])

    """
    if len(args) == 1 and not kwargs and callable(args[0]):
        return _lazy_decorator(lambda func: _cupy.public.cupy.fuse(func))(args[0])
    return _lazy_decorator(lambda func: _cupy.public.cupy.fuse(*args, **kwargs)(func))


@memoize()
def _elementwise_kernel(*args: Any, **kwargs: Any) -> Any:
    return _cupy.public.cupy.ElementwiseKernel(*args, **kwargs)


def elementwise(in_params: str, out_params: str, operation: str, name: str, **kwargs: Any) -> Any:
    """Makes an elementwise kernel, once for the same arguments.

    Args:
        in_params (str): Input parameters, such as ``'T x, T y'``.
        out_params (str): Output parameters.
        operation (str): CUDA code for an element.
        name (str): Name of the kernel.
        kwargs: Options of :class:`cupy.ElementwiseKernel`.

    Returns:
        cupy.ElementwiseKernel: Kernel.

    Raises:
        RuntimeError: If CUDA is not available.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> kernel = cuda.elementwise('T x, T y', 'T z', 'z = x * y', 'multiply')  # doctest: +SKIP
        >>> z = kernel(x, y)  # doctest: +SKIP

    """
    _cupy.check_cuda_available()
    return _elementwise_kernel(in_params, out_params, operation, name, **kwargs)


@memoize()
def _reduction_kernel(*args: Any, **kwargs: Any) -> Any:
    return _cupy.public.cupy.ReductionKernel(*args, **kwargs)


def reduce(
    in_params: str,
    out_params: str,
    map_expr: str,
    reduce_expr: str,
    post_map_expr: str,
    identity: str,
    name: str,
    **kwargs: Any,
) -> Any:
    """Makes a reduction kernel, once for the same arguments.

    Args:
        in_params (str): Input parameters.
        out_params (str): Output parameters.
        map_expr (str): Expression of an element.
        reduce_expr (str): Expression that combines ``a`` and ``b``.
        post_map_expr (str): Expression of the result.
        identity: Identity of the reduction.
        name (str): Name of the kernel.
        kwargs: Options of :class:`cupy.ReductionKernel`.

    Returns:
        cupy.ReductionKernel: Kernel.

    Raises:
        RuntimeError: If CUDA is not available.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> norm = cuda.reduce(
        ...     'T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2_norm')  # doctest: +SKIP
        >>> y = norm(x, axis=1)  # doctest: +SKIP

    """
    _cupy.check_cuda_available()
    return _reduction_kernel(
        in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, **kwargs
    )


@memoize()
def _raw_kernel(*args: Any, **kwargs: Any) -> Any:
    return _cupy.public.cupy.RawKernel(*args, **kwargs)


def raw(code: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Makes a kernel from CUDA source, once for the same arguments.

    Args:
        code (str): CUDA source.
        name (str): Name of the kernel in the source.
        args, kwargs: Options of :class:`cupy.RawKernel`.

    Returns:
        cupy.RawKernel: Kernel.

    Raises:
        RuntimeError: If CUDA is not available.

    .. admonition:: Example

        >>> from chainer.backends import cuda
        >>> code = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }'
        >>> kernel = cuda.raw(code, 'twice')  # doctest: +SKIP
        >>> kernel((1,), (x.size,), (x,))  # doctest: +SKIP

    """
    _cupy.check_cuda_available()
    return _raw_kernel(code, name, *args, **kwargs)
