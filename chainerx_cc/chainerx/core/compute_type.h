#pragma once

#include "chainerx/core/float16.h"

namespace chainerx {

// What a functor computes in: half precision values are widened.
template <class T>
struct ComputeType {
    using type = T;
};
template <>
struct ComputeType<Float16> {
    using type = float;
};

}  // namespace chainerx
