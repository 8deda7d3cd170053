"""Conversions of variables to numbers, text and arrays, and reductions as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as _numpy

import chainerx
from chainer._core.autograd.base_variable import BaseVariable, from_array
from chainer._core.autograd.variable_state import VariableState
from chainer._core.names.namespace import F
from chainer.backends import cuda

if TYPE_CHECKING:
    from chainer._core.settings.types import Axis
    from chainer._core.variables.types import VariableLike
    from chainer._core.variables.variable import Variable


def _refuse(method: str, **given: Any) -> None:
    """Refuses arguments that only functions of NumPy pass, which do not need them."""
    for name, value in given.items():
        if value is not None:
            raise TypeError(f'Variable.{method}: {name} must be None, not {value!r}')


def _elements(var: Any) -> Any:
    """Returns an array of variables, one for each element."""
    array = _numpy.empty(var.shape, object)
    for index in _numpy.ndindex(var.shape):
        array[index] = var[index] if index else var
    return array


class VariableConversions(VariableState):
    """Conversions and reductions of a variable."""

    def sum(self, axis: Axis = None, keepdims: bool = False, *, out: None = None) -> Variable:
        """Sum over axes; see :func:`chainer.functions.sum`.

        Args:
            axis (None, int or tuple of ints): Axes. All by default.
            keepdims (bool): Whether to keep the axes with length one.
            out (None): Only for :func:`numpy.sum`, which passes ``None``.

        Returns:
            ~chainer.Variable: Sum.

        .. admonition:: Example

            >>> x = chainer.Variable(np.array([[1, 2], [3, 4]], np.float32))
            >>> x.sum(), x.max(axis=0), x.min(axis=1)
            (variable(10.), variable([3., 4.]), variable([1., 3.]))

        """
        _refuse('sum', out=out)
        return F.sum(self, axis, keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False, *, out: None = None) -> Variable:
        """Maximum over axes; see :func:`chainer.functions.max`.

        Args:
            axis (None, int or tuple of ints): Axes. All by default.
            keepdims (bool): Whether to keep the axes with length one.
            out (None): Only for :func:`numpy.max`, which passes ``None``.

        Returns:
            ~chainer.Variable: Maximum.

        """
        _refuse('max', out=out)
        return F.max(self, axis, keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False, *, out: None = None) -> Variable:
        """Minimum over axes; see :func:`chainer.functions.min`.

        Args:
            axis (None, int or tuple of ints): Axes. All by default.
            keepdims (bool): Whether to keep the axes with length one.
            out (None): Only for :func:`numpy.min`, which passes ``None``.

        Returns:
            ~chainer.Variable: Minimum.

        """
        _refuse('min', out=out)
        return F.min(self, axis, keepdims)

    def prod(self, axis: Axis = None, keepdims: bool = False, *, out: None = None) -> Variable:
        """Product over axes; see :func:`chainer.functions.prod`.

        Args:
            axis (None, int or tuple of ints): Axes. All by default.
            keepdims (bool): Whether to keep the axes with length one.
            out (None): Only for :func:`numpy.prod`, which passes ``None``.

        Returns:
            ~chainer.Variable: Product.

        """
        _refuse('prod', out=out)
        return F.prod(self, axis, keepdims)

    def mean(
        self,
        axis: Axis = None,
        *,
        weights: VariableLike | None = None,
        keepdims: bool = False,
        dtype: None = None,
        out: None = None,
    ) -> Variable:
        """Weighted mean over axes; see :func:`chainer.functions.average`.

        Args:
            axis (None, int or tuple of ints): Axes. All by default.
            weights (~chainer.Variable or :ref:`ndarray`): Weights, of the shape of the variable
                or of the length of the one axis. Equal ones by default.
            keepdims (bool): Whether to keep the axes with length one.
            dtype (None): Only for :func:`numpy.mean`, which passes ``None``.
            out (None): As ``dtype``.

        Returns:
            ~chainer.Variable: Mean.

        """
        _refuse('mean', dtype=dtype, out=out)
        return F.average(self, axis, weights=weights, keepdims=keepdims)

    def detach(self) -> Variable:
        """Returns a variable of the same array outside of the graph.

        Use :meth:`unchain` to cut this variable itself off.

        Returns:
            ~chainer.Variable: New variable that requires no gradient and shares the memory.

        .. admonition:: Example

            >>> x = chainer.Variable(np.array([1, 2], np.float32))
            >>> y = (x * x).detach()
            >>> y, y.creator is None, y.requires_grad
            (variable([1., 4.]), True, False)

        """
        array = self._array
        if isinstance(array, chainerx.ndarray):
            array = array.as_grad_stopped()
        var = from_array(array, False)
        if self._layout is not None:
            var._layout = self._layout
        return var

    def numpy(self) -> _numpy.ndarray[Any, Any]:
        """Returns the array as one of NumPy, without the graph.

        Returns:
            numpy.ndarray: Array that shares the memory of a variable on the CPU, or a copy from a
            GPU.

        Raises:
            TypeError: If the variable has no array.

        .. admonition:: Example

            >>> x = chainer.Variable(np.array([1, 2], np.float32))
            >>> (x * x).numpy()
            array([1., 4.], dtype=float32)

        """
        array = self.array
        if array is None:
            raise TypeError('a variable without an array cannot be converted to NumPy')
        return cuda.to_cpu(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> _numpy.ndarray[Any, Any]:
        if dtype is None and self._is_recorded_scalar():
            # `numpy.sum(losses)` adds variables, to be differentiated.
            array: Any = _numpy.empty((), object)
            array[()] = self
            return array
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(
                    f'a variable of dtype {array.dtype} becomes an array of {_numpy.dtype(dtype)} '
                    'only by a copy: copy must not be False'
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Gives what a universal function of NumPy returns for variables.

        It is an array of variables, since that is part of a graph. There is none behind a truth
        value.
        """
        if context is not None and array.dtype.kind not in 'bO':
            ufunc, args, index = context
            inputs = [_elements(x) if isinstance(x, BaseVariable) else x for x in args[: ufunc.nin]]
            try:
                results = ufunc(*inputs)
            except TypeError as error:
                # NumPy would take a TypeError for that of an old signature, and go on.
                raise RuntimeError(
                    f'numpy.{ufunc.__name__} cannot be differentiated: use a function of '
                    'chainer.functions, or the array of the variable (variable.array)'
                ) from error
            return results if ufunc.nout == 1 else results[index]
        return array[()] if array.ndim == 0 else array

    def _is_recorded_scalar(self) -> bool:
        array = self._array
        if array is None or array.ndim != 0:
            return False
        if isinstance(array, chainerx.ndarray):
            return array.is_backprop_required() and not array.is_grad_required()
        return self._node is not None and self._node.creator_node is not None

    def __float__(self) -> float:
        return float(self._get_item('float()'))

    def __int__(self) -> int:
        return int(self._get_item('int()'))

    def __complex__(self) -> complex:
        return complex(self._get_item('complex()'))

    def __format__(self, spec: str) -> str:
        return format(self._get_item(f'the format {spec!r}'), spec) if spec else str(self)

    def _get_item(self, what: str) -> Any:
        array = self._array
        if array is None or array.size != 1:
            actual = 'one without an array' if array is None else f'one of shape {array.shape}'
            raise TypeError(f'{what} needs a variable of one element, not {actual}')
        return self.item()
