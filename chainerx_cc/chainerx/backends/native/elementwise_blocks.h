#pragma once

// Operands that loops of elementwise ops do not take, brought into a form that they take. For *_isa.cc sources only.

#include <cstdint>
#include <type_traits>

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/half_rows.h"
#include "chainerx/backends/native/strided.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/macro.h"

namespace chainerx::native::CHAINERX_ISA {

// Elements of a block in which operands are brought into the form that the loops take.
constexpr int64_t kElementwiseBlock = 1024;

// Whether there is a loop for operands some of which are numbers.
CHAINERX_INLINE bool IsElementwiseLoop(int arity, const bool* fixed) {
    if (arity == 1) return !fixed[0];
    if (arity == 2) return !(fixed[0] && fixed[1]);
    return !fixed[0] && (fixed[2] || !fixed[1]);
}

// What blocks are copied as: half precision is widened, others are only bits of some width.
template <class T>
struct BlockElement {
    using Wide = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    using Narrow = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
    using type = std::conditional_t<kIsHalf<T>, T, std::conditional_t<sizeof(T) >= 4, Wide, Narrow>>;
};

// Runs ops block by block. All ops with inputs of BlockElement T, and results of T or bool, have it in common.
template <class T, bool kBoolOut>
struct ElementwiseBlocks {
    using C = std::conditional_t<kIsHalf<T>, float, T>;
    using R = std::conditional_t<kBoolOut, bool, T>;   // in memory
    using RC = std::conditional_t<kBoolOut, bool, C>;  // of the loops

    // `row`: the op's row function for elements as wide as C, called for each block. The first input of a selection is
    // bool.
    __attribute__((noinline)) static void Run(RowFunction row, const void* op, int arity, bool is_select, int64_t n,
                                              char* const* data, const int64_t* strides) {
        C buffers[4][kElementwiseBlock];
        bool fixed[3];
        for (int k = 0; k < arity; ++k) fixed[k] = strides[k + 1] == 0;
        if (!IsElementwiseLoop(arity, fixed)) fixed[0] = fixed[1] = false;
        int64_t steps[4] = {sizeof(RC)};
        for (int k = 0; k < arity; ++k) {
            int64_t size = is_select && k == 0 ? sizeof(bool) : sizeof(C);
            steps[k + 1] = fixed[k] ? 0 : size;
        }
        for (int64_t i = 0; i < n; i += kElementwiseBlock) {
            int64_t count = n - i < kElementwiseBlock ? n - i : kElementwiseBlock;
            char* p[4];
            bool buffered = (kIsHalf<T> && !kBoolOut) || strides[0] != sizeof(R);
            char* out = data[0] + i * strides[0];
            p[0] = buffered ? reinterpret_cast<char*>(buffers[3]) : out;
            for (int k = 0; k < arity; ++k) {
                int64_t stride = strides[k + 1];
                char* in = data[k + 1] + i * stride;
                if (is_select && k == 0) {
                    p[1] = BringCondition(fixed[0] ? 1 : count, in, stride, reinterpret_cast<bool*>(buffers[0]));
                } else {
                    p[k + 1] = Bring(fixed[k] ? 1 : count, in, stride, buffers[k]);
                }
            }
            row(op, count, p, steps);
            if (buffered) Deliver(count, reinterpret_cast<const RC*>(p[0]), out, strides[0]);
        }
    }

private:
    // Elements as the loops take them.
    CHAINERX_INLINE static char* Bring(int64_t n, char* in, int64_t stride, C* buffer) {
        if constexpr (kIsHalf<T>) {
            T halves[kElementwiseBlock];
            const T* from = reinterpret_cast<const T*>(in);
            if (stride != sizeof(T)) {
                Gather(n, in, stride, halves);
                from = halves;
            }
            Widen(n, from, buffer);
        } else {
            if (n == 1 || stride == sizeof(T)) return in;
            Gather(n, in, stride, buffer);
        }
        return reinterpret_cast<char*>(buffer);
    }
    CHAINERX_INLINE static char* BringCondition(int64_t n, char* in, int64_t stride, bool* buffer) {
        if (n == 1 || stride == sizeof(bool)) return in;
        Gather(n, in, stride, buffer);
        return reinterpret_cast<char*>(buffer);
    }

    CHAINERX_INLINE static void Deliver(int64_t n, const RC* from, char* out, int64_t stride) {
        if constexpr (kIsHalf<T> && !kBoolOut) {
            T halves[kElementwiseBlock];
            Narrow(n, from, stride == sizeof(T) ? reinterpret_cast<T*>(out) : halves);
            if (stride != sizeof(T)) ScatterTo(n, halves, out, stride);
        } else {
            ScatterTo(n, from, out, stride);
        }
    }
};

}  // namespace chainerx::native::CHAINERX_ISA
