"""Trigonometric functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.functions._base import BinaryFunction, UnaryFunction
from chainer.utils import type_check

if TYPE_CHECKING:
    from chainer._core.names.namespace import Namespace, Operand
    from chainer.types import NdArray, VariableLike, Xp
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Sin(UnaryFunction):
    """Function node of :func:`~chainer.functions.sin`."""

    chainerx_routine = 'sin'

    @property
    def label(self) -> str:
        return 'sin'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.sin(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return m.cos(x) * gy


def sin(x: VariableLike) -> Variable:
    """Elementwise sine of angles in radians.

    .. math:: y = \\sin x

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.sin(np.array([0, np.pi / 6, np.pi / 2], np.float32)).array.round(3)
        array([0. , 0.5, 1. ], dtype=float32)

    """
    return Sin().apply((x,))[0]


class Cos(UnaryFunction):
    """Function node of :func:`~chainer.functions.cos`."""

    chainerx_routine = 'cos'

    @property
    def label(self) -> str:
        return 'cos'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.cos(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return -m.sin(x) * gy


def cos(x: VariableLike) -> Variable:
    """Elementwise cosine of angles in radians.

    .. math:: y = \\cos x

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.cos(np.array([0, np.pi / 3, np.pi], np.float32)).array.round(3)
        array([ 1. ,  0.5, -1. ], dtype=float32)

    """
    return Cos().apply((x,))[0]


class Tan(UnaryFunction):
    """Function node of :func:`~chainer.functions.tan`."""

    chainerx_routine = 'tan'
    retains = 'y'

    @property
    def label(self) -> str:
        return 'tan'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.tan(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy * (y * y + 1)


def tan(x: VariableLike) -> Variable:
    """Elementwise tangent of angles in radians.

    .. math:: y = \\tan x

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.tan(np.array([0, np.pi / 4, np.pi / 3], np.float32)).array.round(3)
        array([0.   , 1.   , 1.732], dtype=float32)

    """
    return Tan().apply((x,))[0]


class Arcsin(UnaryFunction):
    """Function node of :func:`~chainer.functions.arcsin`."""

    chainerx_routine = 'arcsin'

    @property
    def label(self) -> str:
        return 'arcsin'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.arcsin(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / m.sqrt(1 - x * x)


def arcsin(x: VariableLike) -> Variable:
    """Elementwise inverse sine, in radians.

    .. math:: y = \\arcsin x \\in [-\\pi / 2, \\pi / 2]

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.arcsin(np.array([-1, 0, 0.5], np.float32)).array.round(3)
        array([-1.571,  0.   ,  0.524], dtype=float32)

    """
    return Arcsin().apply((x,))[0]


class Arccos(UnaryFunction):
    """Function node of :func:`~chainer.functions.arccos`."""

    chainerx_routine = 'arccos'

    @property
    def label(self) -> str:
        return 'arccos'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.arccos(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return -gy / m.sqrt(1 - x * x)


def arccos(x: VariableLike) -> Variable:
    """Elementwise inverse cosine, in radians.

    .. math:: y = \\arccos x \\in [0, \\pi]

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.arccos(np.array([-1, 0, 1], np.float32)).array.round(3)
        array([3.142, 1.571, 0.   ], dtype=float32)

    """
    return Arccos().apply((x,))[0]


class Arctan(UnaryFunction):
    """Function node of :func:`~chainer.functions.arctan`."""

    chainerx_routine = 'arctan'

    @property
    def label(self) -> str:
        return 'arctan'

    def compute(self, xp: Xp, x: NdArray) -> NdArray:
        return xp.arctan(x)

    def gradient(self, m: Namespace, x: Operand, y: Operand, gy: Operand) -> Operand:
        return gy / (x * x + 1)


def arctan(x: VariableLike) -> Variable:
    """Elementwise inverse tangent, in radians.

    .. math:: y = \\arctan x \\in [-\\pi / 2, \\pi / 2]

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``x`` is not floating point.

    .. admonition:: Example

        >>> F.arctan(np.array([-1, 0, np.inf], np.float32)).array.round(3)
        array([-0.785,  0.   ,  1.571], dtype=float32)

    """
    return Arctan().apply((x,))[0]


class Arctan2(BinaryFunction):
    """Function node of :func:`~chainer.functions.arctan2`."""

    chainerx_routine = 'arctan2'
    arguments: tuple[str, ...] = ('x1', 'x2')

    @property
    def label(self) -> str:
        return 'arctan2'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, self.arguments)
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[1].dtype.kind == 'f')
        type_check.expect_broadcast_shapes(in_types[0].shape, in_types[1].shape)

    def compute(self, xp: Xp, x0: NdArray, x1: NdArray) -> NdArray:
        return xp.arctan2(x0, x1)

    def gradient(
        self, m: Namespace, i: int, x0: Operand, x1: Operand, y: Operand, gy: Operand
    ) -> Operand:
        dtype = (x0, x1)[i].dtype
        x0, x1 = m.cast(x0, gy.dtype), m.cast(x1, gy.dtype)
        square = x0 * x0 + x1 * x1
        return m.cast(-x0 / square * gy if i else x1 / square * gy, dtype)


def arctan2(x1: VariableLike, x2: VariableLike) -> Variable:
    """Elementwise angle of the point :math:`(x_2, x_1)`; both signs determine the quadrant.

    Args:
        x1 (:class:`~chainer.Variable` or array): Ordinates, floating point.
        x2 (:class:`~chainer.Variable` or array): Abscissas, of the same dtype.

    Returns:
        ~chainer.Variable: Angles in radians, in :math:`[-\\pi, \\pi]`, of the dtype of the
        inputs and the broadcast shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If dtypes differ or are not floating point, or
            shapes cannot be broadcast.

    .. admonition:: Example

        >>> x1, x2 = np.array([1, 1, -1], np.float32), np.array([1, -1, -1], np.float32)
        >>> F.arctan2(x1, x2).array.round(3)
        array([ 0.785,  2.356, -2.356], dtype=float32)

    """
    return Arctan2().apply((x1, x2))[0]
