#include "chainerx/backends/native/kernels/math.h"
#include "chainerx/backends/native/kernels/math_loops.h"

namespace chainerx {
namespace native {
namespace CHAINERX_ISA {

template <class T>
void UnaryMathLoop(UnaryMath function, int64_t n, const T* x, T* y) {
    switch (function) {
#define CHAINERX_CASE(Name)               \
    case UnaryMath::k##Name:              \
        for (int64_t i = 0; i < n; ++i) { \
            y[i] = math::Name(x[i]);      \
        }                                 \
        return;
        CHAINERX_UNARY_MATH(CHAINERX_CASE)
#undef CHAINERX_CASE
        default:
            return;
    }
}

template <class T>
void BinaryMathLoop(BinaryMath function, int64_t n, const T* x1, const T* x2, T* y) {
    if (function == BinaryMath::kPow) {
        for (int64_t i = 0; i < n; ++i) {
            y[i] = math::Pow(x1[i], x2[i]);
        }
    } else {
        for (int64_t i = 0; i < n; ++i) {
            y[i] = math::Atan2(x1[i], x2[i]);
        }
    }
}

template void UnaryMathLoop<float>(UnaryMath, int64_t, const float*, float*);
template void UnaryMathLoop<double>(UnaryMath, int64_t, const double*, double*);
template void BinaryMathLoop<float>(BinaryMath, int64_t, const float*, const float*, float*);
template void BinaryMathLoop<double>(BinaryMath, int64_t, const double*, const double*, double*);

}  // namespace CHAINERX_ISA
}  // namespace native
}  // namespace chainerx
