// The loops of elementwise ops over complex numbers.

#include <complex>
#include <utility>

#include "chainerx/backends/native/elementwise.h"
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

}  // namespace

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
