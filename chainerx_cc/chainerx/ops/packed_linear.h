#pragma once

#include <memory>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"

namespace chainerx {

// A matrix (inner, columns) in the layout in which a backend multiplies with it fastest.
class PackedWeights {
public:
    virtual ~PackedWeights() = default;
    // y (..., columns) = relu(x w + bias) for x (..., inner), without relu or `bias` (columns), if it is no array. All
    // arrays are contiguous, of the dtype of the weights and on their device, and y shares no memory with the others.
    virtual void Run(const Array& x, const Array& bias, bool use_relu, const Array& y) const = 0;
};

// Packs a matrix, of which it keeps no reference. Gives null if the backend has nothing better for it than the kernel
// "matmul". Backends need not have this kernel.
using PackWeightsKernel = KernelSlot<std::unique_ptr<PackedWeights>(const Array& w)>;
extern const PackWeightsKernel kPackWeightsKernel;

// A linear function for inference, whose weights are prepared once for many calls. It works on any device, ignores
// graphs, and may run on several threads at a time.
class PackedLinear {
public:
    // w (inner, columns), b (columns) of its dtype and on its device. Later changes of both have no effect.
    PackedLinear(const Array& w, const std::optional<Array>& b, bool use_relu = false);

    // relu(x w + b), without what is not wanted, for x (..., inner) of the dtype and on the device of the weights.
    Array operator()(const Array& x) const;

private:
    int64_t inner_;
    int64_t columns_;
    Dtype dtype_;
    Device* device_;
    bool use_relu_;
    Array b_;
    std::shared_ptr<const PackedWeights> weights_;
    Array w_;  // if not packed
};

}  // namespace chainerx
