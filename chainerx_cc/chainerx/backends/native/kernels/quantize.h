#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// The least and the largest of some numbers and zero, in range[0] and range[1]; NaN if one is.
CHAINERX_ISA_KERNEL(FindRange, (int64_t n, const float* x, float* range), (n, x, range))

// y = x / scale rounded half to even, plus `zero`, within the limits of T; the least of T for NaN. T: int8_t or
// uint8_t, whose limits contain `zero`.
CHAINERX_ISA_KERNEL(Quantize, (int64_t n, const float* x, float scale, int32_t zero, T* y), (n, x, scale, zero, y))

// y = (x - zero) * scale
CHAINERX_ISA_KERNEL(Dequantize, (int64_t n, const T* x, float scale, int32_t zero, float* y), (n, x, scale, zero, y))

}  // namespace chainerx::native
