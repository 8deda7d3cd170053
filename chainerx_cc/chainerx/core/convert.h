#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/core/float16.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Converts one element as NumPy does.
template <class From, class To>
CHAINERX_HOST_DEVICE To Convert(From v) {
    if constexpr (std::is_same_v<From, To>) {
        return v;
    } else if constexpr (std::is_same_v<To, Float16>) {
        if constexpr (std::is_same_v<From, double>) {
            return Float16{v};
        } else {
            return Float16{static_cast<float>(v)};
        }
    } else if constexpr (std::is_same_v<From, Float16>) {
        return Convert<float, To>(static_cast<float>(v));
    } else if constexpr (std::is_same_v<To, bool>) {
        return v != From{};
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 8) {
        // Through int64, so that values out of range wrap as they do between integers.
        return static_cast<To>(static_cast<int64_t>(v));
    } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint64_t>) {
        return v < 0 ? static_cast<To>(static_cast<int64_t>(v)) : static_cast<To>(v);
    } else {
        return static_cast<To>(v);
    }
}

}  // namespace chainerx
