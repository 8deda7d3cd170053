#pragma once

#include "chainerx_onnx/kernel.h"

namespace chainerx::onnx {

// Runs a kernel that moves or compares elements on inputs of which some are strings. It gets integers instead, which
// are equal where the strings are. If it moves elements, integers that it gives are strings again.
Values RunOnPlaces(const Kernel& kernel, const Values& inputs, int n_outputs, bool moves);

}  // namespace chainerx::onnx
