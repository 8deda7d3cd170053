#pragma once

#include "chainerx/core/array.h"
#include "chainerx/ops/window.h"

namespace chainerx::native {

// Convolutions of bfloat16 as products of matrices, by the processor's instructions. Each returns false, and does
// nothing, where it is not faster than the same convolution in float32: windows of 3x3 have Winograd's algorithm there.

// y = convolution of x with w, plus bias `b`, which may be null.
bool ConvBf16(const WindowGeometry& g, const Array& x, const Array& w, const Array& b, const Array& y);

// x = the gradient of sum(y * convolution) with respect to its input, plus bias `b`, which may be null.
bool ConvDataBf16(const WindowGeometry& g, const Array& y, const Array& w, const Array& b, const Array& x);

// w = the same with respect to the weights.
bool ConvWeightBf16(const WindowGeometry& g, const Array& x, const Array& y, const Array& w);

}  // namespace chainerx::native
