#pragma once

// What operators of quantized numbers share.

#include <initializer_list>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// A scale or zero point in a shape that is broadcast with x.
Array Aligned(const Array& parameter, const Array& x, int64_t axis, int64_t block);

// y + zero_point rounded half to even, within the limits of the dtype.
Array Quantize(const Array& y, const Array& zero_point, Dtype dtype);

// Whether the inputs at these places are float32.
bool AreFloat32(const Inputs& in, std::initializer_list<int> places);

// y scale, with the zero point of input 7.
Array Requantize(const Inputs& in, const Array& y, const Array& scale);

}  // namespace chainerx::onnx
