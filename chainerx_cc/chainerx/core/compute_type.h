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

}  // namespace chainerx
