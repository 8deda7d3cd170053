#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

// Parts of complex numbers. Real arrays are complex ones without an imaginary part.
//
// The gradient of a real loss with respect to z = x + iy is dL/dx + i dL/dy, the direction of steepest ascent, as in
// PyTorch. So a holomorphic function f passes on gy conj(f'(z)).

namespace chainerx {

// Views of the parts. That of a real array is the array itself, or zeros.
Array Real(const Array& x);
Array Imag(const Array& x);
// The array itself if it is real.
Array Conj(const Array& x);
// Angles in radians, between -pi and pi.
Array Angle(const Array& x);

// |z| of the numbers of a complex array, to a contiguous real one.
using ComplexAbsoluteKernel = KernelSlot<void(const Array& x, const Array& out)>;
extern const ComplexAbsoluteKernel kComplexAbsoluteKernel;

// |z| of a complex array. Its gradient at zero is zero.
Array AbsoluteOfComplex(const Array& x);

#define CHAINERX_COMPLEX_ROUTINES(X) \
    X(Real)                          \
    X(Imag)                          \
    X(Conj)                          \
    X(Angle)

CHAINERX_COMPLEX_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
