#include "chainerx/ops/complex.h"

#include <complex>

#include "chainerx/core/operands.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx {

const ComplexAbsoluteKernel kComplexAbsoluteKernel{"complex_absolute", kTakesComplex};

CHAINERX_ROUTINE(Real, "real", "x", "", R"(
Elementwise real part: a view of a complex array, and a real array itself.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``, float32 for complex64 and float64 for complex128.

>>> chainerx.real(chainerx.array([1+2j, 3j]))
array([1., 0.], shape=(2,), dtype=float64, device='native:0')
)");
Array Real(const Array& x) {
    if (!IsComplex(x.dtype())) return x;
    return internal::RecordView("real", x, PartView(x, 0),
                                [d = x.dtype()](const Array& gy) { return AsType(gy, d, false); });
}

CHAINERX_ROUTINE(Imag, "imag", "x", "fill", R"(
Elementwise imaginary part: a view of a complex array, and zeros for a real one.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``, float32 for complex64 and float64 for complex128.

>>> chainerx.imag(chainerx.array([1+2j, 3j]))
array([2., 3.], shape=(2,), dtype=float64, device='native:0')
)");
Array Imag(const Array& x) {
    if (!IsComplex(x.dtype())) return ZerosLike(x);
    return internal::RecordView("imag", x, PartView(x, 1),
                                [](const Array& gy) { return gy * Scalar{std::complex<double>{0, 1}}; });
}

CHAINERX_ROUTINE(Conj, "conj", "x", "_conj", R"(
Elementwise complex conjugate; a real array itself.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: Array of the shape and dtype of ``x``.

>>> chainerx.conj(chainerx.array([1+2j, 3j]))
array([1.-2.j, 0.-3.j], shape=(2,), dtype=complex128, device='native:0')
)");
Array Conj(const Array& x) { return IsComplex(x.dtype()) ? Conjugate(x) : x; }

CHAINERX_ROUTINE(Angle, "angle", "x", "", R"(
Elementwise angle of complex numbers with the positive real axis, in radians between :math:`-\pi` and :math:`\pi`.

Differentiable any number of times, but at zero.

Args:
    x (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``, float32 for complex64 and float64 for complex128; a floating point
    dtype is kept, integers and booleans give float32.

>>> chainerx.angle(chainerx.array([1j, -1]))
array([1.57079633, 3.14159265], shape=(2,), dtype=float64, device='native:0')
)");
Array Angle(const Array& x) { return Arctan2(Imag(x), Real(x)); }

Array AbsoluteOfComplex(const Array& x) {
    Array out = Empty(x.shape(), ToRealDtype(x.dtype()), x.device());
    kComplexAbsoluteKernel(x.device(), x, out);
    if (GraphMask mask = internal::GetRecordMask(x)) {
        internal::Record("absolute", mask, {&x}, {&out}, [kept = Saved{x}](BackwardContext& ctx) {
            const Array& z = kept.Get();
            Array size = AbsoluteOfComplex(z);
            ctx.SetGrad(0, ctx.grad() * (z / Where(Equal(size, Scalar{0}), Scalar{1}, size)));
        });
    }
    return out;
}

}  // namespace chainerx
