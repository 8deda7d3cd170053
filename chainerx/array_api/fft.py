"""Discrete Fourier transforms of the array API standard: the functions of :mod:`chainerx.fft`."""

from chainerx.fft import (
    fft as fft,
    fftfreq as fftfreq,
    fftn as fftn,
    fftshift as fftshift,
    hfft as hfft,
    ifft as ifft,
    ifftn as ifftn,
    ifftshift as ifftshift,
    ihfft as ihfft,
    irfft as irfft,
    irfftn as irfftn,
    rfft as rfft,
    rfftfreq as rfftfreq,
    rfftn as rfftn,
)
