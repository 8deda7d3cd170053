"""Max pooling, its gradient, and pooling of the same elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer import backend, configuration
from chainer._core.engines.kernels import CHECKED_BY_CHAINERX
from chainer._core.names.set_module import set_module
from chainer._core.reports.fallback import Fallback
from chainer.functions._base import Operation, call_chainerx
from chainer.functions.pooling.pooling_nd import _PoolingND

if TYPE_CHECKING:
    from collections.abc import Sequence

    import chainerx
    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray


@set_module('chainer.functions.pooling.max_pooling_nd')
class MaxPoolingND(_PoolingND):
    """Maxima of windows in ``ndim`` dimensions."""

    # Kept as small integers.
    _indexes = None
    # The positions of the maxima are an attribute, which kernels do not tell.
    _kernels = CHECKED_BY_CHAINERX

    @property
    def indexes(self) -> NdArray | None:
        """Positions of the maxima within their windows, numbered in row-major order."""
        if self._indexes is None:
            return None
        with backend.using_device(backend.get_device_from_array(self._indexes)):
            return self._indexes.astype(numpy.intp)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        windows = self._windows(x.shape[2:])
        if not (self.return_indices or configuration.config.enable_backprop):
            return (windows.max(x),)
        y, self._indexes = windows.argmax(x)
        return (y,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if self.return_indices:
            return Fallback('return_indices')
        return call_chainerx(
            'max_pool', inputs[0], self.ksize, self.stride, self.pad, self.cover_all
        )

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(MaxPoolingNDGrad(self), gys)


@set_module('chainer.functions.pooling.max_pooling_nd')
class MaxPoolingNDGrad(Operation):
    """Adds values to the elements that were the maxima of their windows."""

    def __init__(self, func: MaxPoolingND) -> None:
        self.func = func
        self._dims = func.inputs[0].shape[2:]

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        func = self.func
        return (func._windows(self._dims).scatter(inputs[0], func._indexes),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(MaxPoolingNDWithIndexes(self.func), gys)


@set_module('chainer.functions.pooling.max_pooling_nd')
class MaxPoolingNDWithIndexes(Operation):
    """Takes the elements at the maxima of another image.

    Args:
        func (MaxPoolingND): Function applied to the other image.

    """

    def __init__(self, func: MaxPoolingND) -> None:
        self.func = func

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        return (self.func._windows(x.shape[2:]).gather(x, self.func._indexes),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(MaxPoolingNDGrad(self.func), gys)
