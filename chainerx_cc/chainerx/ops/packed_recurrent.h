#pragma once

#include <memory>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/rnn.h"

namespace chainerx {

// The matrix by which each step of a recurrent layer multiplies the states, prepared once for many runs of the layer
// without gradients.
class PackedRecurrent {
public:
    virtual ~PackedRecurrent() = default;
    // Does what the kernel "rnn_layer" does, for a layer without `wh`. It may run on several threads at a time.
    virtual void Run(const RnnLayer& layer, const Array& h, const Array& c) const = 0;
};

// Packs a contiguous matrix (gates units, units) of float32 or float64, of which it keeps no reference. `resets_first`:
// of a GRU whose reset gate multiplies the state instead of the product with it; its layers have all biases in x_gates,
// and no `bh` and `h_gates`. Backends need not have this kernel.
using PackRecurrentKernel = KernelSlot<std::unique_ptr<PackedRecurrent>(const Array& wh, bool resets_first)>;
extern const PackRecurrentKernel kPackRecurrentKernel;

}  // namespace chainerx
