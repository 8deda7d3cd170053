#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "chainerx/backends/native/kernels/half.h"
#include "chainerx/backends/native/kernels/math_loops.h"
#include "chainerx/backends/native/multiversion.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/elementwise.h"

namespace chainerx::native {

// Processes `n` elements: pointers and strides (bytes) of the output and the inputs.
using RowFunction = void (*)(const void* op, int64_t n, char* const* data, const int64_t* strides);

// Runs a row function over all elements of a call.
void RunRows(const ElementwiseCall& call, RowFunction row);

// What a functor computes in: half precision values are widened.
template <class T>
struct ComputeType {
    using type = T;
};
template <>
struct ComputeType<Float16> {
    using type = float;
};

// Elements of a block in which operands are brought into the form that the loops take.
constexpr int64_t kElementwiseBlock = 1024;

// Copies between contiguous memory and elements `stride` bytes apart.
template <class T>
CHAINERX_HOST_DEVICE void Gather(int64_t n, const char* from, int64_t stride, T* to) {
    const T* p = reinterpret_cast<const T*>(from);
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    if (stride == 2 * kSize) {
        // This and the next are vector loads and shuffles.
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = p[2 * i];
    } else if (stride == -kSize) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = p[-i];
    } else {
        for (int64_t i = 0; i < n; ++i, from += stride) to[i] = *reinterpret_cast<const T*>(from);
    }
}
template <class T>
CHAINERX_HOST_DEVICE void ScatterTo(int64_t n, const T* from, char* to, int64_t stride) {
    for (int64_t i = 0; i < n; ++i, to += stride) *reinterpret_cast<T*>(to) = from[i];
}

// The loop of an op over floating point numbers, where a kernel has a faster one than the compiler makes from the
// functor. Such ops are named beside the registration of their family, by a specialisation that derives from UnaryLoop
// or BinaryLoop.
template <class Op>
struct LoopOf {
    static constexpr bool kExists = false;
};

template <UnaryMath function>
struct UnaryLoop {
    static constexpr bool kExists = true;
    template <class T>
    static void Run(int64_t n, const T* x, T* y) {
        UnaryMathLoop<T>(function, n, x, y);
    }
};

template <BinaryMath function>
struct BinaryLoop {
    static constexpr bool kExists = true;
    template <class T>
    static void Run(int64_t n, const T* x1, int64_t step1, const T* x2, int64_t step2, T* y) {
        BinaryMathLoop<T>(function, n, x1, step1, x2, step2, y);
    }
};

// Ops that compute faster for certain values of a second argument that is a number.
template <class Op, class = void>
struct HasSpecialNumbers : std::false_type {};
template <class Op>
struct HasSpecialNumbers<Op, std::void_t<typename Op::SpecialNumbers>> : std::true_type {};

// The loops of one op for one dtype. Inputs have the type T, but the condition of a selection is bool. Operands are
// contiguous or, where there is a loop for it, one number; others are brought into that form block by block.
template <class Op, class T>
struct ElementwiseRow {
    using C = typename ComputeType<T>::type;
    static constexpr bool kIsHalf = std::is_same_v<T, Float16>;
    using R = std::conditional_t<Op::kBoolOut, bool, T>;   // in memory
    using RC = std::conditional_t<Op::kBoolOut, bool, C>;  // of the loops
    template <int I>
    using Input = std::conditional_t<Op::kIsSelect && I == 0, bool, C>;

    CHAINERX_HOST_DEVICE static void Run(const void* op_, int64_t n, char* const* data, const int64_t* strides) {
        const Op& op = *static_cast<const Op*>(op_);
        if constexpr (!kIsHalf) {
            bool fixed[3];
            bool direct = strides[0] == sizeof(R);
            for (int i = 0; i < Op::kArity; ++i) {
                fixed[i] = strides[i + 1] == 0;
                direct = direct && (fixed[i] || strides[i + 1] == Size(i));
            }
            if (CHAINERX_LIKELY(direct && IsLoop(fixed))) return Loop(op, n, data, fixed);
        }
        Blocks(op, n, data, strides);
    }

private:
    static constexpr bool kHasLoop = LoopOf<Op>::kExists && std::is_floating_point_v<C>;

    static constexpr int64_t Size(int i) { return Op::kIsSelect && i == 0 ? sizeof(bool) : sizeof(T); }

    // Whether there is a loop for these operands being numbers.
    CHAINERX_HOST_DEVICE static bool IsLoop(const bool* fixed) {
        if constexpr (Op::kArity == 1) {
            return !fixed[0];
        } else if constexpr (Op::kArity == 2) {
            return !(fixed[0] && fixed[1]);
        } else {
            return !fixed[0] && (fixed[2] || !fixed[1]);
        }
    }

