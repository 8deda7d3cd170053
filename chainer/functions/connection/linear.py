"""Linear (affine) function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.names.namespace import F
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.utils.array import _cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class LinearFunction(Operation):
    """y = x W^T + b of matrices."""

    _kernels = kernels(retain=(0, 1), rule_outputs=(), check=True)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check.expect_arguments((x_type, w_type), ('x', 'W'))
        type_check.expect(
            x_type.dtype.kind == 'f',
            w_type.dtype.kind == 'f',
            x_type.ndim == 2,
            w_type.ndim == 2,
            x_type.shape[1] == w_type.shape[1],
        )
        if n_in == 3:
            b_type = in_types[2]
            type_check.expect_arguments((b_type,), ('b',))
            type_check.expect(
                b_type.dtype == x_type.dtype,
                b_type.ndim == 1,
                b_type.shape[0] == w_type.shape[0],
            )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, W = inputs[:2]
        self.retain_inputs((0, 1))
        transposed: Any = W.T
        y = _cast(x.dot(transposed), x.dtype)
        if len(inputs) == 3:
            y += inputs[2]
        return (y,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        linear: Callable[..., chainerx.ndarray] = chainerx.linear
        y = linear(*inputs)
        dtype = inputs[0].dtype
        return ((y if y.dtype == dtype else y.astype(dtype)),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, W = xs
        (gy,) = gys
        gxs = []
        for i in targets:
            if i == 0:
                gxs.append(m.cast(m.matmul(gy, W), x.dtype))
            elif i == 1:
                gxs += m.apply(LinearGradWeight(W.dtype), (x, gy))
            else:
                gxs.append(m.sum(gy, axis=0))
        return gxs


class LinearGradWeight(Operation):
    """W^T = x^T y of matrices, as :class:`LinearFunction` needs it."""

    _kernels = kernels(retain=(0, 1), rule_outputs=())

    def __init__(self, dtype: numpy.dtype[Any]) -> None:
        self._dtype = dtype

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        transposed: Any = gy.T
        return (transposed.dot(x).astype(self._dtype, copy=False),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, gy = inputs
        return (gy.T.dot(x).astype(self._dtype, copy=False),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, gy = xs
        (gW,) = gys
        return [
            m.cast(m.matmul(gy, gW), x.dtype)
            if i == 0
            else m.cast(m.matmul(x, gW, transb=True), gy.dtype)
            for i in targets
        ]


def _check_batch_axes(n_batch_axes):
    if getattr(n_batch_axes, 'ndim', 0) > 0:  # labels, passed to a model without a loss
        raise ValueError(
            f'n_batch_axes must be an integer, but a {type(n_batch_axes).__name__} was given. '
            'L.Classifier(model) takes an input and labels, and returns the loss.'
        )
    if n_batch_axes <= 0:
        raise ValueError(f'n_batch_axes should be greater than 0, got {n_batch_axes}')


def linear(
    x: VariableLike, W: VariableLike, b: VariableLike | None = None, n_batch_axes: int = 1
) -> Variable:
    """Linear function, or affine function: :math:`Y = x W^\\top + b`.

    Args:
        x (:class:`~chainer.Variable` or array): Floating point input of shape
            :math:`(s_1, ..., s_n, ...)`. Keeps the first ``n_batch_axes`` axes and flattens
            the others to length :math:`N`.
        W (:class:`~chainer.Variable` or array): Floating point weight of shape
            :math:`(M, N)`.
        b (:class:`~chainer.Variable` or array): Bias of shape :math:`(M,)`, of the dtype of
            ``x`` (optional).
        n_batch_axes (int): Number of batch axes.

    Returns:
        ~chainer.Variable: Output of shape :math:`(s_1, ..., s_n, M)`, of the dtype of ``x``.

    Raises:
        ValueError: If ``n_batch_axes`` is less than one.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. seealso:: :class:`~chainer.links.Linear`

    .. admonition:: Example

        >>> x = np.array([[1, 2]], np.float32)
        >>> W = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
        >>> F.linear(x, W, np.array([0, 0, 10], np.float32)).array
        array([[ 1.,  2., 13.]], dtype=float32)
        >>> F.linear(np.ones((3, 4, 2), np.float32), W, n_batch_axes=2).shape
        (3, 4, 3)

    """
    if type(n_batch_axes) is not int or n_batch_axes <= 0:
        _check_batch_axes(n_batch_axes)
    if n_batch_axes > 1 or x.ndim > 2:
        # No -1 in the new shape: it is undefined for empty arrays.
        batch_shape = x.shape[:n_batch_axes]
        x = F.reshape(x, (math.prod(batch_shape), math.prod(x.shape[n_batch_axes:])))
    args = (x, W) if b is None else (x, W, b)
    (y,) = LinearFunction().apply(args)
    if n_batch_axes > 1:
        y = F.reshape(y, (*batch_shape, y.shape[1]))
    return y
