#include "chainerx/ops/fft.h"

#include "chainerx/ops/fourier.h"

namespace chainerx {

using namespace fourier;  // NOLINT(build/namespaces)

CHAINERX_ROUTINE(Fft, "fft.fft", "a, n=None, axis=-1, norm='backward'", "fourier", R"(
Discrete Fourier transform :math:`y_k = \sum_{j=0}^{n-1} a_j e^{-2 \pi i j k / n}` along an axis.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @fft_n
    @fft_axis
    @fft_norm

Returns:
    ~chainerx.ndarray: Frequencies :math:`0, 1, \dots`, the negative ones last. @fft_complex

Raises:
    @fft_error
    ValueError: If ``n`` is less than 1.

>>> chainerx.fft.fft(chainerx.array([1., 2., 3., 2.]))
array([ 8.+0.j, -2.+0.j,  0.+0.j, -2.+0.j], shape=(4,), dtype=complex128, device='native:0')
)");
Array Fft(const Array& a, const std::optional<int64_t>& n, int64_t axis, const OptionalFftNorm& norm) {
    return ComplexToComplex(a, Along(a, n, axis), true, norm);
}

CHAINERX_ROUTINE(Ifft, "fft.ifft", "a, n=None, axis=-1, norm='backward'", "fourier", R"(
Inverse of :func:`fft`, :math:`y_k = \frac1n \sum_{j=0}^{n-1} a_j e^{2 \pi i j k / n}`, along an axis.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @fft_n
    @fft_axis
    @fft_norm

Returns:
    ~chainerx.ndarray: Complex array. @fft_complex

Raises:
    @fft_error
    ValueError: If ``n`` is less than 1.

>>> chainerx.fft.ifft(chainerx.array([8., -2., 0., -2.]))
array([1.+0.j, 2.+0.j, 3.+0.j, 2.+0.j], shape=(4,), dtype=complex128, device='native:0')
)");
Array Ifft(const Array& a, const std::optional<int64_t>& n, int64_t axis, const OptionalFftNorm& norm) {
    return ComplexToComplex(a, Along(a, n, axis), false, norm);
}

CHAINERX_ROUTINE(Fftn, "fft.fftn", "a, s=None, axes=None, norm='backward'", "fourier", R"(
Discrete Fourier transform along several axes; see :func:`fft`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @fft_s
    @fft_axes
    @fft_norm

Returns:
    ~chainerx.ndarray: Complex array. @fft_complex

Raises:
    @fft_error
    ValueError: If a length is less than 1.

>>> chainerx.fft.fftn(chainerx.array([[1., 2.], [3., 4.]]))
array([[10.+0.j, -2.+0.j],
       [-4.+0.j,  0.+0.j]], shape=(2, 2), dtype=complex128, device='native:0')
)");
Array Fftn(const Array& a, const FftLengths& s, const FftAxes& axes, const OptionalFftNorm& norm) {
    return ComplexToComplex(a, Along(a, s, axes), true, norm);
}

CHAINERX_ROUTINE(Ifftn, "fft.ifftn", "a, s=None, axes=None, norm='backward'", "fourier", R"(
Inverse discrete Fourier transform along several axes; see :func:`ifft`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @fft_s
    @fft_axes
    @fft_norm

Returns:
    ~chainerx.ndarray: Complex array. @fft_complex

Raises:
    @fft_error
    ValueError: If a length is less than 1.

>>> chainerx.fft.ifftn(chainerx.array([[4., 0.], [0., 0.]]))
array([[1.+0.j, 1.+0.j],
       [1.+0.j, 1.+0.j]], shape=(2, 2), dtype=complex128, device='native:0')
)");
Array Ifftn(const Array& a, const FftLengths& s, const FftAxes& axes, const OptionalFftNorm& norm) {
    return ComplexToComplex(a, Along(a, s, axes), false, norm);
}

CHAINERX_ROUTINE(Rfft, "fft.rfft", "a, n=None, axis=-1, norm='backward'", "fourier", R"(
Discrete Fourier transform of real numbers along an axis.

The frequencies :math:`0` to :math:`\lfloor n / 2 \rfloor` of :func:`fft`; the others are their conjugates.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any real dtype.
    @fft_n
    @fft_axis
    @fft_norm

Returns:
    ~chainerx.ndarray: Complex array. @fft_complex

Raises:
    @fft_error
    ~chainerx.DtypeError: If ``a`` is complex.
    ValueError: If ``n`` is less than 1.

>>> chainerx.fft.rfft(chainerx.array([1., 2., 3., 2.]))
array([ 8.+0.j, -2.+0.j,  0.+0.j], shape=(3,), dtype=complex128, device='native:0')
)");
Array Rfft(const Array& a, const std::optional<int64_t>& n, int64_t axis, const OptionalFftNorm& norm) {
    return RealToHalf(a, Along(a, n, axis), true, norm);
}

CHAINERX_ROUTINE(Irfft, "fft.irfft", "a, n=None, axis=-1, norm='backward'", "fourier", R"(
Inverse of :func:`rfft`, a real array, along an axis.

The imaginary part of the frequency zero, and of :math:`n / 2`, counts as zero.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype, the frequencies from zero on.
    @fft_n_real
    @fft_axis
    @fft_norm

Returns:
    ~chainerx.ndarray: Real array. @fft_real

Raises:
    @fft_error
    ValueError: If ``n`` is less than 1.

>>> chainerx.fft.irfft(chainerx.array([8., -2., 0.]))
array([1., 2., 3., 2.], shape=(4,), dtype=float64, device='native:0')
)");
Array Irfft(const Array& a, const std::optional<int64_t>& n, int64_t axis, const OptionalFftNorm& norm) {
    return HalfToReal(a, Along(a, n, axis, Result::kReal), false, norm);
}

CHAINERX_ROUTINE(Rfftn, "fft.rfftn", "a, s=None, axes=None, norm='backward'", "fourier", R"(
Discrete Fourier transform of real numbers along several axes.

The frequencies of :func:`fftn`, of the last axis only :math:`0` to :math:`\lfloor n / 2 \rfloor`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any real dtype.
    @fft_s
    @fft_axes
    @fft_norm

Returns:
    ~chainerx.ndarray: Complex array. @fft_complex

Raises:
    @fft_error
    ~chainerx.DtypeError: If ``a`` is complex.
    ~chainerx.DimensionError: If there is no axis.
    ValueError: If a length is less than 1.

>>> chainerx.fft.rfftn(chainerx.array([[1., 2.], [3., 4.]]))
array([[10.+0.j, -2.+0.j],
       [-4.+0.j,  0.+0.j]], shape=(2, 2), dtype=complex128, device='native:0')
)");
Array Rfftn(const Array& a, const FftLengths& s, const FftAxes& axes, const OptionalFftNorm& norm) {
    return RealToHalf(a, Along(a, s, axes), true, norm);
}

CHAINERX_ROUTINE(Irfftn, "fft.irfftn", "a, s=None, axes=None, norm='backward'", "fourier", R"(
Inverse of :func:`rfftn`, a real array, along several axes; see :func:`irfft`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype, the frequencies from zero on.
    @fft_s_real
    @fft_axes
    @fft_norm

Returns:
    ~chainerx.ndarray: Real array. @fft_real

Raises:
    @fft_error
    ~chainerx.DimensionError: If there is no axis.
    ValueError: If a length is less than 1.

>>> chainerx.fft.irfftn(chainerx.array([[10., -2.], [-4., 0.]]), s=(2, 2))
array([[1., 2.],
       [3., 4.]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array Irfftn(const Array& a, const FftLengths& s, const FftAxes& axes, const OptionalFftNorm& norm) {
    return HalfToReal(a, Along(a, s, axes, Result::kReal), false, norm);
}

CHAINERX_ROUTINE(Hfft, "fft.hfft", "a, n=None, axis=-1, norm='backward'", "fourier", R"(
Discrete Fourier transform, a real array, of numbers of which the second half are conjugates of the first.

:func:`irfft` in the other direction, without its factor.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype, the first half of the numbers.
    @fft_n_real
    @fft_axis
    @fft_norm

Returns:
    ~chainerx.ndarray: Real array. @fft_real

Raises:
    @fft_error
    ValueError: If ``n`` is less than 1.

>>> chainerx.fft.hfft(chainerx.array([1., 2., 3.]))
array([ 8., -2.,  0., -2.], shape=(4,), dtype=float64, device='native:0')
)");
Array Hfft(const Array& a, const std::optional<int64_t>& n, int64_t axis, const OptionalFftNorm& norm) {
    return HalfToReal(a, Along(a, n, axis, Result::kReal), true, norm);
}

CHAINERX_ROUTINE(Ihfft, "fft.ihfft", "a, n=None, axis=-1, norm='backward'", "fourier", R"(
Inverse of :func:`hfft` along an axis.

:func:`rfft` in the other direction, divided by :math:`n`.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any real dtype.
    @fft_n
    @fft_axis
    @fft_norm

Returns:
    ~chainerx.ndarray: Complex array, the first half of the numbers. @fft_complex

Raises:
    @fft_error
    ~chainerx.DtypeError: If ``a`` is complex.
    ValueError: If ``n`` is less than 1.

>>> chainerx.fft.ihfft(chainerx.array([8., -2., 0., -2.]))
array([1.+0.j, 2.+0.j, 3.+0.j], shape=(3,), dtype=complex128, device='native:0')
)");
Array Ihfft(const Array& a, const std::optional<int64_t>& n, int64_t axis, const OptionalFftNorm& norm) {
    return RealToHalf(a, Along(a, n, axis), false, norm);
}

}  // namespace chainerx
