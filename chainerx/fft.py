"""Discrete Fourier transforms, with gradients of any order.

float64 and complex128 are transformed in double precision; all other dtypes, integers included, in
single precision, as other functions of ChainerX do. The engine is pocketfft. Arrays on GPUs are
real, and their transforms raise :class:`chainerx.NotImplementedError`.
"""

from chainerx._core import _fft

fft = _fft.fft
ifft = _fft.ifft
fftn = _fft.fftn
ifftn = _fft.ifftn
rfft = _fft.rfft
irfft = _fft.irfft
rfftn = _fft.rfftn
irfftn = _fft.irfftn
hfft = _fft.hfft
ihfft = _fft.ihfft
fftfreq = _fft.fftfreq
rfftfreq = _fft.rfftfreq
fftshift = _fft.fftshift
ifftshift = _fft.ifftshift
