#include "chainerx/autograd/backward.h"

#include <algorithm>
#include <utility>

#include "chainerx/autograd/backward_run.h"
#include "chainerx/autograd/gradient_ops.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/core/backprop_mode.h"
#include "chainerx/core/context.h"
#include "chainerx/core/kernels.h"

namespace chainerx {

namespace {

BackpropId ResolveId(const std::vector<Array>& arrays, const std::optional<BackpropId>& id) {
    if (!arrays.empty()) return internal::GetBackpropId(arrays.front(), id);
    if (id.has_value()) return *id;
    return GetDefaultContext().default_backprop_id();
}

Array InitialGrad(const Array& output, Array grad, const BackwardOptions& options) {
    if (!grad && IsComplex(output.dtype())) {
        throw GradientError{"a complex array has no gradient to start from: set one, or take a real loss of it"};
    }
    if (!grad) grad = FilledArray(output.shape(), Scalar{1.0}, output.dtype(), output.device());
    bool scales = options.loss_scale.has_value() && !options.inputs.has_value();
    return scales ? internal::ScaleGrad(grad, *options.loss_scale) : grad;
}

// The node of an array; null if it is not in the graph.
ArrayNode* NodeIn(const Array& a, const BackpropId& id) {
    ArrayNode* node = a.body()->node();
    return node != nullptr && (node->mask() & id.mask()) != 0 ? node : nullptr;
}

// Gradients that the user keeps must not share memory with an array that may be updated in place.
Array Own(const Array& grad) {
    return grad.body()->use_count() > 1 || grad.body()->storage->use_count() > 1
                   ? internal::CopyGrad(grad, grad.dtype())
                   : grad;
}

// Adds to the gradient that a node has. Another thread may add its gradient meanwhile.
void AddGrad(ArrayNode& node, const BackpropId& id, const Array& grad, bool recorded) {
    for (;;) {
        Array old = node.GetGrad(id);
        Array sum = old ? internal::AddGrads(old, grad) : recorded ? grad : Own(grad);
        if (node.ReplaceGrad(id, old, sum)) return;
    }
}

}  // namespace

void Backward(const std::vector<Array>& outputs, const std::optional<BackpropId>& id, const BackwardOptions& options) {
    if (outputs.empty()) return;
    BackpropId g = ResolveId(outputs, id);
    internal::DisableGraphsScope mode{options.enable_double_backprop ? 0 : g.mask()};
    BackwardRun run{g, options.enable_double_backprop, !options.enable_double_backprop};
    run.Retain(options.retain_grad);
    for (const Array& output : outputs) {
        if (ArrayNode* node = NodeIn(output, g)) run.Start(node, InitialGrad(output, node->GetGrad(g), options));
    }
    if (options.on_leaf && !options.enable_double_backprop) {
        run.Watch([&](ArrayNode& node, Array grad) {
            grad = BackwardRun::Unscaled(node, grad, options);
            AddGrad(node, g, grad, false);
            if (Array leaf = node.LockBody()) options.on_leaf(leaf);
        });
    }
    run.Run();
    run.Unscale(options);
    run.Separate();
    for (const BackwardRun::Leaf& leaf : run.leaves()) {
        if (!leaf.grad) continue;
        ArrayNode& node = *leaf.node;
        if (!node.IsGradRequired(g)) {
            if (run.Retains(node)) node.SetGrad(g, Own(leaf.grad));
            continue;
        }
        bool is_output =
                std::any_of(outputs.begin(), outputs.end(), [&](const Array& o) { return o.body()->node() == &node; });
        if (is_output) {
            node.SetGrad(g, options.enable_double_backprop ? leaf.grad : Own(leaf.grad));
        } else {
            AddGrad(node, g, leaf.grad, options.enable_double_backprop);
        }
    }
}

void Backward(const Array& output, const std::optional<BackpropId>& id, const BackwardOptions& options) {
    Backward(std::vector<Array>{output}, id, options);
}

std::vector<Array> Grad(const std::vector<Array>& outputs, const std::vector<Array>& inputs,
                        const std::optional<BackpropId>& id, bool set_grad, const std::vector<Array>& grad_outputs,
                        const BackwardOptions& options) {
    if (!grad_outputs.empty() && grad_outputs.size() != outputs.size()) {
        throw ChainerxError{"grad_outputs has ", grad_outputs.size(), " arrays for ", outputs.size(), " outputs"};
    }
    std::vector<Array> results(inputs.size());
    if (inputs.empty() || outputs.empty()) return results;
    BackpropId g = ResolveId(outputs, id);
    internal::DisableGraphsScope mode{options.enable_double_backprop ? 0 : g.mask()};
    BackwardRun run{g, options.enable_double_backprop, false};
    std::vector<ArrayNode*> targets;
    for (const Array& input : inputs) {
        targets.push_back(NodeIn(input, g));
    }
    std::vector<ArrayNode*> starts;
    for (const Array& output : outputs) starts.push_back(NodeIn(output, g));
    run.SetTargets(targets, starts);
    run.Retain(options.retain_grad);
    for (size_t i = 0; i < outputs.size(); ++i) {
        const Array& output = outputs[i];
        ArrayNode* node = starts[i];
        if (node == nullptr) continue;  // does not depend on anything
        Array grad = grad_outputs.empty() ? Array{} : grad_outputs[i];
        if (grad && grad.shape() != output.shape()) {
            throw DimensionError{"grad_outputs[", i, "] has shape ", grad.shape(), " but the output has shape ",
                                 output.shape()};
        }
        run.Start(node, InitialGrad(output, std::move(grad), options));
    }
    run.Run();
    run.Unscale(options);
    run.Separate();
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (targets[i] == nullptr) continue;
        if (const Array* grad = run.Find(targets[i])) results[i] = *grad;
        if (set_grad && results[i]) inputs[i].SetGrad(results[i], g);
    }
    for (const BackwardRun::Leaf& leaf : run.leaves()) {
        if (leaf.node->creator() != nullptr && run.Retains(*leaf.node)) leaf.node->SetGrad(g, leaf.grad);
    }
    return results;
}

