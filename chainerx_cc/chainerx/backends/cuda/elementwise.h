#pragma once

// Makes the kernels of elementwise operations from their functors. For sources of families.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/layout.h"
#include "chainerx/backends/cuda/pack.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/core/dtype.h"
#include "chainerx/ops/elementwise.h"

namespace chainerx::cuda {

// The types of one op for one dtype. Inputs have the type T, but the condition of a selection is bool.
template <class Op, class T>
struct ElementTypes {
    using Result = std::conditional_t<Op::kBoolOut, bool, T>;
    template <int I>
    using Input = std::conditional_t<Op::kIsSelect && I == 0, bool, T>;
    // Elements of a thread: 16 bytes of the widest operand.
    static constexpr int kCount = 16 / sizeof(T);
};

template <class T>
__device__ auto Widen(T x) {
    return static_cast<typename ComputeType<T>::type>(x);
}

template <class R, class Op, class... C>
__device__ R Apply(const Op& op, C... x) {
    auto y = op.Forward(x...);
    return Convert<decltype(y), R>(y);
}

// Gives f the function of x1 for ops that compute in another way for certain numbers x2; whether this is one.
template <class Op, class C, class F>
__device__ auto VisitSpecialNumber(C x2, const F& f, int) -> decltype(Op::SpecialNumbers::Visit(x2, f)) {
    return Op::SpecialNumbers::Visit(x2, f);
}
template <class Op, class C, class F>
__device__ bool VisitSpecialNumber(C, const F&, long) {
    return false;
}

// `is_number`: whether all elements have this x2.
template <class R, class Op, class C>
__device__ R ApplyPair(const Op& op, C x1, C x2, bool is_number) {
    if constexpr (std::is_floating_point_v<C>) {
        R y{};
        auto compute = [&](auto f) { y = Convert<C, R>(f(x1)); };
        if (is_number && VisitSpecialNumber<Op>(x2, compute, 0)) return y;
    }
    return Apply<R>(op, x1, x2);
}

// Contiguous operands, or one element for all.
template <int N>
struct FlatOperands {
    char* out;
    const char* in[N];  // null: a number
    bool fixed[N];
    alignas(8) char numbers[N][8];
    bool aligned;  // all addresses fit accesses of Packs

