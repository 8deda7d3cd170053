"""Functions of Chainer on plain arrays, for gradient rules of a backward that is not recorded."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy

from chainer import utils
from chainer._core.engines import arrays
from chainer._core.names.namespace import F
from chainer.backends import cuda
from chainer.utils.array import _cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chainer._core.autograd.base_function import BaseFunction
    from chainer._core.settings.types import Xp

# Routines with the same name and meaning in NumPy, CuPy and `chainer.functions`.
_SHARED = frozenset(
    'absolute arccos arcsin arctan arctan2 broadcast_to ceil cos cosh cumprod cumsum einsum exp '
    'expand_dims expm1 flip fliplr flipud floor hstack log log10 log1p log2 maximum minimum '
    'moveaxis prod repeat reshape rollaxis sign sin sinh sqrt square squeeze stack sum swapaxes '
    'tan tanh tile transpose vstack where'.split()
)


class Arrays:
    """Namespace with the names of :mod:`chainer.functions` whose functions give arrays.

    Args:
        xp: Array module, :mod:`numpy` or :mod:`cupy`.

    """

    sum_to = staticmethod(utils.sum_to)

    def __init__(self, xp: Xp | None) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        # Runs once for each name: the instance keeps the result.
        if name in _SHARED:
            function = getattr(self._xp, name)
        else:
            function = functools.partial(_on_arrays, getattr(F, name))
        setattr(self, name, function)
        return function

    @staticmethod
    def apply(func: BaseFunction, inputs: Iterable[Any]) -> tuple[Any, ...]:
        """Outputs of a function node, without recording."""
        return arrays.run(func, (), tuple(inputs))

    @staticmethod
    def matmul(a: Any, b: Any, transa: bool = False, transb: bool = False) -> Any:
        """Product of matrices, as :func:`chainer.functions.matmul`."""
        if transa and a.ndim > 1:
            a = a.swapaxes(-2, -1)
        if transb and b.ndim > 1:
            b = b.swapaxes(-2, -1)
        return a @ b

    @staticmethod
    def cast(x: Any, dtype: Any) -> Any:
        """Array of another dtype."""
        return _cast(x, dtype)


def _on_arrays(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    # NumPy turns 0-d arrays into scalars.
    arrays = [numpy.asarray(x) if isinstance(x, numpy.generic) else x for x in args]
    ys = function(*arrays, **kwargs)
    return tuple([y.raw_array for y in ys]) if isinstance(ys, (tuple, list)) else ys.raw_array


_of_numpy = Arrays(numpy)
_of_cupy = Arrays(None)


def arrays_like(array: Any) -> Arrays:
    """Namespace for arrays of the module of ``array``."""
    if isinstance(array, (numpy.ndarray, numpy.generic)):
        return _of_numpy
    _of_cupy._xp = cuda.cupy
    return _of_cupy
