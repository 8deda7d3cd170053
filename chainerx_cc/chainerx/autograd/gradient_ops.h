#pragma once

// Operations on gradients that a backward pass needs. They are recorded like others, so that gradients of gradients
// pass through them. The ops of the same names lie above autograd, so these run on kernels whose slots are in core.

#include <cstdint>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// The sum of two gradients of one array.
Array AddGrads(const Array& a, const Array& b);
// The product with the loss scale, or with its inverse. Plans may replace the scale.
enum class LossFactor : uint8_t { kScale, kInverse };
Array ScaleGrad(const Array& grad, double loss_scale, LossFactor factor = LossFactor::kScale);
Array CopyGrad(const Array& grad, Dtype dtype);

}  // namespace chainerx::internal
