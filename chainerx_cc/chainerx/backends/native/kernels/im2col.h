#pragma once

#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// col (batch, in_channels, kernel..., out...) from x (batch, in_channels, in...): col[n, c, k, o] = x[n, c, o * stride
// - pad + k * dilation], or `pad_value` outside x. Ignores groups and out_channels of the shape.
CHAINERX_ISA_KERNEL(Im2Col, (const ConvShape& shape, T pad_value, const T* x, T* col), (shape, pad_value, x, col))

// The adjoint of Im2Col: each element of x is the sum of the elements of col that come from it.
CHAINERX_ISA_KERNEL(Col2Im, (const ConvShape& shape, const T* col, T* x), (shape, col, x))

}  // namespace chainerx::native
