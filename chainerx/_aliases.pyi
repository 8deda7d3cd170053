# Written by chainerx_cc/tools/make_stubs.py from the compiled core; not to be edited.
# ruff: noqa
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, SupportsFloat, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike

_Number = SupportsFloat | complex
_Operand = ndarray | _Number
_Ints = int | Sequence[int]
_DeviceLike = Device | str | None

from chainerx._core import Device, ndarray

def abs(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise absolute value :math:`|x|`; also the function ``abs``. It is real for
    complex numbers, too."""

def around(a: ndarray, decimals: int = 0) -> ndarray:
    r"""Elements rounded to a number of decimals, :math:`10^{-d} \operatorname{rint}(10^d a)`; halves go to the even one."""

def max(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Largest element over axes; not-a-number wins. Also called ``max``."""

def min(a: ndarray, axis: _Ints | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray:
    """Smallest element over axes; not-a-number wins. Also called ``min``."""

def mod(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise remainder :math:`x_1 - \lfloor x_1 / x_2 \rfloor x_2`, with the
    sign of the divisor; also the operator ``%``."""

def true_divide(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise quotient :math:`x_1 / x_2`, always in floating point; also the
    operator ``/``."""

def acos(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse cosine, in radians, for :math:`-1 \le x \le 1`."""

def acosh(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse hyperbolic cosine, for :math:`x \ge 1`."""

def asin(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse sine, in radians, for :math:`-1 \le x \le 1`."""

def asinh(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise inverse hyperbolic sine."""

def atan(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise inverse tangent, in radians."""

def atan2(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise angle of the point :math:`(x_2, x_1)`, in radians between
    :math:`-\pi` and :math:`\pi`."""

def atanh(x: _Operand, out: ndarray | None = None) -> ndarray:
    r"""Elementwise inverse hyperbolic tangent, for :math:`-1 \le x \le 1`."""

def bitwise_invert(x: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise bitwise negation, logical negation of booleans; also the operator ``~``."""

def bitwise_left_shift(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise shift of the bits of ``x1`` to the left by ``x2``; also the
    operator ``<<``."""

def bitwise_right_shift(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise shift of the bits of ``x1`` to the right by ``x2``, keeping
    the sign; also the operator ``>>``."""

def concat(arrays: Sequence[ndarray], axis: int | None = 0) -> ndarray:
    """Arrays joined along an axis."""

def permute_dims(a: ndarray, axes: _Ints | None = None) -> ndarray:
    """The axes in another order, as a view."""

def pow(x1: _Operand, x2: _Operand, out: ndarray | None = None) -> ndarray:
    """Elementwise power :math:`x_1^{x_2}`; also the operator ``**``. As in NumPy,
    integers to negative integers are a ``ValueError``: one of both must be of a floating point dtype."""
