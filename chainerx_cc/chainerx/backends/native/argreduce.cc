// Positions of extremes.

#include <algorithm>
#include <limits>

#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/reduce.h"
#include "chainerx/backends/native/register.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::native {
namespace {

// The first not-a-number counts where there is one, as in NumPy.
template <template <class> class Op, class T>
struct ArgRow {
    using C = typename ComputeType<T>::type;

    // `rows` results, each over `n` contiguous elements
    CHAINERX_HOST_DEVICE static void Run(int64_t rows, int64_t n, const T* p, int64_t* out) {
        constexpr int64_t kPart = 512;  // of which one is searched
        for (int64_t r = 0; r < rows; ++r, p += n) {
            int64_t at = 0;
            C best = RowReduce<Op, T>::Block(p, std::min(n, kPart));
            for (int64_t i = kPart; i < n && best == best; i += kPart) {
                C v = RowReduce<Op, T>::Block(p + i, std::min(n - i, kPart));
                bool better = (Op<C>::Keep(best, v) != best) | (v != v);
                at = better ? i : at;
                best = better ? v : best;
            }
            int64_t length = std::min(n - at, kPart);
            out[r] = at + (best == best ? Find(length, p + at, [best](C v) { return v == best; })
                                        : Find(length, p + at, [](C v) { return v != v; }));
        }
    }

private:
    // The first element for which the predicate holds; there is one.
    template <class F>
    CHAINERX_HOST_DEVICE static int64_t Find(int64_t n, const T* p, const F& is_it) {
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

template <template <class> class Op, class T>
struct ArgColumns {
    using C = typename ComputeType<T>::type;
    using Index = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;  // as wide as C: the loop vectorizes

    // Over r < n of p[r * stride + i] for inner <= kWidth columns; n < 2^31.
    CHAINERX_HOST_DEVICE static void Run(int64_t n, int64_t inner, const T* p, int64_t stride, int64_t* out) {
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
                C kept = Op<C>::Keep(b, v);
                kept = (v != v) & (b == b) ? v : kept;
                at[i] = (kept != b) & (b == b) ? index : at[i];
                best[i] = kept;
            }
        }
        for (int64_t i = 0; i < inner; ++i) out[i] = at[i];
    }
};

// (outer, inner, reduce)
Array Transposed(const Layout& l) {
    Shape shape{l.outer, l.reduce, l.inner};
    Array in = internal::MakeView(l.in, shape, Strides{shape, l.in.GetItemSize()}, l.in.offset());
    return Contiguous(Permuted(in, Axes{0, 2, 1}));
}

template <template <class> class Op>
void ArgReduce(const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Layout l = MakeLayout(a, axes);
    VisitDtype(a.dtype(), [&](auto tag) {
        using E = typename decltype(tag)::type;
        using T = std::conditional_t<std::is_same_v<E, bool>, uint8_t, E>;
        const T* in = l.in.template data<T>();
        auto* result = out.data<int64_t>();
        BlockingScope blocking{l.in.GetTotalSize() > kGrain};
        if (l.inner == 1 || l.reduce > std::numeric_limits<int32_t>::max()) {
            Array rows = l.inner == 1 ? l.in : Transposed(l);
            static const auto row = MultiVersion<ArgRow<Op, T>, int64_t, int64_t, const T*, int64_t*>::Pick();
            ParallelFor(l.outer * l.inner, std::max<int64_t>(1, kGrain / l.reduce), [&](int64_t begin, int64_t end) {
                row(end - begin, l.reduce, rows.template data<T>() + begin * l.reduce, result + begin);
            });
            return;
        }
        static const auto column =
                MultiVersion<ArgColumns<Op, T>, int64_t, int64_t, const T*, int64_t, int64_t*>::Pick();
        int64_t pieces = (l.inner + kWidth - 1) / kWidth;
        int64_t cost = l.reduce * std::min(l.inner, kWidth);
        ParallelFor(l.outer * pieces, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) {
                int64_t o = k / pieces;
                int64_t i = k % pieces * kWidth;
                column(l.reduce, std::min(kWidth, l.inner - i), in + o * l.reduce * l.inner + i, l.inner,
                       result + o * l.inner + i);
            }
        });
    });
}

}  // namespace

const KernelFamily g_argreduce_kernels{[](Backend& backend) {
    kArgmaxKernel.Register(backend, &ArgReduce<MaxOp>);
    kArgminKernel.Register(backend, &ArgReduce<MinOp>);
}};

}  // namespace chainerx::native
