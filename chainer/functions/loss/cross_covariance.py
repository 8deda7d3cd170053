"""Cross-covariance penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer import utils
from chainer.functions._arguments import check_reduce
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class CrossCovariance(Operation):
    """Function node of :func:`~chainer.functions.cross_covariance`."""

    _kernels = kernels(retain=(0, 1))

    def __init__(self, reduce: str = 'half_squared_sum') -> None:
        check_reduce(reduce, ('half_squared_sum', 'no'))
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('y', 'z'))
        y_type, z_type = in_types
        type_check.expect(
            y_type.dtype.kind == 'f',
            y_type.dtype == z_type.dtype,
            y_type.ndim == 2,
            z_type.ndim == 2,
            y_type.shape[0] == z_type.shape[0],
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0, 1))
        centered: list[Any] = [x - x.mean(axis=0, keepdims=True) for x in inputs]
        y, z = centered
        covariance = y.T.dot(z) / y.dtype.type(len(y))
        if self.reduce == 'half_squared_sum':
            covariance = (covariance * covariance).sum() * y.dtype.type(0.5)
        return (utils.force_array(covariance, y.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        y, z = [x - m.mean(x, axis=0, keepdims=True) for x in xs]
        (gc,) = gys
        n = 1.0 / len(y)
        if self.reduce == 'half_squared_sum':
            gc = gc * n * m.matmul(y, z, transa=True)
        rules = (lambda: m.matmul(z, gc, transb=True) * n, lambda: m.matmul(y, gc) * n)
        return [rules[i]() for i in targets]


def cross_covariance(
    y: VariableLike, z: VariableLike, reduce: str = 'half_squared_sum'
) -> Variable:
    """Penalty on the covariance between two groups of features.

    .. math:: \\frac12 \\sum_{ij} C_{ij}^2, \\qquad
        C_{ij} = \\frac1N \\sum_n (y_{ni} - \\bar y_i)(z_{nj} - \\bar z_j)

    Args:
        y (:class:`~chainer.Variable` or array): Features, floating point of shape
            :math:`(N, I)`.
        z (:class:`~chainer.Variable` or array): Features, of shape :math:`(N, J)` and of
            the same dtype.
        reduce (str): ``'half_squared_sum'``, or ``'no'`` for the matrix :math:`C`.

    Returns:
        ~chainer.Variable: Scalar, or matrix of shape :math:`(I, J)`, of the dtype of the inputs.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Cheung et al., Discovering hidden factors of variation in deep networks, 2014
    (arXiv:1412.6583).

    .. admonition:: Example

        >>> y = np.array([[0], [2]], np.float32)
        >>> z = np.array([[0, 1], [4, 1]], np.float32)
        >>> F.cross_covariance(y, z, reduce='no').array
        array([[2., 0.]], dtype=float32)
        >>> F.cross_covariance(y, z).array
        array(2., dtype=float32)

    """
    return CrossCovariance(reduce).apply((y, z))[0]
