"""DeCov regularizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer import utils
from chainer.functions._arguments import check_reduce
from chainer.functions._arrays import sent_like
from chainer.functions._base import CallableFunction, kernels
from chainer.utils import type_check
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class DeCov(CallableFunction):
    """Function node of :func:`~chainer.functions.decov`."""

    _kernels = kernels(retain=(0,))

    def __init__(self, reduce: str = 'half_squared_sum') -> None:
        check_reduce(reduce, ('half_squared_sum', 'no'))
        self.reduce = reduce

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('h',))
        type_check.expect(in_types[0].dtype.kind == 'f', in_types[0].ndim == 2)

    @staticmethod
    def _off_diagonal(h):
        return sent_like(h, 1 - numpy.eye(h.shape[1], dtype=h.dtype))

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (h,) = inputs
        self.retain_inputs((0,))
        centered: Any = h - h.mean(axis=0, keepdims=True)
        covariance = centered.T.dot(centered) * self._off_diagonal(h)
        covariance = covariance / h.dtype.type(len(h))
        if self.reduce == 'half_squared_sum':
            covariance = (covariance * covariance).sum() * h.dtype.type(0.5)
        return (utils.force_array(covariance, h.dtype),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        (h,) = xs
        (gy,) = gys
        centered = h - m.mean(h, axis=0, keepdims=True)
        n = 1.0 / len(h)
        if self.reduce == 'half_squared_sum':
            gy = gy * n * m.matmul(centered, centered, transa=True)
        gy = gy * self._off_diagonal(as_array(h))
        return (m.matmul(centered, gy + m.transpose(gy)) * n,)


def decov(h: VariableLike, reduce: str = 'half_squared_sum') -> Variable:
    """DeCov regularizer: a penalty on covariances between hidden activations.

    .. math:: \\frac12 (\\|C\\|_F^2 - \\|\\mathrm{diag}(C)\\|_2^2), \\qquad
        C_{ij} = \\frac1N \\sum_n (h_{ni} - \\bar h_i)(h_{nj} - \\bar h_j)

    Args:
        h (:class:`~chainer.Variable` or array): Activations, floating point of shape
            :math:`(N, K)`.
        reduce (str): ``'half_squared_sum'``, or ``'no'`` for :math:`C` without its diagonal.

    Returns:
        ~chainer.Variable: Scalar, or matrix of shape :math:`(K, K)`, of the dtype of ``h``.

    Raises:
        ValueError: If ``reduce`` is invalid.
        ~chainer.utils.type_check.InvalidType: If ``h`` is not a floating point matrix.

    See: Cogswell et al., Reducing overfitting in deep networks by decorrelating
    representations, ICLR 2016.

    .. admonition:: Example

        >>> h = np.array([[0, 0, 1], [2, 4, 1]], np.float32)
        >>> F.decov(h, reduce='no').array
        array([[0., 2., 0.],
               [2., 0., 0.],
               [0., 0., 0.]], dtype=float32)
        >>> F.decov(h).array
        array(4., dtype=float32)

    """
    return DeCov(reduce).apply((h,))[0]
