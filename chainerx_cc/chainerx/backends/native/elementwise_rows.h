#pragma once

// The loops of elementwise ops, made from their functors. For *_isa.cc sources only.

#include <cstdint>
#include <type_traits>

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/elementwise_blocks.h"
#include "chainerx/backends/native/kernels/math_loops.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/macro.h"

namespace chainerx::native::CHAINERX_ISA {

// The loop of an op over floating point numbers, where a kernel has a faster one than the compiler makes from the
// functor. Such ops are named in the source of their family, by a specialisation that derives from UnaryLoop
// or BinaryLoop.
template <class Op>
struct LoopOf {
    static constexpr bool kExists = false;
};

template <UnaryMath function>
struct UnaryLoop {
    static constexpr bool kExists = true;
    template <class T>
    CHAINERX_INLINE static void Run(int64_t n, const T* x, T* y) {
        CHAINERX_ISA::UnaryMathLoop<T>(function, n, x, y);
    }
};

template <BinaryMath function>
struct BinaryLoop {
    static constexpr bool kExists = true;
    template <class T>
    CHAINERX_INLINE static void Run(int64_t n, const T* x1, int64_t step1, const T* x2, int64_t step2, T* y) {
        CHAINERX_ISA::BinaryMathLoop<T>(function, n, x1, step1, x2, step2, y);
    }
};

// Ops that compute faster for certain values of a second argument that is a number.
template <class Op, class = void>
struct HasSpecialNumbers : std::false_type {};
template <class Op>
struct HasSpecialNumbers<Op, std::void_t<typename Op::SpecialNumbers>> : std::true_type {};

// The loops of one op for one dtype. Operands are contiguous or, where there is a loop for it, one number; others are
// brought into that form block by block.
template <class Op, class T>
struct ElementwiseRow {
    using C = typename ComputeType<T>::type;
    using RC = std::conditional_t<Op::kBoolOut, bool, C>;
    template <int I>
    using Input = std::conditional_t<Op::kIsSelect && I == 0, bool, C>;

    // A row function.
    static void Run(const void* op_, int64_t n, char* const* data, const int64_t* strides) {
        if constexpr (!kIsHalf<T>) {
            bool fixed[3];
            if (CHAINERX_LIKELY(IsDirect(strides, fixed))) {
                return Loop(*static_cast<const Op*>(op_), n, data, fixed);
            }
        }
        using Blocks = ElementwiseBlocks<typename BlockElement<T>::type, Op::kBoolOut>;
        Blocks::Run(&ElementwiseRow<Op, C>::Run, op_, Op::kArity, Op::kIsSelect, n, data, strides);
    }

private:
    // Whether there is a loop for operands with these strides, contiguous or one number.
    CHAINERX_INLINE static bool IsDirect(const int64_t* strides, bool* fixed) {
        bool direct = strides[0] == sizeof(RC);
        for (int i = 0; i < Op::kArity; ++i) {
            int64_t size = Op::kIsSelect && i == 0 ? sizeof(bool) : sizeof(T);
            fixed[i] = strides[i + 1] == 0;
            direct = direct && (fixed[i] || strides[i + 1] == size);
        }
        return direct && IsElementwiseLoop(Op::kArity, fixed);
    }

    static constexpr bool kHasLoop = LoopOf<Op>::kExists && std::is_floating_point_v<C>;

    CHAINERX_INLINE static void Loop(const Op& op, int64_t n, char* const* data, const bool* fixed) {
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

    CHAINERX_INLINE static bool SpecialNumber(int64_t n, const C* a, C number, C* out) {
        return Op::SpecialNumbers::Visit(
                number, [&](auto f) __attribute__((always_inline)) {
#pragma GCC ivdep
                    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
                });
    }
};

template <class Op, class T>
constexpr RowFunction RowOf() {
    if constexpr (Contains(Op::kDtypes, DtypeOf<T>::value)) {
        using Element = std::conditional_t<Op::kIsSignless, typename Unsigned<T>::type, T>;
        return &ElementwiseRow<Op, Element>::Run;
    } else {
        return nullptr;
    }
}

template <class Op>
void GetRows(RowTable* rows) {
    *rows = {
#define CHAINERX_X(type, name, kind, str, ch) RowOf<Op, type>(),
            CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
    };
}

#define CHAINERX_INSTANTIATE_ROWS(Op) template void GetRows<ops::Op>(RowTable*);

}  // namespace chainerx::native::CHAINERX_ISA
