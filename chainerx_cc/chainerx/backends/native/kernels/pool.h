#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// N-d pooling of x (batch, in_channels, in...) to y (batch, in_channels, out...), ndim >= 1. Windows start at o *
// stride - pad; The caller chooses `out`, so windows may reach beyond the end (cover_all). Ignores groups and
// out_channels of the shape.

enum class PoolPadding {
    kZero,    // the padding counts as zeros: sums are divided by the size of the window
    kIgnore,  // sums are divided by the number of elements inside x; 0 where there is none
};

// The maxima; a NaN is the greatest. `index`, shaped as y, gets the offset of each within its image, the first one
// among equals, or -1 for a window wholly outside x, where y is -infinity. It may be null.
CHAINERX_ISA_KERNEL(MaxPoolForward, (const ConvShape& shape, const T* x, T* y, int64_t* index), (shape, x, y, index))

// gx (as x) from gy and index (as y)
CHAINERX_ISA_KERNEL(MaxPoolBackward, (const ConvShape& shape, const T* gy, const int64_t* index, T* gx),
                    (shape, gy, index, gx))

CHAINERX_ISA_KERNEL(AveragePoolForward, (const ConvShape& shape, PoolPadding padding, const T* x, T* y),
                    (shape, padding, x, y))
CHAINERX_ISA_KERNEL(AveragePoolBackward, (const ConvShape& shape, PoolPadding padding, const T* gy, T* gx),
                    (shape, padding, gy, gx))

}  // namespace chainerx::native
