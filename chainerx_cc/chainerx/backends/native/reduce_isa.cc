#include "chainerx/backends/native/reduce.h"
#include "chainerx/backends/native/reduce_rows.h"
#include "chainerx/core/dtype.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

template <class R>
struct ColumnReduce {
    using T = typename R::Element;
    using C = typename R::C;
    using O = typename R::Op;
    using Acc = typename R::Acc;

    // Processes rows in blocks, so that rounding errors do not grow with the number of rows.
    CHAINERX_INLINE static void Run(int64_t n, int64_t inner, const T* p, int64_t stride, Acc* out) {
        constexpr int64_t kRows = 256;
        if constexpr (std::is_integral_v<Acc> || IsExtreme<O>::value) return Rows(n, inner, p, stride, out);
        Rows(n < kRows ? n : kRows, inner, p, stride, out);
        for (int64_t r = kRows; r < n; r += kRows) {
            Acc part[kWidth];
            Rows(n - r < kRows ? n - r : kRows, inner, p + r * stride, stride, part);
#pragma GCC ivdep
            for (int64_t i = 0; i < inner; ++i) out[i] = O::Combine(out[i], part[i]);
        }
    }

    CHAINERX_INLINE static void Rows(int64_t n, int64_t inner, const T* p, int64_t stride, Acc* out) {
        constexpr int kRows = 4;
        for (int64_t i = 0; i < inner; ++i) out[i] = O::kInit;
        int64_t r = 0;
        for (; r + kRows <= n; r += kRows) {
            const T* q = p + r * stride;
#pragma GCC ivdep
            for (int64_t i = 0; i < inner; ++i) {
                Acc a = O::Combine(O::Map(static_cast<C>(q[i])), O::Map(static_cast<C>(q[i + stride])));
                Acc b = O::Combine(O::Map(static_cast<C>(q[i + 2 * stride])),
                                   O::Map(static_cast<C>(q[i + 3 * stride])));
                out[i] = O::Combine(out[i], O::Combine(a, b));
            }
        }
        for (; r < n; ++r) {
#pragma GCC ivdep
            for (int64_t i = 0; i < inner; ++i) out[i] = O::Combine(out[i], O::Map(static_cast<C>(p[r * stride + i])));
        }
    }
};

template <class C>
struct MaxAndSum {
    C max;
    C sum;
};

// Stable normalization of one row: the maximum, and the sum of exp(x - max).
template <class T>
CHAINERX_INLINE MaxAndSum<typename ComputeType<T>::type> ExpSum(const T* p, int64_t n) {
    using C = typename ComputeType<T>::type;
    C max = RowReduce<Reduction<MaxOp, T>>::Row(p, n);
    C shift = max - max == 0 ? max : C{0};  // do not subtract an infinite maximum
    constexpr int kWide = 16;
    C lane[kWide] = {};
    int64_t i = 0;
    for (; i + kWide <= n; i += kWide) {
        for (int j = 0; j < kWide; ++j) lane[j] += math::Exp(static_cast<C>(p[i + j]) - shift);
    }
    C sum = 0;
    for (; i < n; ++i) sum += math::Exp(static_cast<C>(p[i]) - shift);
    for (int width = kWide / 2; width > 0; width /= 2) {
        for (int j = 0; j < width; ++j) lane[j] += lane[j + width];
    }
    return {shift, sum + lane[0]};
}

}  // namespace

template <class R>
void ReduceRows(int64_t rows, int64_t n, const typename R::Element* p, typename R::Acc* out) {
    for (int64_t r = 0; r < rows; ++r) out[r] = RowReduce<R>::Row(p + r * n, n);
}

template <class R>
void ReduceColumns(int64_t n, int64_t inner, const typename R::Element* p, int64_t stride, typename R::Acc* out) {
    ColumnReduce<R>::Run(n, inner, p, stride, out);
}

template <class T>
void LogSumExpRows(int64_t rows, int64_t n, const T* p, T* out) {
    for (int64_t r = 0; r < rows; ++r) {
        auto s = ExpSum(p + r * n, n);
        out[r] = static_cast<T>(s.max + math::Log(s.sum));
    }
}

#define CHAINERX_INSTANTIATE(Op, E)                                                                 \
    template void ReduceRows<Reduction<Op, E>>(int64_t, int64_t, const E*, Reduction<Op, E>::Acc*); \
    template void ReduceColumns<Reduction<Op, E>>(int64_t, int64_t, const E*, int64_t, Reduction<Op, E>::Acc*);

// For the types that ReduceElement gives
#define CHAINERX_X(type, name, kind, str, ch) \
    CHAINERX_INSTANTIATE(SumOp, type)         \
    CHAINERX_INSTANTIATE(ProdOp, type)        \
    CHAINERX_INSTANTIATE(AllOp, type)         \
    CHAINERX_INSTANTIATE(AnyOp, type)
CHAINERX_UINT_DTYPES(CHAINERX_X)
CHAINERX_FLOAT_DTYPES(CHAINERX_X)
#undef CHAINERX_X

#define CHAINERX_X(type, name, kind, str, ch) \
    CHAINERX_INSTANTIATE(MaxOp, type)         \
    CHAINERX_INSTANTIATE(MinOp, type)
CHAINERX_NUMERIC_DTYPES(CHAINERX_X)
#undef CHAINERX_X

#define CHAINERX_X(type, name, kind, str, ch) \
    CHAINERX_INSTANTIATE(NansumOp, type)      \
    template void LogSumExpRows<type>(int64_t, int64_t, const type*, type*);
CHAINERX_FLOAT_DTYPES(CHAINERX_X)
#undef CHAINERX_X

}  // namespace chainerx::native::CHAINERX_ISA
