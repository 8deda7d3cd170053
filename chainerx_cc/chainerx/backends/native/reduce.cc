// Reductions and scans.

#include <algorithm>
#include <cmath>
#include <limits>

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/register.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::native {
namespace {

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
Layout MakeLayout(const Array& a, const Axes& axes) {
    Layout l;
    int8_t n = static_cast<int8_t>(axes.size());
    bool adjacent = n == 0 || axes[n - 1] - axes[0] == n - 1;
    if (adjacent) {
        l.in = AsContiguous(a.AsDetached());
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
    l.in = AsContiguous(Transpose(a.AsDetached(), order));
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

// Runs a reduction for one input type and writes results of the type R.
template <template <class> class Op, class T, class R>
void ReduceTyped(const Layout& l, const Array& out) {
    using Acc = typename RowReduce<Op, T>::Acc;
    static const auto row = MultiVersion<RowReduce<Op, T>, int64_t, int64_t, const T*, Acc*>::Pick();
    static const auto column = MultiVersion<ColumnReduce<Op, T>, int64_t, int64_t, const T*, int64_t, Acc*>::Pick();
    const T* in = l.in.template data<T>();
    R* result = out.data<R>();
    BlockingScope blocking{l.outer * l.reduce * l.inner > kGrain};
    if (l.inner == 1 && l.outer == 1 && l.reduce > 4 * kGrain) {
        // One long row: partial results of pieces, whose size does not depend on the number of threads.
        int64_t piece = 2 * kGrain;
        int64_t pieces = (l.reduce + piece - 1) / piece;
        Scratch<Acc> partial{pieces};
        ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                row(1, std::min(piece, l.reduce - i * piece), in + i * piece, partial.data() + i);
            }
        });
        for (int64_t width = 1; width < pieces; width *= 2) {
            for (int64_t i = 0; i + width < pieces; i += 2 * width) {
                partial.data()[i] = RowReduce<Op, T>::O::Combine(partial.data()[i], partial.data()[i + width]);
            }
        }
        *result = static_cast<R>(partial.data()[0]);
        return;
    }
    if (l.inner == 1) {
        ParallelFor(l.outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(l.reduce, 1)),
                    [&](int64_t begin, int64_t end) {
                        if constexpr (std::is_same_v<R, Acc>) {
                            row(end - begin, l.reduce, in + begin * l.reduce, result + begin);
                        } else {
                            for (int64_t o = begin; o < end; ++o) {
                                Acc v;
                                row(1, l.reduce, in + o * l.reduce, &v);
                                result[o] = static_cast<R>(v);
                            }
                        }
                    });
        return;
    }
    // Tasks are pieces of the inner dimension.
    int64_t pieces = (l.inner + kWidth - 1) / kWidth;
    int64_t cost = std::max<int64_t>(1, l.reduce * std::min(l.inner, kWidth));
    ParallelFor(l.outer * pieces, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
        Acc acc[kWidth];
        for (int64_t k = begin; k < end; ++k) {
            int64_t o = k / pieces;
            int64_t i = k % pieces * kWidth;
            int64_t width = std::min(kWidth, l.inner - i);
            column(l.reduce, width, in + o * l.reduce * l.inner + i, l.inner, acc);
            for (int64_t j = 0; j < width; ++j) result[o * l.inner + i + j] = static_cast<R>(acc[j]);
        }
    });
}

// Reduces the trailing run of axes first where that leaves others, so that nothing has to be transposed. Then the
// kernel is called for the result and the other axes. Not for half precision, which would be rounded in between, nor
// for short runs.
template <class Kernel>
bool ReduceInTwoSteps(const Array& a, const Axes& axes, const Array& out, const Kernel& first, const Kernel& second) {
    constexpr int64_t kShortest = 16;
    int8_t begin = static_cast<int8_t>(axes.size());
    if (begin == 0 || a.dtype() == Dtype::kFloat16) return false;
    int64_t length = 1;
    do {
        --begin;
        length *= a.shape()[axes[begin]];
    } while (begin > 0 && axes[begin - 1] == axes[begin] - 1);
    if (begin == 0 || length < kShortest) return false;
    Axes tail(axes.begin() + begin, axes.end());
    Array middle = Empty(ReduceShape(a.shape(), tail, false), out.dtype(), a.device());
    first(a, tail, middle);
    second(middle, Axes(axes.begin(), axes.begin() + begin), out);
    return true;
}

// Sums and products: the input has the type of the result, or is a boolean or integer array summed in int64. Join
// reduces what Op has reduced in part.
template <template <class> class Op, template <class> class Join = Op>
void ReduceSame(const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    if (ReduceInTwoSteps(a, axes, out, &ReduceSame<Op, Join>, &ReduceSame<Join>)) return;
    Layout l = MakeLayout(a, axes);
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (!std::is_same_v<T, bool>) {
            ReduceTyped<Op, T, T>(l, out);
        } else {
            // The extreme of booleans.
            ReduceTyped<Op, uint8_t, uint8_t>(l, out);
        }
    });
}

template <template <class> class Op>
void ReduceBool(const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    if (ReduceInTwoSteps(a, axes, out, &ReduceBool<Op>, &ReduceBool<Op>)) return;
    Layout l = MakeLayout(a, axes);
    VisitDtype(a.dtype(), [&](auto tag) { ReduceTyped<Op, typename decltype(tag)::type, bool>(l, out); });
}

// Positions of extremes: of the first not-a-number where there is one, as in NumPy.
template <template <class> class Op, class T>
struct ArgRow {
    using C = typename ComputeType<T>::type;

