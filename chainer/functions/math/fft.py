"""Fast Fourier transform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainerx
from chainer import backend
from chainer._core.reports.fallback import Fallback
from chainer.functions._base import Operation
from chainer.utils import type_check
from chainer.utils.array import _cast
from chainer.variable import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chainer._core.names.namespace import Namespace, Operand, Operands
    from chainer._core.reports.fallback import FallbackType
    from chainer.types import NdArray, VariableLike
    from chainer.utils.type_check import TypeInfoTuple
    from chainer.variable import Variable


class FFT(Operation):
    """Fourier transform of a pair of real and imaginary parts along the last axis.

    Args:
        method (str): ``'fft'`` or ``'ifft'``.

    """

    def __init__(self, method: str) -> None:
        self._method = method

    def check_type_forward(self, in_types: TypeInfoTuple) -> None:
        type_check.expect_arguments(in_types, ('real', 'imag'))
        r_type, i_type = in_types
        type_check.expect(
            r_type.dtype.kind == 'f',
            r_type.dtype == i_type.dtype,
            r_type.ndim > 0,
            r_type.shape == i_type.shape,
        )

    def forward(self, inputs: tuple[NdArray, ...]) -> tuple[NdArray | None, ...]:
        xp: Any = backend.get_array_module(*inputs)
        real, imag = inputs
        if xp in (numpy, chainerx):
            # In double precision, as NumPy 1 computes all transforms and NumPy 2 some.
            real, imag = [x.astype(numpy.float64, copy=False) for x in inputs]
        y = getattr(xp.fft, self._method)(real + imag * 1j)
        return tuple([_cast(part, inputs[0].dtype) for part in (xp.real(y), xp.imag(y))])

    def forward_chainerx(
        self, inputs: tuple[chainerx.ndarray, ...]
    ) -> tuple[NdArray | None, ...] | FallbackType:
        if inputs[0].device.backend.name != 'native':
            return Fallback('devices without complex numbers')
        return tuple([chainerx.ascontiguousarray(part) for part in self.forward(inputs)])

    def gradients(
        self, m: Namespace, targets: Sequence[int], xs: Operands, ys: Operands, gys: Operands
    ) -> Sequence[Operand | None]:
        # The adjoint of one transform is the other, up to the factor that ifft has.
        present = as_array(gys[0] if gys[1] is None else gys[1])
        zeros = backend.get_array_module(present).zeros_like(present)
        n = present.shape[-1]
        method, factor = ('ifft', n) if self._method == 'fft' else ('fft', 1 / n)
        gxs = m.apply(FFT(method), tuple([zeros if gy is None else gy for gy in gys]))
        return [gxs[i] * factor for i in targets]


def fft(x: tuple[VariableLike, VariableLike]) -> tuple[Variable, ...]:
    """Fast Fourier transform along the last axis.

    .. math:: y_k = \\sum_{j=0}^{n-1} x_j e^{-2 \\pi i j k / n}

    Args:
        x (tuple): Real and imaginary part, two :class:`~chainer.Variable` objects or arrays of
            one shape and floating point dtype.

    Returns:
        tuple of ~chainer.Variable: Real and imaginary part, of the shape and dtype of the
        inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float32)
        >>> real, imag = F.fft(x)
        >>> real.array, imag.array
        (array([10., -2., -2., -2.], dtype=float32), array([ 0.,  2.,  0., -2.], dtype=float32))

    """
    real, imag = x
    return FFT('fft').apply((real, imag))


def ifft(x: tuple[VariableLike, VariableLike]) -> tuple[Variable, ...]:
    """Inverse fast Fourier transform along the last axis.

    .. math:: y_k = \\frac1n \\sum_{j=0}^{n-1} x_j e^{2 \\pi i j k / n}

    Args:
        x (tuple): Real and imaginary part, two :class:`~chainer.Variable` objects or arrays of
            one shape and floating point dtype.

    Returns:
        tuple of ~chainer.Variable: Real and imaginary part, of the shape and dtype of the
        inputs.

    Raises:
        ~chainer.utils.type_check.InvalidType: If shapes or dtypes do not fit.

    .. admonition:: Example

        >>> x = np.array([4, 0, 0, 0], np.float32), np.zeros(4, np.float32)
        >>> real, imag = F.ifft(x)
        >>> real.array
        array([1., 1., 1., 1.], dtype=float32)

    """
    real, imag = x
    return FFT('ifft').apply((real, imag))