    CHAINERX_HOST_DEVICE static void Loop(const Op& op, int64_t n, char* const* data, const bool* fixed) {
        RC* out = reinterpret_cast<RC*>(data[0]);
        if constexpr (Op::kArity == 1) {
            const C* a = reinterpret_cast<const C*>(data[1]);
            if constexpr (kHasLoop) {
                LoopOf<Op>::template Run<C>(n, a, out);
            } else {
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = op.Forward(a[i]);
            }
        } else if constexpr (Op::kArity == 2) {
            const C* a = reinterpret_cast<const C*>(data[1]);
            const C* b = reinterpret_cast<const C*>(data[2]);
            if constexpr (HasSpecialNumbers<Op>::value && std::is_floating_point_v<C>) {
                if (fixed[1] && SpecialNumber(n, a, *b, out)) return;
            }
            if constexpr (kHasLoop) {
                LoopOf<Op>::template Run<C>(n, a, fixed[0] ? 0 : 1, b, fixed[1] ? 0 : 1, out);
            } else if (fixed[0]) {
                const C number = *a;
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = op.Forward(number, b[i]);
            } else if (fixed[1]) {
                const C number = *b;
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = op.Forward(a[i], number);
            } else {
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = op.Forward(a[i], b[i]);
            }
        } else {
            const auto* c = reinterpret_cast<const Input<0>*>(data[1]);
            const C* a = reinterpret_cast<const C*>(data[2]);
            const C* b = reinterpret_cast<const C*>(data[3]);
            if (fixed[1]) {
                const C low = *a;
                const C high = *b;
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = op.Forward(c[i], low, high);
            } else if (fixed[2]) {
                const C number = *b;
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = op.Forward(c[i], a[i], number);
            } else {
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = op.Forward(c[i], a[i], b[i]);
            }
        }
    }

    CHAINERX_HOST_DEVICE static bool SpecialNumber(int64_t n, const C* a, C number, C* out) {
        return Op::SpecialNumbers::Visit(
                number, [&](auto f) __attribute__((always_inline)) {
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
                });
    }

    // Any strides, and half precision.
    CHAINERX_HOST_DEVICE static void Blocks(const Op& op, int64_t n, char* const* data, const int64_t* strides) {
        C buffers[Op::kArity + 1][kElementwiseBlock];
        bool fixed[3];
        for (int k = 0; k < Op::kArity; ++k) fixed[k] = strides[k + 1] == 0;
        if (!IsLoop(fixed)) fixed[0] = fixed[1] = false;
        for (int64_t i = 0; i < n; i += kElementwiseBlock) {
            int64_t count = std::min(n - i, kElementwiseBlock);
            char* p[4];
            bool buffered = (kIsHalf && !Op::kBoolOut) || strides[0] != sizeof(R);
            char* out = data[0] + i * strides[0];
            p[0] = buffered ? reinterpret_cast<char*>(buffers[Op::kArity]) : out;
            for (int k = 0; k < Op::kArity; ++k) {
                int64_t stride = strides[k + 1];
                char* in = data[k + 1] + i * stride;
                char* buffer = reinterpret_cast<char*>(buffers[k]);
                if (Op::kIsSelect && k == 0) {
                    p[1] = fixed[0] || stride == 1 ? in : buffer;
                    if (p[1] == buffer) Gather(count, in, stride, reinterpret_cast<bool*>(buffer));
                } else {
                    p[k + 1] = Bring(fixed[k] ? 1 : count, in, stride, buffers[k]);
                }
            }
            Loop(op, count, p, fixed);
            if (buffered) Deliver(count, reinterpret_cast<const RC*>(p[0]), out, strides[0]);
        }
    }

    // Elements as the loops take them.
    CHAINERX_HOST_DEVICE static char* Bring(int64_t n, char* in, int64_t stride, C* buffer) {
        if constexpr (kIsHalf) {
            uint16_t halves[kElementwiseBlock];
            const auto* from = reinterpret_cast<const uint16_t*>(in);
            if (stride != sizeof(T)) {
                Gather(n, in, stride, halves);
                from = halves;
            }
            ConvertFromHalf(n, from, buffer);
        } else {
            if (n == 1 || stride == sizeof(T)) return in;
            Gather(n, in, stride, buffer);
        }
        return reinterpret_cast<char*>(buffer);
    }

    CHAINERX_HOST_DEVICE static void Deliver(int64_t n, const RC* from, char* out, int64_t stride) {
        if constexpr (kIsHalf && !Op::kBoolOut) {
            uint16_t halves[kElementwiseBlock];
            auto* to = reinterpret_cast<uint16_t*>(out);
            ConvertToHalf(n, from, stride == sizeof(T) ? to : halves);
            if (stride != sizeof(T)) ScatterTo(n, halves, out, stride);
        } else {
            ScatterTo(n, from, out, stride);
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
inline const RowTable g_rows = MakeRowTable<Op>();

template <class Op>
void ElementwiseKernelOf(const ElementwiseCall& call) {
    RunRows(call, g_rows<Op>[static_cast<int>(call.dtype)]);
}

// Makes the kernel of an op from its functor.
template <class Op>
void RegisterElementwise(Backend& backend) {
    Op::kernel().Register(backend, &ElementwiseKernelOf<Op>);
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
