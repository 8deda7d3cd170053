// The frequencies of Fourier transforms, and their order.

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/fft.h"
#include "chainerx/ops/fourier.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx {
namespace {

// 1 / (n d), of the arguments of a function that gives frequencies, after checking them.
double Spacing(int64_t n, double d, const std::optional<Dtype>& dtype) {
    if (n < 1) throw ValueError{"n must be at least 1, but is ", n};
    if (d == 0) throw ValueError{"d must not be zero"};
    if (dtype.has_value() && !IsFloat(*dtype)) {
        throw DtypeError{"dtype must be one of floating point, not ", *dtype};
    }
    return 1 / (static_cast<double>(n) * d);
}

Array Integers(int64_t start, int64_t stop, Device& device) {
    return Arange(start, Scalar{stop}, std::nullopt, Dtype::kFloat64, device);
}

Array Multiples(const Array& integers, double spacing, const std::optional<Dtype>& dtype) {
    return AsType(integers * Scalar{spacing}, dtype.value_or(Dtype::kFloat64), false);
}

// By half of each length; a negative sign is back.
Array ShiftHalf(const Array& x, const FftAxes& axes, int sign) {
    std::vector<int64_t> all;
    for (int8_t i = 0; i < x.ndim(); ++i) all.push_back(i);
    std::vector<int64_t> list = axes.value_or(all);
    std::vector<int64_t> shifts;
    for (int8_t axis : fourier::ToAxes(list, x.ndim())) shifts.push_back(sign * (x.shape()[axis] / 2));
    return list.empty() ? x : Roll(x, shifts, list);
}

}  // namespace

CHAINERX_ROUTINE(Fftfreq, "fft.fftfreq", "n, d=1.0, dtype=None, device=None", "arange", R"(
Frequencies of the results of :func:`fft`, :math:`\frac{1}{nd} (0, 1, \dots, -\lfloor n / 2 \rfloor, \dots, -1)`.

Args:
    n (int): Number of samples.
    d (float): Distance of two samples.
    dtype: Floating point dtype; float64 unless given.
    @device

Returns:
    ~chainerx.ndarray: Frequencies in cycles per unit of ``d``, of shape ``(n,)``.

Raises:
    ValueError: If ``n`` is less than 1, or ``d`` is zero.
    ~chainerx.DtypeError: If the dtype is not one of floating point.

>>> chainerx.fft.fftfreq(5, d=0.5)
array([ 0. ,  0.4,  0.8, -0.8, -0.4], shape=(5,), dtype=float64, device='native:0')
)");
Array Fftfreq(int64_t n, double d, const std::optional<Dtype>& dtype, Device& device) {
    double spacing = Spacing(n, d, dtype);
    int64_t positive = n - n / 2;
    Array integers = Concatenate({Integers(0, positive, device), Integers(positive - n, 0, device)});
    return Multiples(integers, spacing, dtype);
}

CHAINERX_ROUTINE(Rfftfreq, "fft.rfftfreq", "n, d=1.0, dtype=None, device=None", "arange", R"(
Frequencies of the results of :func:`rfft`, :math:`\frac{1}{nd} (0, 1, \dots, \lfloor n / 2 \rfloor)`.

Args:
    n (int): Number of samples.
    d (float): Distance of two samples.
    dtype: Floating point dtype; float64 unless given.
    @device

Returns:
    ~chainerx.ndarray: Frequencies in cycles per unit of ``d``, of shape ``(n // 2 + 1,)``.

Raises:
    ValueError: If ``n`` is less than 1, or ``d`` is zero.
    ~chainerx.DtypeError: If the dtype is not one of floating point.

>>> chainerx.fft.rfftfreq(5, d=0.5)
array([0. , 0.4, 0.8], shape=(3,), dtype=float64, device='native:0')
)");
Array Rfftfreq(int64_t n, double d, const std::optional<Dtype>& dtype, Device& device) {
    double spacing = Spacing(n, d, dtype);
    return Multiples(Integers(0, n / 2 + 1, device), spacing, dtype);
}

CHAINERX_ROUTINE(Fftshift, "fft.fftshift", "x, axes=None", "", R"(
The frequencies of a transform in ascending order: the frequency zero moves to the middle.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.
    axes (None, int or tuple of int): Axes; all unless given.

Returns:
    ~chainerx.ndarray: Array of the same shape and dtype, element ``n // 2`` of each axis being the first one of ``x``.

Raises:
    @axis_error

>>> chainerx.fft.fftshift(chainerx.array([0, 1, 2, -2, -1]))
array([-2, -1,  0,  1,  2], shape=(5,), dtype=int64, device='native:0')
)");
Array Fftshift(const Array& x, const FftAxes& axes) { return ShiftHalf(x, axes, 1); }

CHAINERX_ROUTINE(Ifftshift, "fft.ifftshift", "x, axes=None", "", R"(
Inverse of :func:`fftshift`.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.
    axes (None, int or tuple of int): Axes; all unless given.

Returns:
    ~chainerx.ndarray: Array of the same shape and dtype, the first element of each axis being element ``n // 2`` of
    ``x``.

Raises:
    @axis_error

>>> chainerx.fft.ifftshift(chainerx.array([-2, -1, 0, 1, 2]))
array([ 0,  1,  2, -2, -1], shape=(5,), dtype=int64, device='native:0')
)");
Array Ifftshift(const Array& x, const FftAxes& axes) { return ShiftHalf(x, axes, -1); }

}  // namespace chainerx
