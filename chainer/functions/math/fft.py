"""Fast Fourier transform."""

from __future__ import annotations

import chainer
from chainer import backend
from chainer.function_node import FunctionNode
from chainer.utils import type_check


class FFT(FunctionNode):
    """Fourier transform of a pair of real and imaginary parts along the last axis.

    Args:
        method (str): ``'fft'`` or ``'ifft'``.

    """

    def __init__(self, method):
        self._method = method

    def check_type_forward(self, in_types):
        type_check._argname(in_types, ('real', 'imag'))
        r_type, i_type = in_types
        type_check.expect(
            r_type.dtype.kind == 'f',
            r_type.dtype == i_type.dtype,
            r_type.ndim > 0,
            r_type.shape == i_type.shape,
        )

    def forward(self, inputs):
        real, imag = inputs
        xp = backend.get_array_module(*inputs)
        y = getattr(xp.fft, self._method)(real + imag * 1j)
        return tuple([part.astype(real.dtype) for part in (y.real, y.imag)])

    def backward(self, target_input_indexes, grad_outputs):
        # The adjoint of one transform is the other, up to the factor of ifft.
        gr, gi = grad_outputs
        if gr is None:
            gr = chainer.as_variable(backend.get_array_module(gi.array).zeros_like(gi.array))
        if gi is None:
            gi = chainer.as_variable(backend.get_array_module(gr.array).zeros_like(gr.array))
        n = gr.shape[-1]
        method, factor = ('ifft', n) if self._method == 'fft' else ('fft', 1 / n)
        gxs = FFT(method).apply((gr, gi))
        return tuple([gxs[i] * factor for i in target_input_indexes])


def fft(x):
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


def ifft(x):
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