namespace {

void AppendNodes(std::vector<IntrusivePtr<ArrayNode>>* nodes, const std::vector<Array>& arrays) {
    for (const Array& a : arrays) nodes->emplace_back(a ? a.body()->node() : nullptr);
}

}  // namespace

Subgraph::Subgraph(const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
    AppendNodes(&inputs_, inputs);
    AppendNodes(&outputs_, outputs);
}

Subgraph Subgraph::OfGradients(const std::vector<Array>& grad_outputs, const std::vector<Array>& grad_inputs) const {
    Subgraph gradients{{}, grad_inputs};
    gradients.inputs_ = inputs_;
    AppendNodes(&gradients.inputs_, grad_outputs);
    return gradients;
}

std::vector<Array> Subgraph::Grad(const std::vector<int64_t>& indexes, const std::vector<Array>& grad_outputs,
                                  bool enable_double_backprop) const {
    if (grad_outputs.size() != outputs_.size()) {
        throw ChainerxError{"grad_outputs has ", grad_outputs.size(), " arrays for ", outputs_.size(), " outputs"};
    }
    std::vector<ArrayNode*> targets;
    for (int64_t i : indexes) {
        if (i < 0 || i >= static_cast<int64_t>(inputs_.size())) throw ChainerxError{"there is no input ", i};
        targets.push_back(inputs_[i].get());
    }
    std::vector<Array> results(targets.size());
    std::vector<ArrayNode*> starts;
    Device* device = nullptr;
    for (size_t i = 0; i < outputs_.size(); ++i) {
        starts.push_back(grad_outputs[i] ? outputs_[i].get() : nullptr);
        if (starts[i] == nullptr) continue;
        device = &starts[i]->device();
        if (grad_outputs[i].shape() != starts[i]->shape()) {
            throw DimensionError{
                    "grad_outputs[",   i, "] has shape ", grad_outputs[i].shape(), " but the output has shape ",
                    starts[i]->shape()};
        }
    }
    if (device == nullptr) return results;
    BackpropId g = device->context().default_backprop_id();
    internal::DisableGraphsScope mode{enable_double_backprop ? 0 : g.mask()};
    BackwardRun run{g, enable_double_backprop, false};
    run.SetTargets(targets, starts);
    for (size_t i = 0; i < starts.size(); ++i) {
        if (starts[i] != nullptr) run.Start(starts[i], grad_outputs[i]);
    }
    run.Run();
    for (size_t i = 0; i < targets.size(); ++i) {
        const Array* grad = targets[i] == nullptr ? nullptr : run.Find(targets[i]);
        if (grad != nullptr) results[i] = *grad;
    }
    return results;
}

void UnchainBackward(const Array& a) {
    std::vector<IntrusivePtr<ArrayNode>> stack;
    if (ArrayNode* node = a.body()->node()) stack.emplace_back(node);
    while (!stack.empty()) {
        IntrusivePtr<ArrayNode> node = std::move(stack.back());
        stack.pop_back();
        IntrusivePtr<OpNode> op = node->Unchain();
        if (!op) continue;
        for (size_t i = 0; i < op->output_count(); ++i) {
            if (IntrusivePtr<ArrayNode> sibling = op->LockOutput(i)) sibling->Unchain();
        }
        for (const Edge& edge : op->edges()) {
            if (edge.node) stack.push_back(edge.node);
        }
    }
}

}  // namespace chainerx
