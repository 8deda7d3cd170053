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

// What the loops of an op take depends on nothing but this, so ops have it in common. Inputs have the type T, but the
// condition of a selection is bool.
template <class T, int kArity, bool kBoolOut, bool kIsSelect>
struct ElementwiseOperands {
    using C = typename ComputeType<T>::type;
    using R = std::conditional_t<kBoolOut, bool, T>;   // in memory
    using RC = std::conditional_t<kBoolOut, bool, C>;  // of the loops

    // Whether there is a loop for operands with these strides, contiguous or one number.
    CHAINERX_INLINE static bool IsDirect(const int64_t* strides, bool* fixed) {
        bool direct = strides[0] == sizeof(R);
        for (int i = 0; i < kArity; ++i) {
            fixed[i] = strides[i + 1] == 0;
            direct = direct && (fixed[i] || strides[i + 1] == Size<T>(i));
        }
        return direct && IsLoop(fixed);
    }

    // Any strides, and half precision. `row`: the op's row function for the dtype of C, called for each block.
    __attribute__((noinline)) static void RunBlocks(RowFunction row, const void* op, int64_t n, char* const* data,
                                                    const int64_t* strides) {
        C buffers[kArity + 1][kElementwiseBlock];
        bool fixed[3];
        for (int k = 0; k < kArity; ++k) fixed[k] = strides[k + 1] == 0;
        if (!IsLoop(fixed)) fixed[0] = fixed[1] = false;
        int64_t steps[4] = {sizeof(RC)};
        for (int k = 0; k < kArity; ++k) steps[k + 1] = fixed[k] ? 0 : Size<C>(k);
        for (int64_t i = 0; i < n; i += kElementwiseBlock) {
            int64_t count = n - i < kElementwiseBlock ? n - i : kElementwiseBlock;
            char* p[4];
            bool buffered = (kIsHalf<T> && !kBoolOut) || strides[0] != sizeof(R);
            char* out = data[0] + i * strides[0];
            p[0] = buffered ? reinterpret_cast<char*>(buffers[kArity]) : out;
            for (int k = 0; k < kArity; ++k) {
                int64_t stride = strides[k + 1];
                char* in = data[k + 1] + i * stride;
                char* buffer = reinterpret_cast<char*>(buffers[k]);
                if (kIsSelect && k == 0) {
                    p[1] = fixed[0] || stride == 1 ? in : buffer;
                    if (p[1] == buffer) Gather(count, in, stride, reinterpret_cast<bool*>(buffer));
                } else {
                    p[k + 1] = Bring(fixed[k] ? 1 : count, in, stride, buffers[k]);
                }
            }
            row(op, count, p, steps);
            if (buffered) Deliver(count, reinterpret_cast<const RC*>(p[0]), out, strides[0]);
        }
    }

private:
    template <class E>
    static constexpr int64_t Size(int i) {
        return kIsSelect && i == 0 ? sizeof(bool) : sizeof(E);
    }

    // Whether there is a loop for these operands being numbers.
    CHAINERX_INLINE static bool IsLoop(const bool* fixed) {
        if constexpr (kArity == 1) {
            return !fixed[0];
        } else if constexpr (kArity == 2) {
            return !(fixed[0] && fixed[1]);
        } else {
            return !fixed[0] && (fixed[2] || !fixed[1]);
        }
    }

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