    CHAINERX_HOST_DEVICE bool IsNumber(int k) const { return in[k] == nullptr || fixed[k]; }
};

template <class T, int N>
__device__ void LoadFlat(const char* data, bool fixed, const char* number, int64_t first, int count, bool whole,
                         Pack<T, N>* to) {
    if (data == nullptr || fixed) {
        T value = *reinterpret_cast<const T*>(data == nullptr ? number : data);
#pragma unroll
        for (int j = 0; j < N; ++j) to->values[j] = value;
        return;
    }
    *to = LoadPack<N>(reinterpret_cast<const T*>(data) + first, count, whole);
}

template <class Op, class T>
__global__ void FlatKernel(const __grid_constant__ Op op, int64_t n,
                           const __grid_constant__ FlatOperands<Op::kArity> operands) {
    using Types = ElementTypes<Op, T>;
    using R = typename Types::Result;
    constexpr int kCount = Types::kCount;
    int64_t first = ThreadIndex() * kCount;
    if (first >= n) return;
    int count = n - first < kCount ? static_cast<int>(n - first) : kCount;
    bool whole = operands.aligned && count == kCount;
    Pack<typename Types::template Input<0>, kCount> x0;
    Pack<T, kCount> x1;
    Pack<T, kCount> x2;
    Pack<R, kCount> y;
    LoadFlat(operands.in[0], operands.fixed[0], operands.numbers[0], first, count, whole, &x0);
    if constexpr (Op::kArity > 1) {
        LoadFlat(operands.in[1], operands.fixed[1], operands.numbers[1], first, count, whole, &x1);
    }
    if constexpr (Op::kArity > 2) {
        LoadFlat(operands.in[2], operands.fixed[2], operands.numbers[2], first, count, whole, &x2);
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
        if (j >= count) break;
        if constexpr (Op::kArity == 1) {
            y.values[j] = Apply<R>(op, Widen(x0.values[j]));
        } else if constexpr (Op::kArity == 2) {
            y.values[j] = ApplyPair<R>(op, Widen(x0.values[j]), Widen(x1.values[j]), operands.IsNumber(1));
        } else {
            y.values[j] = Apply<R>(op, Widen(x0.values[j]), Widen(x1.values[j]), Widen(x2.values[j]));
        }
    }
    StorePack(y, reinterpret_cast<R*>(operands.out) + first, count, whole);
}

// Operands with any strides.
template <class Op, class T>
__global__ void StridedKernel(const __grid_constant__ Op op, uint32_t n,
                              const __grid_constant__ Layout<Op::kArity + 1> layout,
                              const __grid_constant__ FlatOperands<Op::kArity> operands) {
    using Types = ElementTypes<Op, T>;
    using R = typename Types::Result;
    auto i = static_cast<uint32_t>(ThreadIndex());
    if (i >= n) return;
    int64_t offsets[Op::kArity + 1];
    layout.GetOffsets(i, offsets);
    const char* x[Op::kArity];
#pragma unroll
    for (int k = 0; k < Op::kArity; ++k) {
        x[k] = operands.in[k] == nullptr ? operands.numbers[k] : operands.in[k] + offsets[k + 1];
    }
    R* out = reinterpret_cast<R*>(operands.out + offsets[0]);
    auto x0 = Widen(*reinterpret_cast<const typename Types::template Input<0>*>(x[0]));
    if constexpr (Op::kArity == 1) {
        *out = Apply<R>(op, x0);
    } else {
        auto x1 = Widen(*reinterpret_cast<const T*>(x[1]));
        if constexpr (Op::kArity == 2) {
            *out = ApplyPair<R>(op, x0, x1, operands.IsNumber(1));
        } else {
            *out = Apply<R>(op, x0, x1, Widen(*reinterpret_cast<const T*>(x[2])));
        }
    }
}

template <class Op, class T>
void RunTyped(const ElementwiseCall& call) {
    constexpr int kArity = Op::kArity;
    using Types = ElementTypes<Op, T>;
    const Op& op = *static_cast<const Op*>(call.op);
    const Array& out = *call.out;
    int64_t n = out.GetTotalSize();
    FlatOperands<kArity> operands;
    operands.out = out.raw_data();
    bool flat = out.IsContiguous();
    auto addresses = reinterpret_cast<uintptr_t>(out.raw_data()) % (Types::kCount * out.GetItemSize());
    for (int k = 0; k < kArity; ++k) {
        const Array* a = call.in[k];
        std::memcpy(operands.numbers[k], call.scalars[k], sizeof(operands.numbers[k]));  // no complex ones
        operands.in[k] = a == nullptr ? nullptr : a->raw_data();
        operands.fixed[k] = a != nullptr && a->GetTotalSize() == 1;
        if (a == nullptr || operands.fixed[k]) continue;
        flat = flat && a->IsContiguous() && a->shape() == out.shape();
        addresses |= reinterpret_cast<uintptr_t>(a->raw_data()) % (Types::kCount * a->GetItemSize());
    }
    operands.aligned = addresses == 0;
    if (flat) {
        Launch(Op::kName, out.device(), BlocksFor((n + Types::kCount - 1) / Types::kCount), kBlock, &FlatKernel<Op, T>,
               op, n, operands);
        return;
    }
    Strides strides[kArity + 1];
    char* data[kArity + 1];
    strides[0] = out.strides();
    data[0] = out.raw_data();
    for (int k = 0; k < kArity; ++k) {
        const Array* a = call.in[k];
        strides[k + 1] =
                a == nullptr ? Strides(out.ndim(), 0) : BroadcastStrides(a->shape(), a->strides(), out.shape());
        data[k + 1] = a == nullptr ? nullptr : a->raw_data();
    }
    ForParts(LoopNest{out.shape(), kArity + 1, strides}, data, [&](const LoopNest& nest, char* const* p) {
        operands.out = p[0];
        for (int k = 0; k < kArity; ++k) operands.in[k] = p[k + 1];
        Launch(Op::kName, out.device(), BlocksFor(nest.size), kBlock, &StridedKernel<Op, T>, op,
               static_cast<uint32_t>(nest.size), Layout<kArity + 1>{nest}, operands);
    });
}

template <class Op>
void RunElementwise(const ElementwiseCall& call) {
    if (call.out->GetTotalSize() == 0) return;
    VisitDtype(call.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (Contains(Op::kDtypes, DtypeOf<T>::value)) RunTyped<Op, T>(call);
    });
}

// Makes the kernel of an op.
template <class Op>
void RegisterElementwise(Backend& backend) {
    Op::kernel().Register(backend, &RunElementwise<Op>);
}

#define CHAINERX_REGISTER_ELEMENTWISE(Op) RegisterElementwise<ops::Op>(backend);

}  // namespace chainerx::cuda
