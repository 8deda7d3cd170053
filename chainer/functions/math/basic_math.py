"""Arithmetic operators of variables."""

from __future__ import annotations

import functools
import math
import numbers
import operator
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import utils
from chainer._core.devices.array_types import get_array_types
from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer._core.names.namespace import F, operators
from chainer.backends import cuda
from chainer.functions._arrays import in_dtype
from chainer.functions._base import BinaryFunction, Operation, UnaryFunction, kernels
from chainer.utils import type_check
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.utils.type_check import TypeInfoTuple

_chx_ndarray = chainerx.ndarray
# The common ones first.
_SCALARS = (float, int, numpy.number, numpy.bool_, numbers.Number)


def _check_operand(value):
    if not isinstance(value, get_array_types()):
        raise TypeError(
            'Value must be a scalar, numpy.ndarray, cupy.ndarray, chainerx.ndarray or '
            f'a Variable.\nActual: {type(value)}'
        )


def _operand(x, value):
    """Converts the second operand to a function input: an array takes the variable's dtype."""
    if isinstance(value, Variable):
        return value
    _check_operand(value)
    return utils.force_type(x.dtype, value)


def _constant_text(value):
    if not isinstance(value, _SCALARS):
        return 'constant array'
    # A number that is not real has failed by now.
    is_negative = value < 0  # type: ignore[operator]
    return f'({value})' if is_negative else str(value)


def _scalar(value, dtype):
    """Converts a number; in float16 a large one is infinite, without the warning of NumPy."""
    if dtype.char == 'e' and abs(value) > 65504:
        with numpy.errstate(over='ignore'):
            return dtype.type(value)
    return dtype.type(value)


class _Unary(UnaryFunction):
    """Unary operator of arrays of any dtype."""

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))


class _Binary(BinaryFunction):
    """Binary operator of arrays of any dtype."""

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, self.arguments)
        type_check.expect(in_types[0].dtype == in_types[1].dtype)
        type_check.expect_broadcast_shapes(in_types[0].shape, in_types[1].shape)


class _Constant(_Unary):
    """Operator with a constant, which takes the dtype of the array."""

    text = ''
    operator: Any = None  # operator with the constant on its side
    retains = ''
    # In ChainerX the constant may widen the dtype.
    _kernels = CHECKED_BY_CHAINERX

    def __init__(self, value: float) -> None:
        self.value = value

    @property
    def label(self) -> str:
        return self.text % _constant_text(self.value)

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        # A NumPy scalar of the array's dtype: 0-d arrays keep their dtype on any NumPy.
        value = self.value
        if isinstance(value, _SCALARS):
            value = _scalar(value, x.dtype)
        return self.operator(x, value)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (self.operator(inputs[0], self.value),)


def _reflected(op):
    return staticmethod(lambda x, value: op(value, x))


class Neg(_Unary):
    """Function node of ``-x``."""

    retains = ''
    chainerx_routine = 'negative'
    label = '__neg__'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return -x

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return -gy


def neg(self: VariableLike) -> Variable:  # -x
    """Elementwise negation; also written ``-x``.

    Args:
        self (:class:`~chainer.Variable` or array): Input of any dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of the input.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (-x).array
    array([-1., -4.], dtype=float32)

    """
    return Neg().apply((self,))[0]


