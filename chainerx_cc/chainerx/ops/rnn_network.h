#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/ops/rnn.h"
#include "chainerx/ops/rnn_layer.h"

namespace chainerx {

// Matrices of the input, or of the state, of a cell.
inline size_t CountGates(RnnKind kind) {
    if (kind == RnnKind::kLstm) return 4;
    return kind == RnnKind::kGru ? 3 : 1;
}

// A stacked network as a whole, for backends with a library that computes it faster than layer by layer. All arrays are
// contiguous and of dtype float32 or float64. A cell is a layer in one direction.
struct FusedRnn {
    RnnKind kind;
    int64_t layers;
    int64_t directions;
    std::vector<int64_t> lengths;  // of each time step the number of sequences, which is positive

    Array x;        // (total, I)
    Array h0;       // (cells, B, U)
    Array c0;       // (cells, B, U), LSTM only
    Array y;        // (total, directions U)
    Array weights;  // bytes for the weights in the library's order
    Array reserve;  // bytes that the forward pass keeps for gradients; no array if there will be none
};
template <>
struct KeptArgument<FusedRnn> : KeptStructure<FusedRnn, &FusedRnn::x, &FusedRnn::h0, &FusedRnn::c0, &FusedRnn::y,
                                              &FusedRnn::weights, &FusedRnn::reserve> {
    using KeptStructure::KeptStructure;
};

// gy, gh and gc of the outputs, which may be no arrays, and those of the inputs.
struct FusedRnnGrads {
    Array gy;
    Array gh;
    Array gc;
    Array gx;
    Array gh0;
    Array gc0;
};
template <>
struct KeptArgument<FusedRnnGrads>
    : KeptStructure<FusedRnnGrads, &FusedRnnGrads::gy, &FusedRnnGrads::gh, &FusedRnnGrads::gc, &FusedRnnGrads::gx,
                    &FusedRnnGrads::gh0, &FusedRnnGrads::gc0> {
    using KeptStructure::KeptStructure;
};

struct FusedRnnSizes {
    int64_t weights;
    int64_t reserve;
};

// Backends need not have these kernels.

// How many bytes a network without y, weights and reserve needs; nothing if it is one for layers.
using FusedRnnSizesKernel = KernelSlot<std::optional<FusedRnnSizes>(const FusedRnn& network)>;
// Computes y, weights, reserve and the last states (cells, B, U). The matrices of all cells follow each other, for each
// those of the input and then of the state, in the order of NStepLstm and others; so do the biases.
using FusedRnnKernel = KernelSlot<void(const FusedRnn& network, const std::vector<Array>& ws,
                                       const std::vector<Array>& bs, const Array& h, const Array& c)>;
using FusedRnnGradKernel = KernelSlot<void(const FusedRnn& network, const FusedRnnGrads& grads,
                                           const std::vector<Array>& gws, const std::vector<Array>& gbs)>;
extern const FusedRnnSizesKernel kFusedRnnSizesKernel;
extern const FusedRnnKernel kFusedRnnKernel;
extern const FusedRnnGradKernel kFusedRnnGradKernel;

namespace internal {

// What a network reads. Lists have an element for each cell.
struct NetworkInputs {
    RnnKind kind;
    int64_t layers;
    int64_t directions;
    std::vector<int64_t> lengths;

    Array x;   // (total, I)
    Array h0;  // (cells, B, U)
    Array c0;  // LSTM only
    ArrayLists ws;
    ArrayLists bs;
};

// The outputs of the last layer and the last states of all cells. Differentiable any number of times.
LayerOutputs RunNetwork(const NetworkInputs& in);
// The two ways to do that.
LayerOutputs RunLayers(const NetworkInputs& in);
LayerOutputs RunFused(const NetworkInputs& in, FusedRnn network, const FusedRnnSizes& sizes);
// The network as a backend's kernels get it, but for what they compute.
FusedRnn MakeFused(const NetworkInputs& in);

}  // namespace internal
}  // namespace chainerx
