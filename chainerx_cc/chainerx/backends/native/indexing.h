#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Adds the length to negative indices. Returns whether all were in [-length, length).
CHAINERX_ISA_KERNEL(WrapNegative, (int64_t n, const T* in, int64_t length, T* out, bool* all_valid),
                    (n, in, length, out, all_valid))

}  // namespace chainerx::native
