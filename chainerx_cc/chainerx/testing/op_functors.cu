// Compiles the functor of every elementwise operation for a GPU, for each dtype that it computes in. Not part of the
// library: tests/project_tests/test_layers.py hands it to nvcc, where there is one.

#include <cstdint>
#include <type_traits>

#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/special.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx {

template <class Op, class T, class R>
__global__ void Apply(Op op, int64_t n, const T* a, const T* b, const T* c, R* out) {
    int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
    if (i >= n) return;
    if constexpr (Op::kArity == 1) {
        out[i] = op.Forward(a[i]);
    } else if constexpr (Op::kArity == 2) {
        out[i] = op.Forward(a[i], b[i]);
    } else if constexpr (Op::kIsSelect) {
        out[i] = op.Forward(a[i] != T{}, b[i], c[i]);
    } else {
        out[i] = op.Forward(a[i], b[i], c[i]);
    }
}

// A reference to the kernel, which makes the compiler emit it. Half precision is computed in float.
template <class Op, class T>
const void* Compile() {
    using C = std::conditional_t<kIsHalf<T>, float, T>;
    if constexpr (Contains(Op::kDtypes, DtypeOf<T>::value)) {
        return reinterpret_cast<const void*>(&Apply<Op, C, std::conditional_t<Op::kBoolOut, bool, C>>);
    } else {
        return nullptr;
    }
}

template <class Op>
void CompileAll(const void** kernels) {
#define CHAINERX_X(type, name, kind, str, ch) *kernels++ = Compile<Op, type>();
    CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
}

void CompileOps(const void** kernels) {
#define CHAINERX_COMPILE(Op) CompileAll<ops::Op>(kernels);
    CHAINERX_ACTIVATION_OPS(CHAINERX_COMPILE)
    CHAINERX_ARITHMETIC_OPS(CHAINERX_COMPILE)
    CHAINERX_COMPARISON_OPS(CHAINERX_COMPILE)
    CHAINERX_EXPLOG_OPS(CHAINERX_COMPILE)
    CHAINERX_SPECIAL_OPS(CHAINERX_COMPILE)
    CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_COMPILE)
#undef CHAINERX_COMPILE
}

}  // namespace chainerx
