"""Polygamma functions."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._arrays import in_dtype, sent_like, special
from chainer.functions._base import Operation
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class PolyGamma(Operation):
    """Derivative of the digamma function of the order given by the first input."""

    # The series of ChainerX has no value at infinity.
    _kernels = NO_KERNELS

    @property
    def label(self) -> str:
        return 'polygamma'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('n', 'x'))
        n_type, x_type = in_types
        type_check.expect(n_type.dtype.kind == 'i', x_type.dtype.kind == 'f')
        type_check.expect_broadcast_shapes(n_type.shape, x_type.shape)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        n, x = inputs
        self.retain_inputs((0, 1))
        return (in_dtype(special(backend.get_array_module(x)).polygamma(n, x), x.dtype),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        n, x = inputs
        order = n.astype(x.dtype)
        # The series does not converge for n = 0.
        is_zero = n == 0
        factor = chainerx.exp(chainerx.lgamma(order + 1)) * (order % 2 * 2 - 1)
        series = factor * chainerx.zeta(chainerx.where(is_zero, 2, order + 1), x)
        return (chainerx.where(is_zero, chainerx.digamma(x), series),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        n, x = xs
        gx = m.sum_to(m.polygamma(as_array(n) + 1, x) * gys[0], x.shape)
        return [gx if i else None for i in targets]


def polygamma(n: VariableLike | int, x: VariableLike) -> Variable:
    """Elementwise polygamma function: the ``n``-th derivative of digamma.

    There is no gradient with respect to ``n``.

    .. math:: \\psi^{(n)}(x) = \\frac{d^{n+1}}{dx^{n+1}} \\log \\Gamma(x)

    Args:
        n (:class:`~chainer.Variable`, array or int): Orders, non-negative integers.
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.

    Returns:
        ~chainer.Variable: Output of the dtype of ``x`` and the broadcast shape.

    Raises:
        ~chainer.utils.type_check.InvalidType: If ``n`` is not an integer array, ``x`` is not
            floating point or shapes cannot be broadcast.
        ImportError: If SciPy is missing, on the CPU.

    .. admonition:: Example

        >>> F.polygamma(1, np.array([1, 2], np.float32)).array.round(3)
        array([1.645, 0.645], dtype=float32)

    """
    if numpy.isscalar(n):
        dtype = 'i' if isinstance(n, numbers.Integral) else None
        n = sent_like(as_array(x), numpy.full(x.shape, n, dtype))
    order: Any = n
    return PolyGamma().apply((order, x))[0]
