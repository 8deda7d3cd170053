#pragma once

#include <string>

namespace chainerx {

// How backends with fast units for matrices may multiply float32. The faster modes round the factors: kTf32 to 10 bits
// after the point, kFloat16 also to 10 bits, with a small range, kBfloat16 to 7 bits. Sums are float32.
enum class ComputeMode { kFloat32, kTf32, kFloat16, kBfloat16 };

// Of all threads. At the start what the environment variable CHAINERX_COMPUTE_MODE says, or kFloat32.
ComputeMode GetComputeMode();
void SetComputeMode(ComputeMode mode);

const char* GetName(ComputeMode mode);
// Raises ValueError; `what` names the argument.
ComputeMode ParseComputeMode(const std::string& name, const char* what);

}  // namespace chainerx
