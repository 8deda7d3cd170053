#pragma once

// Loops over the functions of math/elementary.h. Operations use them if usual arguments have a fast path, or if the FMA
// instruction matters; the tests and the benchmark use all.

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

// The second list has a fast path for usual arguments.
// clang-format off
#define CHAINERX_UNARY_MATH(F)                                                                            \
    F(Exp) F(Exp2) F(Expm1) F(Log1p) F(Asin) F(Acos) F(Atan) F(Sinh) F(Cosh) F(Tanh) F(Asinh) F(Acosh)   \
    F(Atanh) F(Erf) F(Erfc) F(Gelu) F(Sigmoid) F(Silu) F(Softplus) F(Rsqrt) F(Sqrt)
// clang-format on
#define CHAINERX_FAST_UNARY_MATH(F) F(Log) F(Log2) F(Log10) F(Sin) F(Cos) F(Tan)

namespace chainerx::native {

enum class UnaryMath {
#define CHAINERX_NAME(Name) k##Name,
    CHAINERX_UNARY_MATH(CHAINERX_NAME) CHAINERX_FAST_UNARY_MATH(CHAINERX_NAME)
#undef CHAINERX_NAME
            kCount
};

enum class BinaryMath { kPow, kAtan2 };

CHAINERX_ISA_KERNEL(UnaryMathLoop, (UnaryMath function, int64_t n, const T* x, T* y), (function, n, x, y))
// Steps are 1, or 0 for a number; not both are 0. `y` may be one of the inputs.
CHAINERX_ISA_KERNEL(BinaryMathLoop,
                    (BinaryMath function, int64_t n, const T* x1, int64_t step1, const T* x2, int64_t step2, T* y),
                    (function, n, x1, step1, x2, step2, y))

}  // namespace chainerx::native
