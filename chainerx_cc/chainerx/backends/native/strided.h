#pragma once

// For *_isa.cc sources only.

#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx::native::CHAINERX_ISA {

// Copies between contiguous memory and elements `stride` bytes apart.
template <class T>
CHAINERX_INLINE void Gather(int64_t n, const char* from, int64_t stride, T* to) {
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
CHAINERX_INLINE void ScatterTo(int64_t n, const T* from, char* to, int64_t stride) {
    for (int64_t i = 0; i < n; ++i, to += stride) *reinterpret_cast<T*>(to) = from[i];
}

}  // namespace chainerx::native::CHAINERX_ISA