    // `rows` results, each over `n` contiguous elements
    CHAINERX_HOST_DEVICE static void Run(int64_t rows, int64_t n, const T* p, int64_t* out) {
        for (int64_t r = 0; r < rows; ++r, p += n) {
            C best = RowReduce<Op, T>::Row(p, n);
            out[r] = best == best ? Find(n, p, [best](C v) { return v == best; })
                                  : Find(n, p, [](C v) { return v != v; });
        }
    }

private:
    // The first element for which the predicate holds; there is one.
    template <class F>
    CHAINERX_HOST_DEVICE static int64_t Find(int64_t n, const T* p, const F& is_it) {
        constexpr int kFew = 64;
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
    return AsContiguous(Transpose(Reshape(l.in, Shape{l.outer, l.reduce, l.inner}), Axes{0, 2, 1}));
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

// ---------------------------------------------------------------- exponentials of rows

template <class C>
struct MaxAndSum {
    C max;
    C sum;
};

// Stable normalization of one row: the maximum, and the sum of exp(x - max).
template <class T>
CHAINERX_HOST_DEVICE MaxAndSum<typename ComputeType<T>::type> ExpSum(const T* p, int64_t n) {
    using C = typename ComputeType<T>::type;
    C max = RowReduce<MaxOp, T>::Row(p, n);
    C shift = max - max == 0 ? max : C{0};  // an infinite maximum is left alone
    constexpr int kWide = 16;
    C lane[kWide] = {};
    int64_t i = 0;
    for (; i + kWide <= n; i += kWide) {
        for (int j = 0; j < kWide; ++j) lane[j] += chainerx::math::Exp(static_cast<C>(p[i + j]) - shift);
    }
    C sum = 0;
    for (; i < n; ++i) sum += chainerx::math::Exp(static_cast<C>(p[i]) - shift);
    for (int width = kWide / 2; width > 0; width /= 2) {
        for (int j = 0; j < width; ++j) lane[j] += lane[j + width];
    }
    return {shift, sum + lane[0]};
}

template <class T>
struct LogSumExpBody {
    CHAINERX_HOST_DEVICE static void Run(int64_t rows, int64_t n, const T* in, T* out) {
        for (int64_t r = 0; r < rows; ++r) {
            auto s = ExpSum(in + r * n, n);
            out[r] = static_cast<T>(s.max + chainerx::math::Log(s.sum));
        }
    }
};

void LogSumExp(const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Axes order;
    int64_t n = 1;
    for (int8_t i = 0; i < a.ndim(); ++i) {
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
    }
    for (int8_t i : axes) {
        order.push_back(i);
        n *= a.shape()[i];
    }
    if (n == 0) {
        VisitFloatDtype(out.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            std::fill_n(out.data<T>(), out.GetTotalSize(), T{-std::numeric_limits<float>::infinity()});
        });
        return;
    }
    Array in = AsContiguous(Transpose(a.AsDetached(), order));
    VisitFloatDtype(in.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        static const auto f = MultiVersion<LogSumExpBody<T>, int64_t, int64_t, const T*, T*>::Pick();
        BlockingScope blocking{in.GetTotalSize() > kGrain / 8};
        ParallelFor(out.GetTotalSize(), std::max<int64_t>(1, kGrain / 8 / n), [&](int64_t begin, int64_t end) {
            f(end - begin, n, in.data<T>() + begin * n, out.data<T>() + begin);
        });
    });
}

// ---------------------------------------------------------------- scans

template <class Combine>
void Scan(const Array& a_, int8_t axis, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Array a = AsContiguous(a_.AsDetached());
    int64_t inner = 1;
    for (int i = axis + 1; i < a.ndim(); ++i) inner *= a.shape()[i];
    int64_t n = a.shape()[axis];
    int64_t outer = a.GetTotalSize() / (n * inner);
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        for (int64_t o = 0; o < outer; ++o) {
            const T* in = a.data<T>() + o * n * inner;
            T* result = out.data<T>() + o * n * inner;
            std::copy_n(in, inner, result);
            if (inner == 1) {
                auto sum = static_cast<C>(in[0]);
                for (int64_t i = 1; i < n; ++i) {
                    result[i] = static_cast<T>(Combine::Apply(sum, static_cast<C>(in[i])));
                    sum = static_cast<C>(result[i]);
                }
                continue;
            }
            for (int64_t i = inner; i < n * inner; ++i) {
                result[i] = static_cast<T>(Combine::Apply(static_cast<C>(result[i - inner]), static_cast<C>(in[i])));
            }
        }
    });
}

struct AddTo {
    template <class C>
    static C Apply(C a, C b) {
        return static_cast<C>(a + b);
    }
};
struct MultiplyBy {
    template <class C>
    static C Apply(C a, C b) {
        return static_cast<C>(a * b);
    }
};

}  // namespace

void RegisterReduceKernels(Backend& backend) {
    kSumKernel.Register(backend, &ReduceSame<SumOp>);
    kNansumKernel.Register(backend, &ReduceSame<NansumOp, SumOp>);
    kProdKernel.Register(backend, &ReduceSame<ProdOp>);
    kAmaxKernel.Register(backend, &ReduceSame<MaxOp>);
    kAminKernel.Register(backend, &ReduceSame<MinOp>);
    kAllKernel.Register(backend, &ReduceBool<AllOp>);
    kAnyKernel.Register(backend, &ReduceBool<AnyOp>);
    kArgmaxKernel.Register(backend, &ArgReduce<MaxOp>);
    kArgminKernel.Register(backend, &ArgReduce<MinOp>);
    kLogSumExpKernel.Register(backend, &LogSumExp);
    kCumsumKernel.Register(backend, &Scan<AddTo>);
    kCumprodKernel.Register(backend, &Scan<MultiplyBy>);
}

}  // namespace chainerx::native
