"""Copies between devices."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.engines.kernels import NO_KERNELS
from chainer.backend import get_device
from chainer.backends import cuda
from chainer.configuration import config
from chainer.functions._base import Operation
from chainer.utils import type_check
from chainer.variable import as_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import DeviceSpec, NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class Copy(Operation):
    """Copies an array to another device."""

    # Kernels know nothing of NumPy's device.
    _kernels = NO_KERNELS

    def __init__(self, in_device: Any, out_device: Any) -> None:
        self._in_device = in_device
        self.out_device = out_device

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('x',))

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        return (inputs[0].to_device(self.out_device.device),)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        (x,) = inputs
        y = self.out_device.send(x)
        return ((y.copy() if y is x else y),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        return m.apply(Copy(self.out_device, self._in_device), gys)


def _device(dst):
    """Device of a specifier, or of a CUDA device number (negative: the CPU)."""
    if not isinstance(dst, numbers.Integral):
        return get_device(dst)
    if dst < 0:
        return get_device('@numpy')
    cuda.check_cuda_available()
    return get_device((cuda.cupy, int(dst)))


def copy(x: VariableLike, dst: DeviceSpec) -> Variable:
    """Copies an array to another device; its gradient is copied back.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        dst (device specifier or int): Device, or number of a CUDA device (-1: the CPU).

    Returns:
        ~chainer.Variable: Copy of the shape and dtype of ``x`` on the device ``dst``.

    Raises:
        RuntimeError: If gradients would pass between ChainerX and another backend.

    .. admonition:: Example

        >>> x = chainer.Variable(np.ones(2, np.float32))
        >>> F.copy(x, '@numpy').array
        array([1., 1.], dtype=float32)

    """
    x = as_variable(x)
    in_device = x.device
    # An array of a native device is on the CPU.
    out_device = in_device if dst == -1 and _is_native(in_device) else _device(dst)
    on_chainerx = [device.xp is chainerx for device in (in_device, out_device)]
    if on_chainerx[0] != on_chainerx[1]:
        # Each side keeps its own graph.
        if x.requires_grad and config.enable_backprop:
            raise RuntimeError(
                f'F.copy cannot pass gradients between {out_device} and {in_device}: '
                'only one of them is a ChainerX device'
            )
        return as_variable(out_device.send(x.array))
    return Copy(in_device, out_device).apply((x,))[0]


def _is_native(device):
    return isinstance(device, backend.ChainerxDevice) and device.fallback_device.xp is numpy
