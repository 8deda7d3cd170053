"""Functions behind convolution and deconvolution in any number of dimensions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import chainerx
from chainer._core.reports.fallback import Fallback
from chainer.functions._base import Operation, kernels
from chainer.functions.connection._convolution_base import ConvolutionBase
from chainer.utils import conv, type_check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.function_node import FunctionNode
    from chainer.types import NdArray
    from chainer.utils.type_check import TypeInfoTuple


def _expect_bias(b_type, n_channels):
    type_check.expect_arguments((b_type,), ('b',))
    type_check.expect(b_type.dtype.kind == 'f', b_type.ndim == 1, b_type.shape[0] == n_channels)


class Convolution(ConvolutionBase):
    """Base of convolution functions.

    Attributes:
        cover_all (bool): Whether the patches cover all pixels of the input.

    """

    cover_all = False
    _kernels = kernels(retain=(0, 1), check=True)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check.expect_arguments((x_type, w_type), ('x', 'W'))
        type_check.expect(
            x_type.dtype.kind == 'f',
            w_type.dtype.kind == 'f',
            x_type.ndim == self.ndim + 2,
            w_type.ndim == self.ndim + 2,
            x_type.shape[1] == w_type.shape[1] * self.groups,
        )
        if n_in == 3:
            _expect_bias(in_types[2], w_type.shape[0])

    def _plan(self, x, W):
        outs = self.outs
        if outs is None:
            outs = tuple(
                [
                    conv.get_conv_outsize(size, k, s, p, self.cover_all, d)
                    for size, k, s, p, d in zip(
                        x.shape[2:], W.shape[2:], self.stride, self.pad, self.dilate
                    )
                ]
            )
        self._check_outs(outs)
        return self._plan_of(x.shape, W.shape, outs, x)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, W = inputs[:2]
        _check_groups(self.groups, x.shape[1], W.shape[0])
        self.retain_inputs((0, 1))
        return (self._plan(x, W).convolve(*inputs),)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if not self._chainerx_supports(inputs):
            return Fallback('mixed dtypes')
        if self.outs is not None:
            return Fallback('given output size')
        conv: Callable[..., chainerx.ndarray] = chainerx.conv
        return (
            conv(
                *inputs,
                stride=self.stride,
                pad=self.pad,
                cover_all=self.cover_all,
                groups=self.groups,
                dilate=self.dilate,
            ),
        )

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, W = xs
        (gy,) = gys
        return [
            m.apply(self.transposed(x.shape[2:]), (gy, W))[0]
            if i == 0
            else m.apply(_GradW(self, W, gy.shape[2:]), (x, gy))[0]
            if i == 1
            else m.cast(_sum_channels(m, gy), self.inputs[2].dtype)
            for i in targets
        ]


class Deconvolution(ConvolutionBase):
    """Base of deconvolution functions."""

    _kernels = kernels(retain=(0, 1), check=True)

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        type_check.expect(2 <= n_in, n_in <= 3)
        x_type, w_type = in_types[:2]
        type_check.expect_arguments((x_type, w_type), ('x', 'W'))
        type_check.expect(
            x_type.dtype.kind == 'f',
            w_type.dtype.kind == 'f',
            x_type.ndim == self.ndim + 2,
            w_type.ndim == self.ndim + 2,
            x_type.shape[1] == w_type.shape[0],
        )
        for i, out in enumerate(self.outs or ()):
            if out is None:
                continue
            geometry = out, w_type.shape[i + 2], self.stride[i], self.pad[i]
            least = conv.get_conv_outsize(*geometry, d=self.dilate[i])
            most = conv.get_conv_outsize(*geometry, cover_all=True, d=self.dilate[i])
            type_check.expect(least <= x_type.shape[i + 2], x_type.shape[i + 2] <= most)
        if n_in == 3:
            _expect_bias(in_types[2], w_type.shape[1] * self.groups)

    def _find_outs(self, x, W):
        outs = self.outs or (None,) * self.ndim
        self.outs = tuple(
            [
                conv.get_deconv_outsize(size, k, s, p, d=d) if out is None else out
                for out, size, k, s, p, d in zip(
                    outs, x.shape[2:], W.shape[2:], self.stride, self.pad, self.dilate
                )
            ]
        )
        self._check_outs(self.outs)
        return self.outs

    def _plan(self, x, W):
        outs = self._find_outs(x, W)
        return self._plan_of((x.shape[0], W.shape[1] * self.groups, *outs), W.shape, x.shape[2:], x)

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, W = inputs[:2]
        if min(self.stride, default=1) < 1:
            raise ValueError(f'stride must be positive, got {self.stride}')
        if x.shape[1] % self.groups:
            raise ValueError(_groups_message(self.groups, 'input', x.shape[1]))
        self.retain_inputs((0, 1))
        y = self._plan(x, W).transpose(x, W)
        if len(inputs) == 3:
            y += inputs[2].reshape(-1, *[1] * self.ndim)
        return (y,)

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[chainerx.ndarray, ...] | FallbackType:
        if not self._chainerx_supports(inputs):
            return Fallback('mixed dtypes')
        self._find_outs(*inputs[:2])
        conv_transpose: Callable[..., chainerx.ndarray] = chainerx.conv_transpose
        return (
            conv_transpose(
                *inputs,
                stride=self.stride,
                pad=self.pad,
                outsize=self.outs,
                groups=self.groups,
                dilate=self.dilate,
            ),
        )

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, W = xs
        (gy,) = gys
        return [
            m.apply(self.transposed(x.shape[2:]), (gy, W))[0]
            if i == 0
            else m.apply(_GradW(self, W, x.shape[2:]), (gy, x))[0]
            if i == 1
            else m.cast(_sum_channels(m, gy), self.inputs[2].dtype)
            for i in targets
        ]


class _GradW(Operation):
    """Gradient of a convolution's weight, from the image and the gradient of the output.

    Args:
        func: Convolution or deconvolution function.
        W: Weight.
        outs (tuple of int): Spatial shape of the output of the convolution.

    """

    def __init__(self, func: FunctionNode, W: Any, outs: tuple[int, ...]) -> None:
        self._func: Any = func
        self._w_shape = W.shape
        self._w_dtype = W.dtype
        self._outs = outs

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        x, y = inputs
        self.retain_inputs((0, 1))
        plan = self._func._plan_of(x.shape, self._w_shape, self._outs, x)
        return (plan.weight(x, y, self._w_dtype),)

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        x, y = xs
        (W,) = gys
        func = self._func
        is_convolution = isinstance(func, Convolution)
        convolution = (
            func.transposed(self._outs)
            if not is_convolution
            else (func.transposed(None).transposed(self._outs))
        )
        transpose = convolution.transposed(x.shape[2:])
        return [
            m.apply(transpose, (y, W))[0] if i == 0 else m.apply(convolution, (x, W))[0]
            for i in targets
        ]


def _sum_channels(m, gy):
    """Sum over all axes but the second, along contiguous elements first."""
    n, c = gy.shape[:2]
    return m.sum(m.sum(gy.reshape(n, c, math.prod(gy.shape[2:])), axis=2), axis=0)


def _check_groups(groups, n_in, n_out):
    for n, what in ((n_in, 'input'), (n_out, 'output')):
        if n % groups:
            raise TypeError(_groups_message(groups, what, n))


def _groups_message(groups, what, n):
    return (
        f'The number of groups must be a divisor of that of {what} channels: '
        f'{groups} groups, {n} channels'
    )
