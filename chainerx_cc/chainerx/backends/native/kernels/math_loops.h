#pragma once

// Loops over the functions of math.h, compiled for every instruction set: for the tests and the benchmark.

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

// clang-format off
#define CHAINERX_UNARY_MATH(F)                                                                                     \
    F(Exp)                                                                                                         \
    F(Exp2)                                                                                                        \
    F(Expm1)                                                                                                       \
    F(Log) F(Log2) F(Log10) F(Log1p) F(Sin) F(Cos) F(Tan) F(Asin) F(Acos) F(Atan) F(Sinh) F(Cosh) F(Tanh) F(Asinh) \
            F(Acosh) F(Atanh) F(Erf) F(Erfc) F(Gelu) F(Sigmoid) F(Silu) F(Softplus) F(Rsqrt) F(Sqrt)
// clang-format on

namespace chainerx {
namespace native {

enum class UnaryMath {
#define CHAINERX_NAME(Name) k##Name,
    CHAINERX_UNARY_MATH(CHAINERX_NAME)
#undef CHAINERX_NAME
            kCount
};

enum class BinaryMath { kPow, kAtan2 };

CHAINERX_ISA_KERNEL(UnaryMathLoop, (UnaryMath function, int64_t n, const T* x, T* y), (function, n, x, y))
CHAINERX_ISA_KERNEL(BinaryMathLoop, (BinaryMath function, int64_t n, const T* x1, const T* x2, T* y),
                    (function, n, x1, x2, y))

}  // namespace native
}  // namespace chainerx
