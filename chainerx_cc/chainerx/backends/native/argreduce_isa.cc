#include "chainerx/backends/native/reduce.h"
#include "chainerx/backends/native/reduce_rows.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

template <class R>
struct RowSearch {
    using T = typename R::Element;
    using C = typename R::C;

    CHAINERX_INLINE static void Run(int64_t rows, int64_t n, const T* p, int64_t* out) {
        constexpr int64_t kPart = 512;  // the unit of the search
        for (int64_t r = 0; r < rows; ++r, p += n) {
            int64_t at = 0;
            C best = RowReduce<R>::Block(p, n < kPart ? n : kPart);
            for (int64_t i = kPart; i < n && best == best; i += kPart) {
                C v = RowReduce<R>::Block(p + i, n - i < kPart ? n - i : kPart);
                bool better = (R::Op::Keep(best, v) != best) | (v != v);
                at = better ? i : at;
                best = better ? v : best;
            }
            int64_t length = n - at < kPart ? n - at : kPart;
            out[r] = at + (best == best ? Find(length, p + at, [best](C v) { return v == best; })
                                        : Find(length, p + at, [](C v) { return v != v; }));
        }
    }

private:
    // The first element for which the predicate holds; there is one.
    template <class F>
    CHAINERX_INLINE static int64_t Find(int64_t n, const T* p, const F& is_it) {
        constexpr int kFew = 32;
        int64_t i = 0;
        for (; i + kFew <= n; i += kFew) {
            int hits = 0;
            for (int j = 0; j < kFew; ++j) hits |= is_it(static_cast<C>(p[i + j])) ? 1 : 0;
            if (hits != 0) break;
        }
        while (!is_it(static_cast<C>(p[i]))) ++i;
        return i;
    }
};

template <class R>
struct ColumnSearch {
    using T = typename R::Element;
    using C = typename R::C;
    using Index = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;  // as wide as C: the loop vectorizes

    CHAINERX_INLINE static void Run(int64_t n, int64_t inner, const T* p, int64_t stride, int64_t* out) {
        C best[kWidth];
        Index at[kWidth];
        for (int64_t i = 0; i < inner; ++i) {
            best[i] = static_cast<C>(p[i]);
            at[i] = 0;
        }
        for (int64_t r = 1; r < n; ++r) {
            p += stride;
            auto index = static_cast<Index>(r);
#pragma GCC ivdep
            for (int64_t i = 0; i < inner; ++i) {
                C v = static_cast<C>(p[i]);
                C b = best[i];
                C kept = R::Op::Keep(b, v);
                kept = (v != v) & (b == b) ? v : kept;
                at[i] = (kept != b) & (b == b) ? index : at[i];
                best[i] = kept;
            }
        }
        for (int64_t i = 0; i < inner; ++i) out[i] = at[i];
    }
};

}  // namespace

template <class R>
void SearchRows(int64_t rows, int64_t n, const typename R::Element* p, int64_t* out) {
    RowSearch<R>::Run(rows, n, p, out);
}

template <class R>
void SearchColumns(int64_t n, int64_t inner, const typename R::Element* p, int64_t stride, int64_t* out) {
    ColumnSearch<R>::Run(n, inner, p, stride, out);
}

#define CHAINERX_INSTANTIATE(Op, E)                                                   \
    template void SearchRows<Reduction<Op, E>>(int64_t, int64_t, const E*, int64_t*); \
    template void SearchColumns<Reduction<Op, E>>(int64_t, int64_t, const E*, int64_t, int64_t*);
// Booleans use the kernels of uint8.
#define CHAINERX_INSTANTIATE_EXTREMES(E) \
    CHAINERX_INSTANTIATE(MaxOp, E)       \
    CHAINERX_INSTANTIATE(MinOp, E)
#define CHAINERX_X(type, name, kind, str, ch) CHAINERX_INSTANTIATE_EXTREMES(type)
CHAINERX_NUMERIC_DTYPES(CHAINERX_X)
#undef CHAINERX_X

}  // namespace chainerx::native::CHAINERX_ISA
