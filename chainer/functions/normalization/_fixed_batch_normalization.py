"""Batch normalization with given statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.names.set_module import set_module
from chainer.backends import cuda
from chainer.functions._base import kernels
from chainer.functions.normalization import _moments
from chainer.functions.normalization._normalization import Normalization, flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import Axis, NdArray, VariableLike
    from chainer.variable import Variable


@set_module('chainer.functions.normalization.batch_normalization')
class FixedBatchNormalization(Normalization):
    """Normalization with given statistics."""

    statistics: tuple[str, ...] = ('mean', 'var')
    _kernels = kernels(retain=(0, 1, 3, 4), check=True)

    @property
    def inv_var(self) -> Any:
        """Inverse of the variance; ``None`` without a graph."""
        retained: Any = (None,) * 4 if self.inputs is None else self._retained_arrays()[0]
        x, gamma, _, var = retained
        if x is None:
            return None
        dtype = _moments.compute_dtype(x, gamma)
        return 1 / (var.astype(dtype, copy=False) + dtype.type(self.eps))

    @property
    def inv_std(self) -> Any:
        """Inverse of the standard deviation; ``None`` without a graph."""
        inv_var = self.inv_var
        return None if inv_var is None else inv_var**0.5

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        x, gamma, beta, mean, var = inputs
        axes = self._axes(x.ndim, gamma.ndim)
        return (chainerx.fixed_batch_norm(x, gamma, beta, mean, var, self.eps, axes),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        self.retain_inputs((0, 1, 3, 4))
        x, gamma, beta, mean, var = inputs
        xp = cuda.get_array_module(x)
        layout = self._layout_of(x, gamma)
        dtype = _moments.compute_dtype(x, gamma)
        inv_std = 1 / xp.sqrt(var.astype(dtype, copy=False) + dtype.type(self.eps))
        y = self._normalize(
            xp,
            layout.view(x),
            flat(mean).astype(dtype, copy=False),
            flat(gamma * inv_std),
            flat(beta),
            x.dtype,
        )
        return (layout.restore(y),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        layout = self._layout_of(*xs[:2])
        dtype = _moments.compute_dtype(*xs[:2])
        x, gamma, mean, var = [m.cast(a, dtype) for a in xs]
        gamma, mean, var = flat(gamma), flat(mean), flat(var)
        inv_std = 1 / m.sqrt(var + dtype.type(self.eps))
        scale = inv_std * gamma
        gy = layout.view(m.cast(gys[0], dtype))
        gxs = [None] * 5
        if 0 in targets:
            gxs[0] = layout.restore(gy * scale[:, None])
        if targets != (0,):
            gbeta, product = self._sums(m, layout.view(x) - mean[:, None], gy)
            ggamma = product * inv_std
            gvar = ggamma * scale * inv_std * dtype.type(-0.5)
            gxs[1:] = ggamma, gbeta, -scale * gbeta, gvar
        return self._fitted(m, gxs, targets)


@set_module('chainer.functions.normalization.batch_normalization')
def fixed_batch_normalization(
    x: VariableLike,
    gamma: VariableLike,
    beta: VariableLike,
    mean: VariableLike,
    var: VariableLike,
    eps: float = 2e-5,
    axis: Axis = None,
) -> Variable:
    """Batch normalization with given statistics.

    .. math:: y = \\gamma_c \\frac{x - \\mu_c}{\\sqrt{\\sigma_c^2 + \\epsilon}} + \\beta_c

    It is :func:`~chainer.functions.batch_normalization` for evaluation: mean and variance are
    inputs with gradients.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype.
        gamma (:class:`~chainer.Variable` or array): Scale, floating point with one element
            for each channel.
        beta (:class:`~chainer.Variable` or array): Shift, of the shape and dtype of
            ``gamma``.
        mean (:class:`~chainer.Variable` or array): Mean, of the shape of ``gamma``.
        var (:class:`~chainer.Variable` or array): Variance, of the shape of ``gamma``.
        eps (float): Added to the variance.
        axis (None, int or tuple of int): Axes other than the channels, in ascending order.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        RuntimeError: If ``axis`` is invalid or not sorted.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x = np.array([[1, 10], [3, 30]], np.float32)
        >>> gamma, beta = np.ones(2, np.float32), np.zeros(2, np.float32)
        >>> mean, var = np.array([1, 0], np.float32), np.array([4, 100], np.float32)
        >>> F.fixed_batch_normalization(x, gamma, beta, mean, var, eps=0).array
        array([[0., 1.],
               [1., 3.]], dtype=float32)

    """
    return FixedBatchNormalization(eps, axis).apply((x, gamma, beta, mean, var))[0]
