#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backprop_id.h"
#include "chainerx/core/intrusive_ptr.h"

namespace chainerx {

class ArrayNode;

struct BackwardOptions {
    // Records the backward computation itself, which makes gradients differentiable, and keeps the graph.
    bool enable_double_backprop = false;
    // Multiplies the initial gradients, so that small ones do not vanish on the way; the results are divided by it.
    std::optional<double> loss_scale;
    // Tells which intermediate arrays get their gradients, too, not only those that require them. It is asked for each
    // that is still alive, also if only operations have kept it. A null pointer means none.
    bool (*retain_grad)(const Array& array) = nullptr;
    // Called with each leaf that requires a gradient, once the leaf has the whole gradient, while the pass goes on. It
    // may take the gradient away. Leaves behind operations that no gradient reaches, and all if the pass is recorded,
    // get theirs at the end, without a call.
    std::function<void(const Array& leaf)> on_leaf{};
    // Given, the pass is a part of another one with this loss scale: the gradients of the outputs have the factor
    // already, and those of these arrays keep it.
    std::optional<std::vector<Array>> inputs{};
};

// Adds the gradients of the outputs to `grad` of the arrays they were computed from. The gradient of an output starts
// from ones if it has none; an output outside of the graph adds nothing. Unless double backprop is enabled, the outputs
// leave the graph, and the pass frees values that were kept for them alone. Values that other arrays need stay.
void Backward(const std::vector<Array>& outputs, const std::optional<BackpropId>& id = std::nullopt,
              const BackwardOptions& options = {});
void Backward(const Array& output, const std::optional<BackpropId>& id = std::nullopt,
              const BackwardOptions& options = {});

// Returns the gradients of the outputs with respect to the inputs; no array for an input that does not affect the
// outputs or is outside of the graph. `set_grad` also stores them in the inputs. `grad_outputs` are initial gradients,
// empty or one (possibly no array, then ones) for each output. The graph is kept.
std::vector<Array> Grad(const std::vector<Array>& outputs, const std::vector<Array>& inputs,
                        const std::optional<BackpropId>& id = std::nullopt, bool set_grad = false,
                        const std::vector<Array>& grad_outputs = {}, const BackwardOptions& options = {});

// A part of the default graph, from inputs to outputs, to differentiate later. It keeps only the arrays that its
// operations keep.
class Subgraph {
public:
    Subgraph(const std::vector<Array>& inputs, const std::vector<Array>& outputs);

    // The subgraph of the gradients of this one: from its inputs and `grad_outputs` to `grad_inputs`.
    Subgraph OfGradients(const std::vector<Array>& grad_outputs, const std::vector<Array>& grad_inputs) const;

    // Gradients of the inputs with these indexes; no array where no gradient arrives. An output is ignored if its
    // element of `grad_outputs` is no array.
    std::vector<Array> Grad(const std::vector<int64_t>& indexes, const std::vector<Array>& grad_outputs,
                            bool enable_double_backprop) const;

private:
    std::vector<IntrusivePtr<ArrayNode>> inputs_;
    std::vector<IntrusivePtr<ArrayNode>> outputs_;
};

// Cuts every edge from the array back to the leaves in all graphs (truncated backpropagation through time), and the
// edges of other results of the same operations, such as the cells of an LSTM. Intermediate arrays stay in their graphs
// as leaves. No other thread may use the graph meanwhile.
void UnchainBackward(const Array& a);

}  // namespace chainerx
