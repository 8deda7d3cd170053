"""Copies between devices."""

from __future__ import annotations

import numpy

import chainer
import chainerx
from chainer import backend
from chainer.backends import cuda
from chainer.function_node import FunctionNode
from chainer.utils import type_check


class Copy(FunctionNode):
    """Copies an array to another device."""

    def __init__(self, in_device, out_device):
        self._in_device = in_device
        self.out_device = out_device

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('x',))

    def forward_chainerx(self, inputs):
        return (inputs[0].to_device(self.out_device.device),)

    def forward(self, inputs):
        (x,) = inputs
        y = self.out_device.send(x)
        return ((y.copy() if y is x else y),)

    def backward(self, target_input_indexes, grad_outputs):
        return Copy(self.out_device, self._in_device).apply(grad_outputs)


def _device(dst):
    """Device of a specifier, or of a CUDA device number (negative: the CPU)."""
    if isinstance(dst, int):
        return chainer.get_device('@numpy' if dst < 0 else (cuda.cupy, dst))
    return chainer.get_device(dst)


def copy(x, dst):
    """Copies an array to another device; its gradient is copied back.

    Args:
        x (:class:`~chainer.Variable` or array): Input of any dtype.
        dst (device specifier or int): Device, or number of a CUDA device (-1: the CPU).

    Returns:
        ~chainer.Variable: Copy on the device ``dst``.

    Raises:
        RuntimeError: If gradients would pass between ChainerX and another backend.

    .. admonition:: Example

        >>> x = chainer.Variable(np.ones(2, np.float32))
        >>> F.copy(x, '@numpy').array
        array([1., 1.], dtype=float32)

    """
    x = chainer.as_variable(x)
    in_device = x.device
    if (
        dst == -1
        and isinstance(in_device, backend.ChainerxDevice)
        and in_device.fallback_device.xp is numpy
    ):
        out_device = in_device  # an array of a native device is on the CPU
    else:
        out_device = _device(dst)
    on_chainerx = [device.xp is chainerx for device in (in_device, out_device)]
    if on_chainerx[0] != on_chainerx[1]:
        # Each side keeps its own graph.
        if x.requires_grad and chainer.config.enable_backprop:
            raise RuntimeError(
                f'F.copy cannot pass gradients between {out_device} and {in_device}: '
                'only one of them is a ChainerX device'
            )
        return chainer.as_variable(out_device.send(x.array))
    return Copy(in_device, out_device).apply((x,))[0]
