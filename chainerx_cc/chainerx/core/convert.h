#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/compute_type.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// An integer that rounds to bfloat16 as the given one, and that float64 has.
template <class T>
CHAINERX_HOST_DEVICE double ToStickyDouble(T v) {
    if constexpr (sizeof(T) < 8) {
        return v;
    } else {
        // Of a large one, the last bits only tell that there are any.
        constexpr T kExact = T{1} << 53;
        bool is_large = v > kExact || (std::is_signed_v<T> && v < -kExact);
        T low = v & T{0x7ff};
        T sticky = (v - low) | (low != 0 ? T{0x800} : T{0});
        return static_cast<double>(is_large ? sticky : v);
    }
}

// Converts one element as NumPy does.
template <class From, class To>
CHAINERX_HOST_DEVICE To Convert(From v) {
    if constexpr (std::is_same_v<From, To>) {
        return v;
    } else if constexpr (kIsHalf<To>) {
        if constexpr (std::is_same_v<From, double>) {
            return To{v};
        } else if constexpr (std::is_same_v<To, Bfloat16> && std::is_integral_v<From> && sizeof(From) >= 4) {
            return To{ToStickyDouble(v)};  // float32 would round, too
        } else {
            return To{static_cast<float>(v)};
        }
    } else if constexpr (kIsHalf<From>) {
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

template <class T>
struct PartOf {
    using type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
    using type = T;
};

// The same for complex numbers, too, on the host. Those that become real lose their imaginary part.
template <class From, class To>
CHAINERX_INLINE To ConvertAny(From v) {
    using FromPart = typename PartOf<From>::type;
    using ToPart = typename PartOf<To>::type;
    if constexpr (std::is_same_v<FromPart, From> && std::is_same_v<ToPart, To>) {
        return Convert<From, To>(v);
    } else if constexpr (std::is_same_v<FromPart, From>) {
        return To{Convert<From, ToPart>(v), ToPart{0}};
    } else if constexpr (!std::is_same_v<ToPart, To>) {
        return To{static_cast<ToPart>(v.real()), static_cast<ToPart>(v.imag())};
    } else if constexpr (std::is_same_v<To, bool>) {
        return v != From{};
    } else {
        return Convert<FromPart, To>(v.real());
    }
}

}  // namespace chainerx
