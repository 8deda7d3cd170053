#pragma once

#include <array>
#include <cstdint>

#include "chainerx/backends/native/multiversion.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/elementwise.h"

namespace chainerx::native {

// Processes `n` elements: pointers and strides (bytes) of the output and the inputs.
using RowFunction = void (*)(const void* op, int64_t n, char* const* data, const int64_t* strides);

// Runs a row function over all elements of a call; `cost` is roughly the time of one element in nanoseconds times 4.
void RunRows(const ElementwiseCall& call, RowFunction row, int cost);

// What a functor computes in: half precision values are widened.
template <class T>
struct ComputeType {
    using type = T;
};
template <>
struct ComputeType<Float16> {
    using type = float;
};

template <class T>
CHAINERX_HOST_DEVICE typename ComputeType<T>::type LoadValue(const char* p) {
    return static_cast<typename ComputeType<T>::type>(*reinterpret_cast<const T*>(p));
}

// The loops of one op for one dtype. Inputs have the type T, but the condition of a selection is bool.
template <class Op, class T>
struct ElementwiseRow {
    using C = typename ComputeType<T>::type;
    using R = std::conditional_t<Op::kBoolOut, bool, T>;
    template <int I>
    using Input = std::conditional_t<Op::kIsSelect && I == 0, bool, T>;

    CHAINERX_HOST_DEVICE static void Run(const void* op_, int64_t n, char* const* data, const int64_t* strides) {
        const Op& op = *static_cast<const Op*>(op_);
        if constexpr (Op::kArity == 1) {
            if (strides[0] == sizeof(R) && strides[1] == sizeof(T)) {
                R* out = reinterpret_cast<R*>(data[0]);
                const T* in = reinterpret_cast<const T*>(data[1]);
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = Put(op.Forward(static_cast<C>(in[i])));
                return;
            }
        } else if constexpr (Op::kArity == 2) {
            if (strides[0] == sizeof(R)) {
                R* out = reinterpret_cast<R*>(data[0]);
                const T* a = reinterpret_cast<const T*>(data[1]);
                const T* b = reinterpret_cast<const T*>(data[2]);
                if (strides[1] == sizeof(T) && strides[2] == sizeof(T)) {
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i)
                        out[i] = Put(op.Forward(static_cast<C>(a[i]), static_cast<C>(b[i])));
                    return;
                }
                if (strides[1] == sizeof(T) && strides[2] == 0) {
                    const C bv = static_cast<C>(*b);
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i) out[i] = Put(op.Forward(static_cast<C>(a[i]), bv));
                    return;
                }
                if (strides[1] == 0 && strides[2] == sizeof(T)) {
                    const C av = static_cast<C>(*a);
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i) out[i] = Put(op.Forward(av, static_cast<C>(b[i])));
                    return;
                }
            }
        } else {
            if (strides[0] == sizeof(R) && strides[1] == sizeof(Input<0>)) {
                R* out = reinterpret_cast<R*>(data[0]);
                const auto* c = reinterpret_cast<const Input<0>*>(data[1]);
                const T* a = reinterpret_cast<const T*>(data[2]);
                const T* b = reinterpret_cast<const T*>(data[3]);
                if (strides[2] == sizeof(T) && strides[3] == sizeof(T)) {
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i) {
                        out[i] = Put(op.Forward(First(c[i]), static_cast<C>(a[i]), static_cast<C>(b[i])));
                    }
                    return;
                }
                if (strides[2] == sizeof(T) && strides[3] == 0) {
                    const C bv = static_cast<C>(*b);
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i) out[i] = Put(op.Forward(First(c[i]), static_cast<C>(a[i]), bv));
                    return;
                }
                if (strides[2] == 0 && strides[3] == 0) {
                    const C av = static_cast<C>(*a);
                    const C bv = static_cast<C>(*b);
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i) out[i] = Put(op.Forward(First(c[i]), av, bv));
                    return;
                }
            }
        }
        Strided(op, n, data, strides);
    }

