#pragma once

// What reductions and searches of extremes share: the layout of loops, the operations, and the loops themselves.

#include <algorithm>
#include <limits>
#include <type_traits>

#include "chainerx/backends/native/compute.h"
#include "chainerx/backends/native/elementwise.h"
#include "chainerx/ops/math.h"

namespace chainerx::native {

constexpr int64_t kGrain = 32768;

// The reduction as loops: for each of `outer` results, over `reduce` elements, for `inner` neighbouring results.
// The input lies in contiguous memory of the shape (outer, reduce, inner).
struct Layout {
    Array in;  // contiguous
    int64_t outer{1};
    int64_t reduce{1};
    int64_t inner{1};
};

// Brings the reduced axes next to each other. Most reductions are over leading or trailing axes and need no copy.
inline Layout MakeLayout(const Array& a, const Axes& axes) {
    Layout l;
    int8_t n = static_cast<int8_t>(axes.size());
    bool adjacent = n == 0 || axes[n - 1] - axes[0] == n - 1;
    if (adjacent) {
        l.in = Contiguous(a);
        int8_t first = n == 0 ? a.ndim() : axes[0];
        for (int8_t i = 0; i < a.ndim(); ++i) {
            (i < first ? l.outer : i < first + n ? l.reduce : l.inner) *= a.shape()[i];
        }
        return l;
    }
    Axes order;
    for (int8_t i = 0; i < a.ndim(); ++i) {
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
            order.push_back(i);
            l.outer *= a.shape()[i];
        }
    }
    for (int8_t i : axes) {
        order.push_back(i);
        l.reduce *= a.shape()[i];
    }
    l.in = Contiguous(Permuted(a, order));
    return l;
}

// A reduction: Map turns an element into an accumulator, Combine joins two.
template <class C>
struct SumOp {
    using Acc = C;
    static constexpr C kInit = 0;
    CHAINERX_HOST_DEVICE static C Map(C v) { return v; }
    CHAINERX_HOST_DEVICE static C Combine(C a, C b) { return a + b; }
};
template <class C>
struct NansumOp : SumOp<C> {
    CHAINERX_HOST_DEVICE static C Map(C v) { return v != v ? C{0} : v; }
};
template <class C>
struct ProdOp {
    using Acc = C;
    static constexpr C kInit = 1;
    CHAINERX_HOST_DEVICE static C Map(C v) { return v; }
    CHAINERX_HOST_DEVICE static C Combine(C a, C b) { return a * b; }
};
template <class C>
constexpr C Lowest() {
    if constexpr (std::is_floating_point_v<C>) {
        return -std::numeric_limits<C>::infinity();
    } else {
        return std::numeric_limits<C>::lowest();
    }
}
template <class C>
constexpr C Highest() {
    if constexpr (std::is_floating_point_v<C>) {
        return std::numeric_limits<C>::infinity();
    } else {
        return std::numeric_limits<C>::max();
    }
}
// Extremes: Keep(a, b) is Combine(a, b) for a that is a number, and drops b that is not.
template <class C>
struct MaxOp {
    using Acc = C;
    CHAINERX_HOST_DEVICE static C Keep(C a, C b) { return b > a ? b : a; }
    static constexpr C kInit = Lowest<C>();
    CHAINERX_HOST_DEVICE static C Map(C v) { return v; }
    CHAINERX_HOST_DEVICE static C Combine(C a, C b) { return chainerx::math::Max(a, b); }
};
template <class C>
struct MinOp {
    using Acc = C;
    CHAINERX_HOST_DEVICE static C Keep(C a, C b) { return b < a ? b : a; }
    static constexpr C kInit = Highest<C>();
    CHAINERX_HOST_DEVICE static C Map(C v) { return v; }
    CHAINERX_HOST_DEVICE static C Combine(C a, C b) { return chainerx::math::Min(a, b); }
};
template <class C>
struct AllOp {
    using Acc = bool;
    static constexpr bool kInit = true;
    CHAINERX_HOST_DEVICE static bool Map(C v) { return v != C{}; }
    CHAINERX_HOST_DEVICE static bool Combine(bool a, bool b) { return a & b; }
};
template <class C>
struct AnyOp {
    using Acc = bool;
    static constexpr bool kInit = false;
    CHAINERX_HOST_DEVICE static bool Map(C v) { return v != C{}; }
    CHAINERX_HOST_DEVICE static bool Combine(bool a, bool b) { return a | b; }
};

// Columns reduced together: their accumulators stay in the cache.
constexpr int64_t kWidth = 512;
constexpr int kLanes = 32;    // independent accumulators
constexpr int kBlock = 1024;  // elements added naively within a block; blocks are joined pairwise

