#pragma once

// The operations on gradients that a backward pass does itself. They are recorded like others, so that gradients of
// gradients pass through them, and run on kernels whose slots are in core: the ops of these names lie above autograd.

#include "chainerx/core/array.h"

namespace chainerx::internal {

// The sum of two gradients of one array.
Array AddGrads(const Array& a, const Array& b);
Array ScaleGrad(const Array& grad, double factor);
Array CopyGrad(const Array& grad, Dtype dtype);

}  // namespace chainerx::internal
