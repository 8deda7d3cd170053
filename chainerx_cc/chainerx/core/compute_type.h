#pragma once

#include <type_traits>

#include "chainerx/core/bfloat16.h"
#include "chainerx/core/float16.h"

namespace chainerx {

// Half precision: types that are only stored. They convert to float without loss.
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

// What a functor computes in: half precision values are widened.
template <class T>
struct ComputeType {
    using type = std::conditional_t<kIsHalf<T>, float, T>;
};

// Of an integer type, the one of its width without a sign. Loops that give the same bits for both need only that one.
template <class T, bool = std::is_integral_v<T> && !std::is_same_v<T, bool>>
struct Unsigned {
    using type = T;
};
template <class T>
struct Unsigned<T, true> {
    using type = std::make_unsigned_t<T>;
};

}  // namespace chainerx
