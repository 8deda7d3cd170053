#pragma once

// The kernels that layers below the operations need: gradients and backends.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

template <>
inline constexpr bool kIsKernelValue<Scalar> = true;
template <>
inline constexpr bool kIsKernelValue<Axes> = true;

// Sets all elements.
using FillKernel = KernelSlot<void(const Array& out, const Scalar& value)>;
extern const FillKernel kFillKernel;

// Copies, converts and broadcasts `src` to `dst`.
using CopyKernel = KernelSlot<void(const Array& src, const Array& dst)>;
extern const CopyKernel kCopyKernel;

constexpr int kMaxElementwiseInputs = 3;

// Calls the function for disjoint ranges that cover [0, n), on several threads if there are many times `grain`.
// Backends whose kernels the host runs may have it.
using ParallelForKernel =
        KernelSlot<void(int64_t n, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body)>;
extern const ParallelForKernel kParallelForKernel;

// The arguments of an elementwise kernel. Inputs have the dtype `dtype` (the first of `where`: bool) and broadcast to
// the output's shape. A number as input is in `scalars` and has no array.
struct ElementwiseCall {
    const void* op;  // the op's functor with its parameters
    int n_inputs;
    Dtype dtype;
    const Array* out;
    const Array* in[kMaxElementwiseInputs];
    alignas(8) char scalars[kMaxElementwiseInputs][16];
};

using ElementwiseKernel = KernelSlot<void(const ElementwiseCall&)>;

template <>
struct KeptArgument<ElementwiseCall> {
    static constexpr bool kExists = true;
    explicit KeptArgument(const GivenArgument<ElementwiseCall>& given);
    KeptArgument(const KeptArgument&) = delete;
    KeptArgument& operator=(const KeptArgument&) = delete;
    const ElementwiseCall& Get() const { return call; }
    void Accept(ArgumentVisitor& visitor);

    ElementwiseCall call;  // points to the other members
    std::vector<std::max_align_t> functor;
    Array arrays[1 + kMaxElementwiseInputs];
};

// The kernels of the ops with these names. Backward passes add and scale gradients with them. Their functors have no
// parameters.
extern const ElementwiseKernel kAddKernel;
extern const ElementwiseKernel kMultiplyKernel;

// The following functions ignore graphs.

Array FilledArray(const Shape& shape, const Scalar& value, Dtype dtype, Device& device = GetDefaultDevice());

inline void CopyData(const Array& src, const Array& dst) { kCopyKernel(dst.device(), src, dst); }

}  // namespace chainerx
