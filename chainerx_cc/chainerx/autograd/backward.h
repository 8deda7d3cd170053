#pragma once

#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backprop_id.h"
#include "chainerx/core/intrusive_ptr.h"

namespace chainerx {

class ArrayNode;

struct BackwardOptions {
    // Records the backward computation itself, so that gradients can be differentiated; keeps the graph.
    bool enable_double_backprop = false;
    // Multiplies the initial gradients, so that small ones do not vanish on the way; the results are divided by it.
    std::optional<double> loss_scale;
    // Stores gradients in every array on the way that is still referred to, not only where they are required.
    bool retain_grad = false;
};

// Adds the gradients of the outputs to the `grad` of the arrays they were computed from. An output without a gradient
// starts from ones; one outside of the graph adds nothing. Unless double backprop is enabled, the outputs leave the
// graph, and what was kept for them alone is freed on the way; what other arrays were computed from stays.
void Backward(const std::vector<Array>& outputs, const std::optional<BackpropId>& id = std::nullopt,
              const BackwardOptions& options = {});
void Backward(const Array& output, const std::optional<BackpropId>& id = std::nullopt,
              const BackwardOptions& options = {});

// Returns the gradients of the outputs with respect to the inputs; no array where the outputs do not depend on an
// input, which may be outside of the graph. With `set_grad` they are also stored in the inputs; with `retain_grad`, in
// every computed array on the way. `grad_outputs` are initial gradients, empty or one (possibly no array, then ones)
// for each output. The graph is kept.
std::vector<Array> Grad(const std::vector<Array>& outputs, const std::vector<Array>& inputs,
                        const std::optional<BackpropId>& id = std::nullopt, bool set_grad = false,
                        bool retain_grad = false, const std::vector<Array>& grad_outputs = {},
                        const BackwardOptions& options = {});

// A part of the default graph, from inputs to outputs, to be differentiated later. Unlike a call of `Grad` it keeps no
// arrays but those that the operations in it keep.
class Subgraph {
public:
    Subgraph(const std::vector<Array>& inputs, const std::vector<Array>& outputs);

    // The subgraph of this one's gradients: from its inputs and `grad_outputs` to `grad_inputs`.
    Subgraph OfGradients(const std::vector<Array>& grad_outputs, const std::vector<Array>& grad_inputs) const;

    // Gradients of the inputs with these indexes; no array where no gradient arrives. Outputs whose element of
    // `grad_outputs` is no array give none.
    std::vector<Array> Grad(const std::vector<int64_t>& indexes, const std::vector<Array>& grad_outputs,
                            bool enable_double_backprop) const;

private:
    std::vector<IntrusivePtr<ArrayNode>> inputs_;
    std::vector<IntrusivePtr<ArrayNode>> outputs_;
};

// Cuts every edge from the array back to the leaves, in all graphs (truncated backpropagation through time), and the
// edges of other results of the same operations, such as the cells of an LSTM. Arrays on the way stay in their graphs,
// as if they had not been computed from others. No other thread may work in the graph meanwhile.
void UnchainBackward(const Array& a);

}  // namespace chainerx
