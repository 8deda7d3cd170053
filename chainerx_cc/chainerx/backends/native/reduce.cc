// Reductions.

#include "chainerx/backends/native/reduce.h"

#include <algorithm>
#include <limits>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::native {
namespace {

// Runs a reduction for one input type and writes results of the type R.
template <template <class> class Op, class T, class R>
void ReduceTyped(const ReduceLayout& l, const Array& out) {
    using Kind = Reduction<Op, T>;
    using Acc = typename Kind::Acc;
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
                ReduceRows<Kind>(1, std::min(piece, l.reduce - i * piece), in + i * piece, partial.data() + i);
            }
        });
        for (int64_t width = 1; width < pieces; width *= 2) {
            for (int64_t i = 0; i + width < pieces; i += 2 * width) {
                partial.data()[i] = Kind::Op::Combine(partial.data()[i], partial.data()[i + width]);
            }
        }
        *result = static_cast<R>(partial.data()[0]);
        return;
    }
    if (l.inner == 1) {
        ParallelFor(l.outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(l.reduce, 1)),
                    [&](int64_t begin, int64_t end) {
                        if constexpr (std::is_same_v<R, Acc>) {
                            ReduceRows<Kind>(end - begin, l.reduce, in + begin * l.reduce, result + begin);
                        } else {
                            for (int64_t o = begin; o < end; ++o) {
                                Acc v;
                                ReduceRows<Kind>(1, l.reduce, in + o * l.reduce, &v);
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
            ReduceColumns<Kind>(l.reduce, width, in + o * l.reduce * l.inner + i, l.inner, acc);
            for (int64_t j = 0; j < width; ++j) result[o * l.inner + i + j] = static_cast<R>(acc[j]);
        }
    });
}

// Reduces the trailing axes first if others remain, and then the others, which avoids a transposition. Not for half
// precision, which would round in between, nor for few elements.
template <class Kernel>
bool ReduceInTwoSteps(const Array& a, const Axes& axes, const Array& out, const Kernel& first, const Kernel& second) {
    constexpr int64_t kShortest = 16;
    int8_t begin = static_cast<int8_t>(axes.size());
    if (begin == 0 || IsHalf(a.dtype())) return false;
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

// An array of complex numbers as real ones, whose parts are a last axis.
Array SplitParts(const Array& a) {
    Dtype dtype = ToRealDtype(a.dtype());
    Shape shape = a.shape();
    Strides strides = a.strides();
    shape.push_back(2);
    strides.push_back(GetItemSize(dtype));
    return chainerx::internal::MakeArray(shape, strides, dtype, a.device(), a.body()->storage, a.offset());
}

// Products of complex numbers, one after the other.
void MultiplyComplex(const Array& a, const Axes& axes, const Array& out) {
    ReduceLayout l = MakeReduceLayout(a, axes);
    BlockingScope blocking{l.outer * l.reduce * l.inner > kGrain};
    VisitAnyDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsComplex<T>) {
            for (int64_t o = 0; o < l.outer; ++o) {
                T* result = out.data<T>() + o * l.inner;
                std::fill_n(result, l.inner, ProdOp<T>::kInit);
                const T* in = l.in.template data<T>() + o * l.reduce * l.inner;
                for (int64_t r = 0; r < l.reduce; ++r, in += l.inner) {
                    for (int64_t i = 0; i < l.inner; ++i) result[i] = ProdOp<T>::Combine(result[i], in[i]);
                }
            }
        }
    });
}

// Sums and products: the input has the type of the result, or is a boolean or integer array summed in int64. Join
// combines partial results of Op.
template <template <class> class Op, template <class> class Join = Op>
void ReduceSame(const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    if (IsComplex(a.dtype())) {
        if constexpr (std::is_same_v<Op<float>, SumOp<float>>) {
            return ReduceSame<SumOp>(SplitParts(a), axes, SplitParts(out));
        } else {
            return MultiplyComplex(a, axes, out);
        }
    }
    if (ReduceInTwoSteps(a, axes, out, &ReduceSame<Op, Join>, &ReduceSame<Join>)) return;
    ReduceLayout l = MakeReduceLayout(a, axes);
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename ReduceElement<Op, typename decltype(tag)::type>::type;
        if constexpr (std::is_integral_v<T>) {
            ReduceTyped<Join, T, T>(l, out);  // which differs from Op for NaN only
        } else {
            ReduceTyped<Op, T, T>(l, out);
        }
    });
}

template <template <class> class Op>
void ReduceBool(const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    if (IsComplex(a.dtype())) return ReduceBool<Op>(Input(a, Dtype::kBool), axes, out);
    if (ReduceInTwoSteps(a, axes, out, &ReduceBool<Op>, &ReduceBool<Op>)) return;
    ReduceLayout l = MakeReduceLayout(a, axes);
    VisitDtype(a.dtype(), [&](auto tag) {
        ReduceTyped<Op, typename ReduceElement<Op, typename decltype(tag)::type>::type, bool>(l, out);
    });
}

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
    Array in = Contiguous(Permuted(a, order));
    VisitFloatDtype(in.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{in.GetTotalSize() > kGrain / 8};
        ParallelFor(out.GetTotalSize(), std::max<int64_t>(1, kGrain / 8 / n), [&](int64_t begin, int64_t end) {
            LogSumExpRows<T>(end - begin, n, in.data<T>() + begin * n, out.data<T>() + begin);
        });
    });
}

}  // namespace

const NativeKernels g_reduce_kernels{[](Backend& backend) {
    kSumKernel.Register(backend, &ReduceSame<SumOp>);
    kNansumKernel.Register(backend, &ReduceSame<NansumOp, SumOp>);
    kProdKernel.Register(backend, &ReduceSame<ProdOp>);
    kAmaxKernel.Register(backend, &ReduceSame<MaxOp>);
    kAminKernel.Register(backend, &ReduceSame<MinOp>);
    kAllKernel.Register(backend, &ReduceBool<AllOp>);
    kAnyKernel.Register(backend, &ReduceBool<AnyOp>);
    kLogSumExpKernel.Register(backend, &LogSumExp);
}};

}  // namespace chainerx::native