private:
    template <class V>
    CHAINERX_HOST_DEVICE static R Put(V v) {
        return static_cast<R>(v);
    }
    CHAINERX_HOST_DEVICE static bool First(bool v) { return v; }
    template <class V>
    CHAINERX_HOST_DEVICE static C First(V v) {
        return static_cast<C>(v);
    }

    // Any strides; not worth vectorising.
    CHAINERX_HOST_DEVICE static void Strided(const Op& op, int64_t n, char* const* data, const int64_t* s) {
        char* out = data[0];
        if constexpr (Op::kArity == 1) {
            const char* a = data[1];
            for (int64_t i = 0; i < n; ++i, out += s[0], a += s[1]) {
                *reinterpret_cast<R*>(out) = Put(op.Forward(LoadValue<T>(a)));
            }
        } else if constexpr (Op::kArity == 2) {
            const char* a = data[1];
            const char* b = data[2];
            for (int64_t i = 0; i < n; ++i, out += s[0], a += s[1], b += s[2]) {
                *reinterpret_cast<R*>(out) = Put(op.Forward(LoadValue<T>(a), LoadValue<T>(b)));
            }
        } else {
            const char* c = data[1];
            const char* a = data[2];
            const char* b = data[3];
            for (int64_t i = 0; i < n; ++i, out += s[0], c += s[1], a += s[2], b += s[3]) {
                *reinterpret_cast<R*>(out) = Put(op.Forward(LoadValue<Input<0>>(c), LoadValue<T>(a), LoadValue<T>(b)));
            }
        }
    }
};

using RowTable = std::array<RowFunction, kNumDtypes>;

template <class Op, class T>
RowFunction PickRow() {
    if constexpr (Contains(Op::kDtypes, DtypeOf<T>::value)) {
        return MultiVersion<ElementwiseRow<Op, T>, const void*, int64_t, char* const*, const int64_t*>::Pick();
    } else {
        return nullptr;
    }
}

template <class Op>
RowTable MakeRowTable() {
    return {
#define CHAINERX_X(type, name, kind, str, ch) PickRow<Op, type>(),
            CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
    };
}

template <class Op>
inline RowTable g_rows;

template <class Op>
void ElementwiseKernelOf(const ElementwiseCall& call) {
    RunRows(call, g_rows<Op>[static_cast<int>(call.dtype)], 4);
}

// Makes the kernel of an op from its functor.
template <class Op>
void RegisterElementwise(Backend& backend) {
    g_rows<Op> = MakeRowTable<Op>();
    Op::kernel.Register(backend, &ElementwiseKernelOf<Op>);
}

#define CHAINERX_REGISTER_ELEMENTWISE(Op) RegisterElementwise<ops::Op>(backend);

// Loops over views: dimensions that can be merged are merged, and the longest runs go innermost.
struct LoopNest {
    static constexpr int kMaxOperands = kMaxElementwiseInputs + 1;

    LoopNest(const Shape& shape, int n_operands, const Strides* strides);

    int n_operands;
    int ndim{0};
    int64_t size;
    int64_t lengths[kMaxNdim];  // outermost first
    int64_t strides[kMaxNdim][kMaxOperands];

    // Calls f(n, pointers) for the rows among [begin, end) of the outer iterations.
    template <class F>
    void ForRows(char* const* data, int64_t begin, int64_t end, F&& f) const {
        int64_t index[kMaxNdim];
        char* p[kMaxOperands];
        for (int k = 0; k < n_operands; ++k) p[k] = data[k];
        int64_t rest = begin;
        for (int d = ndim - 2; d >= 0; --d) {
            index[d] = rest % lengths[d];
            rest /= lengths[d];
            for (int k = 0; k < n_operands; ++k) p[k] += index[d] * strides[d][k];
        }
        for (int64_t i = begin; i < end; ++i) {
            f(lengths[ndim - 1], p);
            for (int d = ndim - 2; d >= 0; --d) {
                for (int k = 0; k < n_operands; ++k) p[k] += strides[d][k];
                if (++index[d] < lengths[d]) break;
                for (int k = 0; k < n_operands; ++k) p[k] -= lengths[d] * strides[d][k];
                index[d] = 0;
            }
        }
    }
    int64_t OuterSize() const {
        int64_t n = 1;
        for (int d = 0; d < ndim - 1; ++d) n *= lengths[d];
        return n;
    }
};

}  // namespace chainerx::native
