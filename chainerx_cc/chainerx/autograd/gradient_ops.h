#pragma once

// Operations on gradients that a backward pass needs. They are recorded like others, so that gradients of gradients
// pass through them. The ops of the same names lie above autograd, so these run on kernels whose slots are in core.

#include "chainerx/core/array.h"

namespace chainerx::internal {

// The sum of two gradients of one array.
Array AddGrads(const Array& a, const Array& b);
Array ScaleGrad(const Array& grad, double factor);
Array CopyGrad(const Array& grad, Dtype dtype);

}  // namespace chainerx::internal
