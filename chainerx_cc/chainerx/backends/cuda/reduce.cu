// Reductions.

#include <limits>
#include <type_traits>

#include "chainerx/backends/cuda/reduce.h"
#include "chainerx/core/convert.h"
#include "chainerx/ops/reduce_ops.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::cuda {
namespace {

// A reduction of elements of the type E with results of the type R.
template <template <class> class Operation, class E, class R>
struct Plain {
    using Element = E;
    using Op = Operation<typename ComputeType<E>::type>;
    using Acc = typename Op::Acc;
    using Result = R;
    __device__ Acc Init() const { return Op::kInit; }
    __device__ Acc Map(E x, int64_t) const { return Op::Map(static_cast<typename ComputeType<E>::type>(x)); }
    __device__ Acc Combine(Acc a, Acc b) const { return Op::Combine(a, b); }
    __device__ R Finish(Acc a) const { return Convert<Acc, R>(a); }
};

template <template <class> class Op>
void ReduceSame(const char* what, const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    ReduceLayout l = MakeReduceLayout(a, axes);
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using E = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;  // extremes of booleans
        Reduce(what, Plain<Op, E, E>{}, l, out);
    });
}

template <template <class> class Op>
void ReduceBool(const char* what, const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    ReduceLayout l = MakeReduceLayout(a, axes);
    VisitDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Reduce(what, Plain<Op, T, bool>{}, l, out);
    });
}

template <class C>
struct Extreme {
    C value;
    int64_t index;  // -1: none yet
};

// The position of an extreme: the first NaN, or the first of the extremes.
template <template <class> class Operation, class E>
struct Search {
    using Element = E;
    using C = typename ComputeType<E>::type;
    using Acc = Extreme<C>;
    using Result = int64_t;
    __device__ Acc Init() const { return {C{}, -1}; }
    __device__ Acc Map(E x, int64_t i) const { return {static_cast<C>(x), i}; }
    __device__ Acc Combine(Acc a, Acc b) const {
        if (a.index < 0) return b;
        if (b.index < 0) return a;
        bool is_nan_a = a.value != a.value;
        bool is_nan_b = b.value != b.value;
        bool same = a.value == b.value || (is_nan_a && is_nan_b);
        if (same) return a.index < b.index ? a : b;
        C best = Operation<C>::Combine(a.value, b.value);
        return is_nan_a || (!is_nan_b && best == a.value) ? a : b;
    }
    __device__ int64_t Finish(Acc a) const { return a.index; }
};

template <template <class> class Op>
void ArgReduce(const char* what, const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    ReduceLayout l = MakeReduceLayout(a, axes);
    VisitDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using E = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
        Reduce(what, Search<Op, E>{}, l, out);
    });
}

template <class C>
struct MaxAndSum {
    C max;
    C sum;  // of exp(x - max)
};

template <class E>
struct LogSumExpOp {
    using Element = E;
    using C = typename ComputeType<E>::type;
    using Acc = MaxAndSum<C>;
    using Result = E;
    __device__ Acc Init() const { return {Lowest<C>(), C{0}}; }
    __device__ Acc Map(E x, int64_t) const { return {static_cast<C>(x), C{1}}; }
    __device__ Acc Combine(Acc a, Acc b) const {
        C max = math::Max(a.max, b.max);
        // No difference of equal infinities.
        C scale_a = a.max == max ? C{1} : math::Exp(a.max - max);
        C scale_b = b.max == max ? C{1} : math::Exp(b.max - max);
        return {max, a.sum * scale_a + b.sum * scale_b};
    }
    __device__ E Finish(Acc a) const { return static_cast<E>(a.max + math::Log(a.sum)); }
};

void LogSumExp(const Array& a, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    ReduceLayout l = MakeReduceLayout(a, axes);
    VisitFloatDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Reduce("logsumexp", LogSumExpOp<T>{}, l, out);
    });
}

}  // namespace

// `reduce`: a function template with the operation as its parameter.
#define CHAINERX_REGISTER_REDUCTION(slot, reduce, Op) \
    slot.Register(backend,                            \
                  [](const Array& a, const Axes& axes, const Array& out) { reduce<Op>(slot.name(), a, axes, out); });

const CudaKernels g_reduce_kernels{[](Backend& backend) {
    CHAINERX_REGISTER_REDUCTION(kSumKernel, ReduceSame, SumOp)
    CHAINERX_REGISTER_REDUCTION(kNansumKernel, ReduceSame, NansumOp)
    CHAINERX_REGISTER_REDUCTION(kProdKernel, ReduceSame, ProdOp)
    CHAINERX_REGISTER_REDUCTION(kAmaxKernel, ReduceSame, MaxOp)
    CHAINERX_REGISTER_REDUCTION(kAminKernel, ReduceSame, MinOp)
    CHAINERX_REGISTER_REDUCTION(kAllKernel, ReduceBool, AllOp)
    CHAINERX_REGISTER_REDUCTION(kAnyKernel, ReduceBool, AnyOp)
    CHAINERX_REGISTER_REDUCTION(kArgmaxKernel, ArgReduce, MaxOp)
    CHAINERX_REGISTER_REDUCTION(kArgminKernel, ArgReduce, MinOp)
    kLogSumExpKernel.Register(backend, &LogSumExp);
}};

}  // namespace chainerx::cuda
