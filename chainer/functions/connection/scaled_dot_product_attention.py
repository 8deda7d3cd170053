"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import chainerx
from chainer import backend
from chainer._core.engines.kernels import serve_cupy
from chainer._core.names.namespace import F
from chainer._core.settings.half import FLOAT_KINDS
from chainer.backends import cuda
from chainer.configuration import config
from chainer.functions._base import Operation, kernels
from chainer.utils import type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class _Fused(Operation):
    """ChainerX's routine: attention without dropout, which does not keep the scores."""

    _kernels = kernels(retain=(0, 1, 2), check=True)

    def __init__(self, scale: float, is_causal: bool) -> None:
        self.scale = scale
        self.is_causal = is_causal

    @property
    def label(self) -> str:
        return 'scaled_dot_product_attention'

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types[:3], ('q', 'k', 'v'))
        q_type, k_type, v_type = in_types[:3]
        type_check.expect(
            q_type.dtype.kind == 'f',
            k_type.dtype.kind == 'f',
            v_type.dtype.kind == 'f',
            q_type.ndim >= 2,
            k_type.ndim >= 2,
            v_type.ndim >= 2,
            k_type.shape[-1] == q_type.shape[-1],
            v_type.shape[-2] == k_type.shape[-2],
        )

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        q, k, v, *mask = inputs
        return (
            chainerx.scaled_dot_product_attention(
                q, k, v, mask[0] if mask else None, self.scale, self.is_causal
            ),
        )


def scaled_dot_product_attention(
    q: VariableLike,
    k: VariableLike,
    v: VariableLike,
    mask: VariableLike | None = None,
    dropout_ratio: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Variable:
    """Scaled dot-product attention.

    .. math:: y = \\mathrm{dropout}(\\mathrm{softmax}(s\\, q k^\\top + m))\\, v

    Axes before the last two are batches and heads. A query that cannot attend to any key has a
    zero output.

    Args:
        q (:class:`~chainer.Variable` or array): Queries, floating point of shape
            :math:`(..., L, E)`.
        k (:class:`~chainer.Variable` or array): Keys, of shape :math:`(..., S, E)` and of
            the dtype of ``q``.
        v (:class:`~chainer.Variable` or array): Values, of shape :math:`(..., S, D)` and
            of the dtype of ``q``.
        mask (None, :class:`~chainer.Variable` or array): Mask whose shape can be broadcast to
            :math:`(..., L, S)`: booleans that select the keys that a query attends to, or
            floating point numbers to add to the scores.
        dropout_ratio (float): Ratio of dropout of the attention weights, in training.
        is_causal (bool): Whether a query attends only to keys at the same and earlier positions.
        scale (float): Factor :math:`s` of the scores (default: :math:`1 / \\sqrt E`).

    Returns:
        ~chainer.Variable: Output, of shape :math:`(..., L, D)` and of the dtype of ``q``.

    Raises:
        ValueError: If both ``mask`` and ``is_causal`` are given.
        TypeError: If ``mask`` is neither boolean nor floating point.
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    See: Vaswani et al., Attention is all you need, NeurIPS 2017.

    .. admonition:: Example

        >>> q = k = np.zeros((2, 1), np.float32)
        >>> v = np.array([[1], [3]], np.float32)
        >>> chainer.functions.scaled_dot_product_attention(q, k, v, is_causal=True).array
        array([[1.],
               [2.]], dtype=float32)

    """
    q = as_variable(q)
    if mask is not None:
        mask = _check_mask(mask, is_causal)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    if not (dropout_ratio and config.train):
        inputs = (q, k, v) if mask is None else (q, k, v, mask)
        is_of_chainerx = isinstance(q.array, chainerx.ndarray)
        if is_of_chainerx or serve_cupy([as_variable(x).array for x in inputs]):
            return _Fused(scale, is_causal).apply(inputs)[0]
    with cuda.get_device_from_array(q):
        return _attend(q * scale, k, v, mask, is_causal, dropout_ratio)


def _attend(q, k, v, mask, is_causal, dropout_ratio):
    score = F.matmul(q, k, transb=True)
    device = backend.get_device_from_array(q.array)
    if is_causal:
        positions = [device.xp.arange(n) for n in score.shape[-2:]]
        mask = as_variable(positions[0][:, None] >= positions[1])
    allowed = None
    if mask is not None:
        score, allowed = _mask_score(device.xp, score, mask)
    weight = F.softmax(score, axis=-1)
    if allowed is not None and not is_causal:
        weight = F.where(allowed, weight, device.xp.zeros_like(weight.array))
    if dropout_ratio:
        weight = F.dropout(weight, dropout_ratio)
    return F.matmul(weight, v)


def _largest(dtype):
    return {'e': 6e4, 'E': 1e38, 'f': 1e38, 'd': 1e300}[dtype.char]


def _check_mask(mask, is_causal):
    if is_causal:
        raise ValueError('mask cannot be combined with is_causal')
    mask = as_variable(mask)
    if mask.dtype.kind not in 'b' + FLOAT_KINDS:
        raise TypeError(f'mask must be of dtype bool or floating point, not {mask.dtype}')
    return mask


def _mask_score(xp, score, mask):
    """Returns the masked score, and where a boolean mask allows to attend."""
    if mask.dtype.kind in FLOAT_KINDS:
        return score + F.cast(mask, score.dtype), None
    allowed = F.broadcast_to(mask, score.shape).array
    # Finite, so that a row without any key has no NaN.
    lowest = xp.full_like(score.array, -_largest(score.dtype))
    return F.where(allowed, score, lowest), allowed
