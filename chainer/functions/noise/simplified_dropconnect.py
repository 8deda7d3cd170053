"""Simplified DropConnect."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer.functions._arrays import draw_like, sent_like
from chainer.functions._base import Operation
from chainer.utils import type_check
from chainer.utils.array import _cast
from chainer.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class SimplifiedDropconnect(Operation):
    """Linear function that sets random weights to zero.

    Args:
        ratio (float): Probability of dropping a weight.
        mask (array or None): Mask to use instead of a random one, without the scale.
        use_batchwise_mask (bool): Whether to use a separate mask for every sample.

    """

    mask: Any

    # The mask, which users read, is of the kind of the input.
    _kernels = NO_KERNELS

    def __init__(
        self, ratio: float, mask: VariableLike | None = None, use_batchwise_mask: bool = True
    ) -> None:
        self.ratio = ratio
        self.mask = mask
        self.use_batchwise_mask = use_batchwise_mask

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check.expect_arguments((x_type, w_type), ('x', 'W'))
        type_check.expect(
            x_type.dtype.kind == 'f',
            w_type.dtype.kind == 'f',
            x_type.ndim >= 2,
            w_type.ndim == 2,
            type_check.prod(x_type.shape[1:]) == w_type.shape[1],
        )
        if n_in == 3:
            self._check_bias(x_type, w_type, in_types[2])
        if self.mask is not None:
            self._check_mask(x_type, w_type)

    def _check_bias(self, x_type, w_type, b_type):
        type_check.expect_arguments((b_type,), ('b',))
        type_check.expect(
            b_type.dtype == x_type.dtype, b_type.ndim == 1, b_type.shape[0] == w_type.shape[0]
        )

    def _check_mask(self, x_type, w_type):
        shape = type_check.make_variable(self.mask.shape, 'mask.shape')
        if self.use_batchwise_mask:
            type_check.expect(shape[0] == x_type.shape[0], shape[1:] == w_type.shape)
        else:
            type_check.expect(shape == w_type.shape)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0, 1))
        x, W = inputs[:2]
        xp = backend.get_array_module(x)
        self.mask = self._make_mask(x, W)
        mask = sent_like(x, self.mask).astype(x.dtype, copy=False)
        self._scaled_mask = mask * x.dtype.type(1.0 / (1 - self.ratio))
        masked = W * self._scaled_mask
        flat = x.reshape(len(x), math.prod(x.shape[1:]))
        if self.use_batchwise_mask:
            y = xp.matmul(masked, flat[:, :, None])[:, :, 0]
        else:
            y = flat.dot(masked.T)
        y = _cast(y, x.dtype)
        return ((y + inputs[2] if len(inputs) == 3 else y),)

    # ChainerX differentiates the same computation.
    forward_chainerx: Any = forward

    def _make_mask(self, x, W):
        if self.mask is not None:
            return self.mask.array if isinstance(self.mask, Variable) else self.mask
        shape = (x.shape[0], *W.shape) if self.use_batchwise_mask else W.shape
        ratio = self.ratio
        return draw_like(x, lambda xp: xp.random.rand(*shape) >= ratio)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, W = xs
        (gy,) = gys
        rules = (
            lambda: self._input_gradient(m, x, W, gy),
            lambda: self._weight_gradient(m, x, W, gy),
            lambda: m.sum(gy, axis=0),
        )
        return [rules[i]() for i in targets]

    def _input_gradient(self, m, x, W, gy):
        if self.use_batchwise_mask:
            gy = m.expand_dims(gy, 1)
        gx = m.matmul(gy, W * self._scaled_mask)
        return m.cast(m.reshape(gx, x.shape), x.dtype)

    def _weight_gradient(self, m, x, W, gy):
        flat = m.reshape(x, (x.shape[0], math.prod(x.shape[1:])))
        if self.use_batchwise_mask:
            gw = m.sum(m.expand_dims(gy, 2) * m.expand_dims(flat, 1) * self._scaled_mask, axis=0)
        else:
            gw = m.matmul(gy, flat, transa=True) * self._scaled_mask
        return m.cast(gw, W.dtype)


def simplified_dropconnect(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    ratio: float = 0.5,
    train: bool = True,
    mask: VariableLike | None = None,
    use_batchwise_mask: bool = True,
) -> Variable:
    """Linear function that sets random weights to zero (DropConnect).

    It keeps weights with probability ``1 - ratio`` and divides them by it. Outside training, it
    uses the weights unchanged: it omits the paper's sampling from a Gaussian.

    .. math:: y = \\frac{(m \\circ W) x}{1 - r} + b, \\qquad m_{ij} \\sim \\mathrm{Bernoulli}(1 - r)

    Args:
        x (:class:`~chainer.Variable` or array): Input, floating point of shape
            :math:`(N, ...)` with :math:`K` elements in a sample.
        W (:class:`~chainer.Variable` or array): Weight, floating point of shape
            :math:`(M, K)`.
        b (:class:`~chainer.Variable` or array): Bias, of shape :math:`(M,)` and of the
            dtype of ``x`` (optional).
        ratio (float): Probability of dropping a weight, in :math:`[0, 1)`.
        train (bool): Whether to drop weights.
        mask (None, :class:`~chainer.Variable` or array): Boolean mask to use instead of a random
            one, of shape :math:`(N, M, K)` or :math:`(M, K)`.
        use_batchwise_mask (bool): Whether to use a separate mask for every sample.

    Returns:
        ~chainer.Variable: Output, of shape :math:`(N, M)` and of the dtype of ``x``.

    Raises:
        ZeroDivisionError: If ``ratio`` is one.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Wan et al., Regularization of neural networks using DropConnect, ICML 2013.

    .. seealso:: :class:`~chainer.links.SimplifiedDropconnect`

    .. admonition:: Example

        >>> x, W = np.array([[1, 2]], np.float32), np.array([[1, 1], [3, 0]], np.float32)
        >>> mask = np.array([[True, False], [True, True]])
        >>> F.simplified_dropconnect(x, W, mask=mask, use_batchwise_mask=False).array
        array([[2., 6.]], dtype=float32)
        >>> F.simplified_dropconnect(x, W, train=False).array
        array([[3., 3.]], dtype=float32)

    """
    if not train:
        ratio = 0.0
    func = SimplifiedDropconnect(ratio, mask, use_batchwise_mask)
    return func.apply((x, W) if b is None else (x, W, b))[0]
