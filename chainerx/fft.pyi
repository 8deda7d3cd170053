# Written by chainerx_cc/tools/make_stubs.py from the compiled core; not to be edited.
# ruff: noqa
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, SupportsFloat, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike

_Number = SupportsFloat | complex
_Operand = ndarray | _Number
_Ints = int | Sequence[int]
_DeviceLike = Device | str | None

from chainerx._core import Device, ndarray

def fft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    r"""Discrete Fourier transform :math:`y_k = \sum_{j=0}^{n-1} a_j e^{-2 \pi i j k / n}` along an axis."""

def ifft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    r"""Inverse of :func:`fft`, :math:`y_k = \frac1n \sum_{j=0}^{n-1} a_j e^{2 \pi i j k / n}`, along an axis."""

def fftn(a: ndarray, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    """Discrete Fourier transform along several axes; see :func:`fft`."""

def ifftn(a: ndarray, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    """Inverse discrete Fourier transform along several axes; see :func:`ifft`."""

def rfft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    """Discrete Fourier transform of real numbers along an axis."""

def irfft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    """Inverse of :func:`rfft`, a real array, along an axis."""

def rfftn(a: ndarray, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    """Discrete Fourier transform of real numbers along several axes."""

def irfftn(a: ndarray, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    """Inverse of :func:`rfftn`, a real array, along several axes; see :func:`irfft`."""

def hfft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    """Discrete Fourier transform, a real array, of numbers of which the second half are conjugates of the first."""

def ihfft(a: ndarray, n: int | None = None, axis: int = -1, norm: Literal['backward', 'ortho', 'forward'] | None = 'backward') -> ndarray:
    """Inverse of :func:`hfft` along an axis."""

def fftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    r"""Frequencies of the results of :func:`fft`, :math:`\frac{1}{nd} (0, 1, \dots, -\lfloor n / 2 \rfloor, \dots, -1)`."""

def rfftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None, device: _DeviceLike = None) -> ndarray:
    r"""Frequencies of the results of :func:`rfft`, :math:`\frac{1}{nd} (0, 1, \dots, \lfloor n / 2 \rfloor)`."""

def fftshift(x: ndarray, axes: int | Sequence[int] | None = None) -> ndarray:
    """The frequencies of a transform in ascending order: the frequency zero moves to the middle."""

def ifftshift(x: ndarray, axes: int | Sequence[int] | None = None) -> ndarray:
    """Inverse of :func:`fftshift`."""
