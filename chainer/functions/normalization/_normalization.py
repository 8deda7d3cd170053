"""Base of normalization with statistics of the batch, and with given ones."""

from __future__ import annotations

import collections.abc
import numbers
from typing import TYPE_CHECKING

from chainer.functions._base import Operation
from chainer.functions.normalization import _moments
from chainer.utils import type_check
from chainer.utils.array import _cast

if TYPE_CHECKING:
    from chainer.types import Axis
    from chainer.utils.type_check import TypeInfoTuple


def flat(a):
    return a if a.ndim == 1 else a.reshape(-1)


def _parse_axis(axis):
    if axis is None:
        return None
    if isinstance(axis, numbers.Integral):
        return (int(axis),)
    if not (
        isinstance(axis, collections.abc.Sequence)
        and all([isinstance(a, numbers.Integral) for a in axis])
    ):
        raise TypeError(f'axis must be int, tuple of int or None, not {axis!r}')
    if any(a >= b for a, b in zip(axis, axis[1:])):
        raise RuntimeError(f'numbers in axis must be sorted in ascending order: {axis}')
    return tuple([int(a) for a in axis])


class Normalization(Operation):
    """Base of the functions below: axes, type checks and the affine map."""

    statistics: tuple[str, ...] = ()
    axis: tuple[int, ...] | None

    def __init__(self, eps: float = 2e-5, axis: Axis = None) -> None:
        self.eps = eps
        self.axis = _parse_axis(axis)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 3 + len(self.statistics))
        x_type, gamma_type = in_types[:2]
        type_check.expect_arguments(in_types, ('x', 'gamma', 'beta', *self.statistics))
        type_check.expect(
            x_type.dtype.kind == 'f',
            gamma_type.dtype.kind == 'f',
            x_type.ndim >= gamma_type.ndim + 1,
        )
        for t in in_types[2:]:
            type_check.expect(t.dtype.kind == 'f', t.shape == gamma_type.shape)
        type_check.expect(gamma_type.dtype == in_types[2].dtype)
        gamma_ndim = type_check.eval(gamma_type.ndim)
        if self.axis is None:
            type_check.expect(x_type.shape[1 : 1 + gamma_ndim] == gamma_type.shape)
            return
        key_axis = [i for i in range(type_check.eval(x_type.ndim)) if i not in self.axis]
        type_check.expect(gamma_type.ndim == len(key_axis))
        for i, a in enumerate(key_axis):
            type_check.expect(x_type.shape[a] == gamma_type.shape[i])

    def _axes(self, x_ndim: int, gamma_ndim: int) -> tuple[int, ...]:
        """Axes of the statistics."""
        return self.axis or (0, *range(gamma_ndim + 1, x_ndim))

    @property
    def key_axis(self) -> tuple[int, ...] | None:
        """Axes of the channels, which exporters read; ``None`` without a graph."""
        if self.inputs is None:
            return None
        x_ndim, gamma_ndim = [len(node.shape) for node in self.inputs[:2]]
        axes = self._axes(x_ndim, gamma_ndim)
        return tuple([a for a in range(x_ndim) if a not in axes])

    def _layout_of(self, x, gamma):
        return _moments.layout(x.shape, self._axes(x.ndim, gamma.ndim))

    def _normalize(self, xp, x, mean, scale, shift, out_dtype):
        """(x - mean) * scale + shift."""
        mean, scale, shift = mean[:, None], scale[:, None], shift[:, None]
        y = xp.empty(x.shape, out_dtype)
        buffer = None if out_dtype == scale.dtype else _moments.scratch(xp, x, scale.dtype)
        for block in _moments.blocks(x):
            part = x[block]
            t = y[block] if buffer is None else buffer[: len(part)]
            xp.subtract(part, mean, out=t)
            t *= scale
            t += shift
            if buffer is not None:
                y[block] = _cast(t, out_dtype)
        return y

    def _sums(self, m, centered, gy):
        """Sums over channels of gy, and of gy times the centered input."""
        return m.sum(gy, axis=(0, 2)), _moments.channel_dot(m, centered, gy)

    def _fitted(self, m, gxs, targets):
        """Gradients of ``targets``, in the shapes and dtypes of the inputs."""
        inputs = self.inputs
        return [m.cast(gxs[i], inputs[i].dtype).reshape(inputs[i].shape) for i in targets]
