#pragma once

// The kernels that are needed below the operations: by gradients, by backends among themselves, and by every operation.

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// Sets all elements.
using FillKernel = KernelSlot<void(const Array& out, const Scalar& value)>;
extern const FillKernel kFillKernel;

// Copies, converts and broadcasts `src` to `dst`.
using CopyKernel = KernelSlot<void(const Array& src, const Array& dst)>;
extern const CopyKernel kCopyKernel;

constexpr int kMaxElementwiseInputs = 3;

// What an elementwise kernel gets. Inputs have the dtype `dtype` (the first of `where`: bool) and broadcast to the
// output's shape. An input that is a number has no array and lies in `scalars`.
struct ElementwiseCall {
    const void* op;  // the op's functor with its parameters
    int n_inputs;
    Dtype dtype;
    const Array* out;
    const Array* in[kMaxElementwiseInputs];
    alignas(8) char scalars[kMaxElementwiseInputs][8];
};

using ElementwiseKernel = KernelSlot<void(const ElementwiseCall&)>;

// Those of the ops with these names: gradients are added where they meet, and scaled. Their functors have no
// parameters.
extern const ElementwiseKernel kAddKernel;
extern const ElementwiseKernel kMultiplyKernel;

// The following know nothing of graphs.

Array FilledArray(const Shape& shape, const Scalar& value, Dtype dtype, Device& device = GetDefaultDevice());

inline void CopyData(const Array& src, const Array& dst) { kCopyKernel(dst.device(), src, dst); }

}  // namespace chainerx