class Absolute(UnaryFunction):
    """Function node of :func:`~chainer.functions.absolute`."""

    chainerx_routine = 'absolute'
    label = '|_|'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return abs(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * m.sign(x)


def absolute(self: VariableLike) -> Variable:
    """Elementwise absolute value, with gradient zero at zero; also written ``abs(x)``.

    Args:
        self (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of the input.

    Raises:
        ~chainer.utils.type_check.InvalidType: If the input is not floating point.

    .. admonition:: Example

        >>> F.absolute(np.array([-2, 0, 3], np.float32)).array
        array([2., 0., 3.], dtype=float32)

    """
    return Absolute().apply((self,))[0]


class Add(_Binary):
    """Function node of :func:`~chainer.functions.add`, of two arrays."""

    chainerx_routine = 'add'
    retains = ''
    label = '_ + _'

    def compute(self, xp: Xp, x0: NdArray, x1: NdArray) -> NdArray:
        return x0 + x1

    def gradient(
        self, m: Namespace, i: int, x0: Operand, x1: Operand, y: Operand, gy: Operand
    ) -> Operand:
        return gy


class AddConstant(_Constant):
    """Function node of ``x + value``."""

    text = '_ + %s'
    operator: Any = operator.add

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy


class MultiAdd(Operation):
    """Sum of any number of arrays."""

    is_elementwise = True
    _kernels = kernels(check=True)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        for in_type in in_types:
            type_check.expect(in_type.dtype == in_types[0].dtype)
        type_check.expect_broadcast_shapes(*[t.shape for t in in_types])

    def forward(self, xs: tuple[NdArray, ...]) -> tuple[NdArray, ...]:
        return (utils.force_array(functools.reduce(operator.add, xs), xs[0].dtype),)

    def forward_chainerx(
        self, xs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (functools.reduce(operator.add, xs),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return [m.sum_to(gys[0], self.inputs[i].shape) for i in targets]


def add(*xs: VariableLike) -> Variable:  # lhs + rhs or add more than 2 variables
    """Elementwise sum of two or more arrays, with broadcasting; also written ``x + y``.

    Args:
        xs (:class:`~chainer.Variable` or array): Operands of one dtype. Of two, the second one may
            be a scalar or an array of another dtype, which takes the dtype of the first one.

    Returns:
        ~chainer.Variable: Output of the dtype of the first operand and the broadcast shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If there is no operand, dtypes differ or shapes
            cannot be broadcast.

    .. admonition:: Example

        >>> x = np.array([[1, 2], [3, 4]], np.float32)
        >>> F.add(x, np.array([10, 20], np.float32)).array
        array([[11., 22.],
               [13., 24.]], dtype=float32)
        >>> F.add(x, x, x).array
        array([[ 3.,  6.],
               [ 9., 12.]], dtype=float32)

    """
    if len(xs) == 2:
        lhs, rhs = xs
        if isinstance(rhs, _SCALARS):
            return AddConstant(rhs).apply((lhs,))[0]
        return Add().apply((lhs, _operand(lhs, rhs)))[0]
    return MultiAdd().apply(xs)[0]


class Sub(_Binary):
    """Function node of ``x0 - x1``."""

    retains = ''
    chainerx_routine = 'subtract'
    label = '_ - _'

    def compute(self, xp: Xp, x0: NdArray, x1: NdArray) -> NdArray:
        return x0 - x1

    def gradient(
        self, m: Namespace, i: int, x0: Operand, x1: Operand, y: Operand, gy: Operand
    ) -> Operand:
        return -gy if i else gy


def sub(self: VariableLike, rhs: VariableLike | float) -> Variable:  # lhs - rhs
    """Elementwise difference :math:`x_0 - x_1`, with broadcasting; also written ``x - y``.

    Args:
        self (:class:`~chainer.Variable` or array): Left operand, of any dtype.
        rhs (:class:`~chainer.Variable`, array or scalar): Right operand. An array or scalar takes
            the dtype of ``self``.

    Returns:
        ~chainer.Variable: Output of that dtype and the broadcast shape.

    Raises:
        TypeError: If the type of ``rhs`` is wrong.
        ~chainer.utils.type_check.InvalidType: If dtypes of variables differ or shapes cannot be
            broadcast.

    .. admonition:: Example

        >>> x = chainer.Variable(np.array([1, 4], np.float32))
        >>> (x - np.array([2, 2])).array
        array([-1.,  2.], dtype=float32)

    """
    if isinstance(rhs, _SCALARS):
        return AddConstant(-rhs).apply((self,))[0]
    return Sub().apply((self, _operand(self, rhs)))[0]


class SubFromConstant(_Constant):
    """Function node of ``value - x``."""

    text = '%s - _'
    operator: Any = _reflected(operator.sub)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return -gy


def rsub(self: VariableLike, rhs: VariableLike | float) -> Variable:  # rhs - lhs
    """Elementwise difference with swapped operands: ``5 - x`` is ``rsub(x, 5)``.

    See :func:`sub` for operands, output and errors.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (5 - x).array
    array([4., 1.], dtype=float32)

    """
    if isinstance(rhs, _SCALARS):
        return SubFromConstant(rhs).apply((self,))[0]
    return Sub().apply((_operand(self, rhs), self))[0]


class Mul(_Binary):
    """Function node of ``x0 * x1``."""

    chainerx_routine = 'multiply'
    label = '_ * _'

    def compute(self, xp: Xp, x0: NdArray, x1: NdArray) -> NdArray:
        return x0 * x1

    def gradient(
        self, m: Namespace, i: int, x0: Operand, x1: Operand, y: Operand, gy: Operand
    ) -> Operand:
        return gy * (x0 if i else x1)


class MulConstant(_Constant):
    """Function node of ``x * value``."""

    text = '_ * %s'
    operator: Any = operator.mul

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * self.value


def mul(self: VariableLike, rhs: VariableLike | float) -> Variable:  # lhs * rhs
    """Elementwise product :math:`x_0 x_1`; also written ``x * y``.

    See :func:`sub` for operands, output and errors.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (x * np.array([2, 3])).array
    array([ 2., 12.], dtype=float32)

    """
    if isinstance(rhs, _SCALARS):
        return MulConstant(rhs).apply((self,))[0]
    return Mul().apply((self, _operand(self, rhs)))[0]


class Div(_Binary):
    """Function node of ``x0 / x1``."""

    chainerx_routine = 'divide'
    label = '_ / _'
    # Integers have a gradient here.
    _kernels = CHECKED_BY_CHAINERX

    def compute(self, xp: Xp, x0: NdArray, x1: NdArray) -> NdArray:
        return x0 / x1

    def gradient(
        self, m: Namespace, i: int, x0: Operand, x1: Operand, y: Operand, gy: Operand
    ) -> Operand:
        return -(gy * x0 / x1) / x1 if i else gy / x1


def div(self: VariableLike, rhs: VariableLike | float) -> Variable:  # lhs / rhs
    """Elementwise quotient :math:`x_0 / x_1` of floating point numbers; also written ``x / y``.

    See :func:`sub` for operands, output and errors.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (x / 2).array
    array([0.5, 2. ], dtype=float32)

    """
    if isinstance(rhs, _SCALARS):
        return MulConstant(1.0 / rhs).apply((self,))[0]
    return Div().apply((self, _operand(self, rhs)))[0]


class DivFromConstant(_Constant):
    """Function node of ``value / x``."""

    text = '%s / _'
    operator: Any = _reflected(operator.truediv)
    retains = 'xy'

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return -gy * y / x


def rdiv(self: VariableLike, rhs: VariableLike | float) -> Variable:  # rhs / lhs
    """Elementwise quotient with swapped operands: ``2 / x`` is ``rdiv(x, 2)``.

    See :func:`sub` for operands, output and errors.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (2 / x).array
    array([2. , 0.5], dtype=float32)

    """
    if isinstance(rhs, _SCALARS):
        return DivFromConstant(rhs).apply((self,))[0]
    return Div().apply((_operand(self, rhs), self))[0]


def floordiv(self: VariableLike, rhs: VariableLike | float) -> Variable:  # lhs // rhs
    """Elementwise floor of the quotient, without a gradient; also written ``x // y``.

    See :func:`sub` for operands, output and errors.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (x // 3).array
    array([0., 1.], dtype=float32)

    """
    return F.floor(div(self, rhs))


def rfloordiv(self: VariableLike, rhs: VariableLike | float) -> Variable:  # rhs // lhs
    """Floor of the quotient with swapped operands: ``9 // x`` is ``rfloordiv(x, 9)``.

    See :func:`sub` for operands, output and errors.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (9 // x).array
    array([9., 2.], dtype=float32)

    """
    return F.floor(rdiv(self, rhs))


class PowVarVar(_Binary):
    """Function node of ``x0 ** x1``."""

    retains = 'xy'
    chainerx_routine = 'power'
    label = '_ ** _'
    # ChainerX takes other integers, and has another gradient at a base of zero.
    _kernels = CHECKED_BY_CHAINERX

    def compute(self, xp: Xp, x0: NdArray, x1: NdArray) -> NdArray:
        return x0**x1

    def gradient(
        self, m: Namespace, i: int, x0: Operand, x1: Operand, y: Operand, gy: Operand
    ) -> Operand:
        if i:
            return m.log(x0) * y * gy
        return x1 * x0 ** (x1 - 1) * gy


class PowVarConst(_Constant):
    """Function node of ``x ** value``."""

    text = '_ ** %s'
    operator: Any = operator.pow
    retains = 'x'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        # NumPy squares faster with a Python number, which never widens a dtype here.
        value = self.value
        if x.ndim == 0 or not isinstance(value, (int, float)):
            return super().compute(xp, x)
        return in_dtype(x**value, x.dtype)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        value = self.value
        power = x if isinstance(value, _SCALARS) and value == 2 else x ** (value - 1)
        return gy * value * power


class PowConstVar(_Constant):
    """Function node of ``value ** x``."""

    text = '%s ** _'
    operator: Any = _reflected(operator.pow)
    retains = 'y'

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        if isinstance(self.value, _SCALARS):
            return gy * y * (math.log(self.value) if self.value > 0 else float('nan'))
        return gy * y * cuda.get_array_module(self.value).log(self.value)


def pow(self: VariableLike, rhs: VariableLike | float) -> Variable:  # lhs ** rhs
    """Elementwise power :math:`x_0^{x_1}`; also written ``x ** y``.

    See :func:`sub` for operands, output and errors.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (x ** 2).array
    array([ 1., 16.], dtype=float32)

    """
    if isinstance(rhs, _SCALARS):
        return PowVarConst(rhs).apply((self,))[0]
    return PowVarVar().apply((self, _operand(self, rhs)))[0]


def rpow(self: VariableLike, rhs: VariableLike | float) -> Variable:  # rhs ** lhs
    """Elementwise power with swapped operands: ``2 ** x`` is ``rpow(x, 2)``.

    See :func:`sub` for operands, output and errors.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (2 ** x).array
    array([ 2., 16.], dtype=float32)

    """
    if isinstance(rhs, _SCALARS):
        return PowConstVar(rhs).apply((self,))[0]
    return PowVarVar().apply((_operand(self, rhs), self))[0]


def matmul(self: VariableLike, rhs: VariableLike | float) -> Variable:  # lhs @ rhs
    """Matrix product; also written ``x @ y``.

    An array ``rhs`` takes the dtype of ``self``. See also :func:`chainer.functions.matmul`.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (x @ np.array([[1, 2], [3, 4]])).array
    array([13., 18.], dtype=float32)

    """
    return F.matmul(self, _operand(self, rhs))


def rmatmul(self: VariableLike, rhs: VariableLike | float) -> Variable:  # rhs @ lhs
    """Matrix product with swapped operands: ``a @ x`` is ``rmatmul(x, a)``; see :func:`matmul`.

    >>> x = chainer.Variable(np.array([1, 4], np.float32))
    >>> (np.array([[1, 2], [3, 4]]) @ x).array
    array([ 9., 19.], dtype=float32)

    """
    return F.matmul(_operand(self, rhs), self)


def install_variable_arithmetics() -> None:
    """Hands the functions of this module to the operators of :class:`~chainer.Variable`."""
    for function in (
        *(neg, absolute, add, sub, rsub, mul, div, rdiv),
        *(floordiv, rfloordiv, pow, rpow, matmul, rmatmul),
    ):
        setattr(operators, function.__name__, function)


install_variable_arithmetics()
