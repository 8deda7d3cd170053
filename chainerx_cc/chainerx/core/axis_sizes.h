#pragma once

#include <cstdint>

#include "chainerx/core/macro.h"
#include "chainerx/core/shape.h"

namespace chainerx {

// A contiguous array as one of shape (outer, n, inner), in which the axis is the middle one.
struct AxisSizes {
    int64_t outer{1};
    int64_t n;
    int64_t inner{1};

    AxisSizes(const Shape& shape, int axis) : n{shape[axis]} {
        for (int i = 0; i < axis; ++i) outer *= shape[i];
        for (int i = axis + 1; i < shape.ndim(); ++i) inner *= shape[i];
    }
    CHAINERX_HOST_DEVICE int64_t rows() const { return outer * inner; }
};

}  // namespace chainerx
