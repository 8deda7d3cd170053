#pragma once

// Rows of half precision to and from the dtypes in which they are computed. For *_isa.cc sources only.

#include <cstdint>
#include <type_traits>

#include "chainerx/backends/native/kernels/half.h"
#include "chainerx/core/compute_type.h"

namespace chainerx::native::CHAINERX_ISA {

// T: Float16 or Bfloat16; C: float or double.
template <class T, class C>
CHAINERX_INLINE void Widen(int64_t n, const T* from, C* to) {
    const auto* bits = reinterpret_cast<const uint16_t*>(from);
    if constexpr (std::is_same_v<T, Float16>) {
        CHAINERX_ISA::ConvertFromHalf<C>(n, bits, to);
    } else {
        CHAINERX_ISA::ConvertFromBfloat16<C>(n, bits, to);
    }
}

template <class T, class C>
CHAINERX_INLINE void Narrow(int64_t n, const C* from, T* to) {
    auto* bits = reinterpret_cast<uint16_t*>(to);
    if constexpr (std::is_same_v<T, Float16>) {
        CHAINERX_ISA::ConvertToHalf<C>(n, from, bits);
    } else {
        CHAINERX_ISA::ConvertToBfloat16<C>(n, from, bits);
    }
}

}  // namespace chainerx::native::CHAINERX_ISA