template <class O, class = void>
struct IsExtreme : std::false_type {};
template <class O>
struct IsExtreme<O, std::void_t<decltype(&O::Keep)>> : std::true_type {};

template <template <class> class Op, class T>
struct RowReduce {
    using C = typename ComputeType<T>::type;
    using O = Op<C>;
    using Acc = typename O::Acc;

    // The reduction of at most kBlock elements.
    CHAINERX_HOST_DEVICE static Acc Block(const T* p, int64_t n) {
        if constexpr (IsExtreme<O>::value && std::is_floating_point_v<C>) {
            return ExtremeBlock(p, n);
        } else {
            return PlainBlock(p, n);
        }
    }

    CHAINERX_HOST_DEVICE static Acc PlainBlock(const T* p, int64_t n) {
        Acc lane[kLanes];
        for (int j = 0; j < kLanes; ++j) lane[j] = O::kInit;
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            for (int j = 0; j < kLanes; ++j) lane[j] = O::Combine(lane[j], O::Map(static_cast<C>(p[i + j])));
        }
        Acc tail = O::kInit;
        for (; i < n; ++i) tail = O::Combine(tail, O::Map(static_cast<C>(p[i])));
        for (int width = kLanes / 2; width > 0; width /= 2) {
            for (int j = 0; j < width; ++j) lane[j] = O::Combine(lane[j], lane[j + width]);
        }
        return O::Combine(lane[0], tail);
    }

    // One comparison instead of two: products with zero say whether all were finite, else it is done over.
    CHAINERX_HOST_DEVICE static Acc ExtremeBlock(const T* p, int64_t n) {
        Acc lane[kLanes];
        C zero[kLanes] = {};
        for (int j = 0; j < kLanes; ++j) lane[j] = O::kInit;
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            for (int j = 0; j < kLanes; ++j) {
                C v = static_cast<C>(p[i + j]);
                lane[j] = O::Keep(lane[j], v);
                zero[j] += v * C{0};
            }
        }
        for (; i < n; ++i) {
            C v = static_cast<C>(p[i]);
            lane[0] = O::Keep(lane[0], v);
            zero[0] += v * C{0};
        }
        for (int width = kLanes / 2; width > 0; width /= 2) {
            for (int j = 0; j < width; ++j) {
                lane[j] = O::Keep(lane[j], lane[j + width]);
                zero[j] += zero[j + width];
            }
        }
        return zero[0] == C{0} ? lane[0] : PlainBlock(p, n);
    }

    // Pairwise over blocks: a binary counter of partial results.
    CHAINERX_HOST_DEVICE static Acc Row(const T* p, int64_t n) {
        if (n <= kBlock) return Block(p, n);
        Acc partial[48];
        int depth = 0;
        uint64_t count = 0;
        for (int64_t i = 0; i < n; i += kBlock) {
            Acc v = Block(p + i, n - i < kBlock ? n - i : kBlock);
            for (uint64_t c = count++; (c & 1) != 0; c >>= 1) v = O::Combine(partial[--depth], v);
            partial[depth++] = v;
        }
        Acc v = partial[--depth];
        while (depth > 0) v = O::Combine(partial[--depth], v);
        return v;
    }

    // `rows` results, each over `n` contiguous elements.
    CHAINERX_HOST_DEVICE static void Run(int64_t rows, int64_t n, const T* p, Acc* out) {
        for (int64_t r = 0; r < rows; ++r) out[r] = Row(p + r * n, n);
    }
};

template <template <class> class Op, class T>
struct ColumnReduce {
    using C = typename ComputeType<T>::type;
    using O = Op<C>;
    using Acc = typename O::Acc;

    // out[i] = reduction over r of p[r * stride + i] for inner <= kWidth columns. Rows are taken in blocks, so that
    // errors of sums do not grow with the number of rows.
    CHAINERX_HOST_DEVICE static void Run(int64_t n, int64_t inner, const T* p, int64_t stride, Acc* out) {
        constexpr int64_t kRows = 256;
        Rows(std::min(n, kRows), inner, p, stride, out);
        for (int64_t r = kRows; r < n; r += kRows) {
            Acc part[kWidth];
            Rows(std::min(n - r, kRows), inner, p + r * stride, stride, part);
#pragma GCC ivdep
            for (int64_t i = 0; i < inner; ++i) out[i] = O::Combine(out[i], part[i]);
        }
    }

    CHAINERX_HOST_DEVICE static void Rows(int64_t n, int64_t inner, const T* p, int64_t stride, Acc* out) {
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

}  // namespace chainerx::native
