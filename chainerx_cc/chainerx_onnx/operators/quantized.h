#pragma once

// What operators of quantized numbers share.

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// A scale or zero point in a shape that is broadcast with x.
Array Aligned(const Array& parameter, const Array& x, int64_t axis, int64_t block);

// y + zero_point rounded half to even, within the limits of the dtype.
Array Quantize(const Array& y, const Array& zero_point, Dtype dtype);

// -- Of operators whose inputs 1, 4 and 6 are the scales of the operands and the result, and 7 its zero point

// float32 if all scales are, else float64.
Dtype ScalesDtype(const Inputs& in);
// y scale, with the zero point.
Array Requantize(const Inputs& in, const Array& y, const Array& scale);

}  // namespace chainerx::onnx
