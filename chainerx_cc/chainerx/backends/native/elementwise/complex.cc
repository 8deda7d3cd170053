// The loops of elementwise ops over complex numbers.

#include "chainerx/ops/complex.h"

#include <cmath>
#include <complex>
#include <utility>

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx::native {
namespace {

template <class Op, class T>
struct ComplexRow {
    using R = std::conditional_t<Op::kBoolOut, bool, T>;
    template <size_t I>
    using Input = std::conditional_t<Op::kIsSelect && I == 0, bool, T>;

    static void Run(const void* op, int64_t n, char* const* data, const int64_t* strides) {
        Loop(*static_cast<const Op*>(op), n, data, strides, std::make_index_sequence<Op::kArity>{});
    }

    template <size_t... I>
    static void Loop(const Op& op, int64_t n, char* const* data, const int64_t* strides, std::index_sequence<I...>) {
        for (int64_t i = 0; i < n; ++i) {
            *reinterpret_cast<R*>(data[0] + i * strides[0]) =
                    op.Forward(*reinterpret_cast<const Input<I>*>(data[I + 1] + i * strides[I + 1])...);
        }
    }
};

// The root of the sum of squares where that neither overflows nor underflows, and else the slower std::hypot.
template <class T>
T AbsoluteOf(std::complex<T> z) {
    constexpr double kLeast = 1e-290;
    constexpr double kMost = 1e300;
    double re = z.real();
    double im = z.imag();
    double squares = re * re + im * im;
    if (CHAINERX_LIKELY(squares > kLeast && squares < kMost)) return static_cast<T>(std::sqrt(squares));
    return std::hypot(z.real(), z.imag());
}

template <class T>
void AbsoluteTyped(const Array& x, const Array& out) {
    constexpr int64_t kGrain = 32768;
    const auto* in = x.data<std::complex<T>>();
    T* result = out.data<T>();
    int64_t n = x.GetTotalSize();
    BlockingScope blocking{n > kGrain};
    ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) result[i] = AbsoluteOf(in[i]);
    });
}

void ComplexAbsolute(const Array& x, const Array& out) {
    (x.dtype() == Dtype::kComplex64 ? AbsoluteTyped<float> : AbsoluteTyped<double>)(Contiguous(x), out);
}

}  // namespace

const NativeKernels g_complex_kernels{
        [](Backend& backend) { kComplexAbsoluteKernel.Register(backend, &ComplexAbsolute); }};

template <class Op>
void AddComplexRows(RowTable* rows) {
    if constexpr ((Op::kDtypes & kComplexSet) != 0) {
        (*rows)[static_cast<int>(Dtype::kComplex64)] = &ComplexRow<Op, std::complex<float>>::Run;
        (*rows)[static_cast<int>(Dtype::kComplex128)] = &ComplexRow<Op, std::complex<double>>::Run;
    }
}

#define CHAINERX_INSTANTIATE(Op) template void AddComplexRows<ops::Op>(RowTable*);
CHAINERX_ARITHMETIC_OPS(CHAINERX_INSTANTIATE)
CHAINERX_COMPARISON_OPS(CHAINERX_INSTANTIATE)
CHAINERX_EXPLOG_OPS(CHAINERX_INSTANTIATE)
CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_INSTANTIATE)

}  // namespace chainerx::native
