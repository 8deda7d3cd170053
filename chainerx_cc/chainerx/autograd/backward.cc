#include "chainerx/autograd/backward.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "chainerx/autograd/gradient_ops.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/core/backprop_mode.h"
#include "chainerx/core/context.h"
#include "chainerx/core/kernels.h"

namespace chainerx {

// One pass through one graph, from results to their inputs.
class BackwardRun {
public:
    BackwardRun(const BackpropId& id, bool double_backprop, bool release)
        : id_{id}, graph_{id.mask()}, double_backprop_{double_backprop}, release_{release} {}

    ~BackwardRun() {
        for (Pending& p : ops_) {
            if (p.op) Unmark(p.op->mark);
        }
        for (Leaf& l : leaves_) Unmark(l.node->mark);
    }

    // Restricts the pass to paths that lead to these nodes; their gradients are kept.
    void SetTargets(const std::vector<ArrayNode*>& targets, const std::vector<ArrayNode*>& outputs) {
        has_targets_ = true;
        for (ArrayNode* t : targets) targets_.insert(t);
        FindPaths(outputs);
    }

    // Divides the results by the factor of the initial gradients.
    void Unscale(const std::optional<double>& loss_scale) {
        if (!loss_scale.has_value()) return;
        for (Leaf& l : leaves_) l.grad = internal::ScaleGrad(l.grad, *loss_scale, internal::LossFactor::kInverse);
    }

    // Gives each recorded result an array of its own: they can get different gradients in turn.
    void Separate() {
        if (!double_backprop_) return;
        std::unordered_set<const ArrayBody*> seen;
        for (Leaf& l : leaves_) {
            if (!seen.insert(l.grad.body()).second) l.grad = internal::CopyGrad(l.grad, l.grad.dtype());
        }
    }

    // Keeps the gradients of the intermediate arrays for which `retain` is true.
    void Retain(bool (*retain)(const Array&)) { retain_ = retain; }
    bool Retains(ArrayNode& node) const {
        if (retain_ == nullptr) return false;
        Array array = node.LockBody();
        return array && retain_(array);
    }

    void Start(ArrayNode* node, Array grad) {
        roots_.push_back(node);
        Arrive(node, std::move(grad), false);
    }

    void Run() {
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end(), &LowerRank);
            uint32_t index = heap_.back().index;
            heap_.pop_back();
            Process(index);
        }
        if (survivors_.empty()) return;
        for (const ArrayNode* root : roots_) {
            if (OpNode* op = root->creator()) op->LeadTo(survivors_);
        }
    }

    // Gradients that have arrived at targets, leaves and arrays that require a gradient.
    struct Leaf {
        IntrusivePtr<ArrayNode> node;
        Array grad;
    };
    const std::vector<Leaf>& leaves() const { return leaves_; }

    const Array* Find(const ArrayNode* node) const {
        for (const Leaf& l : leaves_) {
            if (l.node.get() == node) return &l.grad;
        }
        return nullptr;
    }

private:
    struct Pending {
        IntrusivePtr<OpNode> op;
        SmallVector<Array, 1> grads;
        bool below_ended{false};  // reached from an operation that ends with this pass
    };
    struct HeapItem {
        int32_t rank;
        uint32_t index;
    };

    static bool LowerRank(const HeapItem& a, const HeapItem& b) {
        return a.rank < b.rank || (a.rank == b.rank && a.index < b.index);
    }

    // Finds or makes the entry of this pass for a node. If another pass uses the node, the entry is in a table.
    template <class T, class F>
    uint32_t IndexOf(T* node, F&& make) {
        internal::RunMark& mark = node->mark;
        if (mark.run.load(std::memory_order_relaxed) == this) return mark.index;
        const void* expected = nullptr;
        if (CHAINERX_LIKELY(mark.run.compare_exchange_strong(expected, this))) {
            // The other pass may have left the node after this one put it into the table.
            auto it = shared_.empty() ? shared_.end() : shared_.find(node);
            return mark.index = it != shared_.end() ? it->second : make();
        }
        auto [it, added] = shared_.emplace(node, 0);
        if (added) it->second = make();
        return it->second;
    }

    void Unmark(internal::RunMark& mark) {
        const void* expected = this;
        mark.run.compare_exchange_strong(expected, nullptr);
    }

    void Arrive(ArrayNode* node, Array grad, bool from_ended) {
        OpNode* op = node->creator();
        if (op == nullptr || (op->mask() & graph_) == 0) {
            if (op != nullptr && op->IsReleased(graph_)) ThrowReleased(*op);
            if (has_targets_ && targets_.count(node) == 0 && retain_ == nullptr) return;
            AddToLeaf(node, std::move(grad));
            return;
        }
        uint32_t index = IndexOf(op, [&] {
            ops_.push_back(Pending{IntrusivePtr<OpNode>{op}, {}, false});
            ops_.back().grads.resize(op->output_count());
            auto i = static_cast<uint32_t>(ops_.size() - 1);
            heap_.push_back({op->rank(), i});
            std::push_heap(heap_.begin(), heap_.end(), &LowerRank);
            return i;
        });
        ops_[index].below_ended |= from_ended;
        Array& slot = ops_[index].grads[node->output_index()];
        slot = slot ? internal::AddGrads(slot, grad) : std::move(grad);
    }

    [[noreturn]] static void ThrowReleased(const OpNode& op) {
        throw GradientError{"the graph behind '", op.name(),
                            "' has been released by an earlier backward; "
                            "pass enable_double_backprop=True there to keep it"};
    }

    void AddToLeaf(ArrayNode* node, Array grad) {
        uint32_t index = IndexOf(node, [&] {
            leaves_.push_back(Leaf{IntrusivePtr<ArrayNode>{node}, Array{}});
            return static_cast<uint32_t>(leaves_.size() - 1);
        });
        Array& slot = leaves_[index].grad;
        slot = slot ? internal::AddGrads(slot, grad) : std::move(grad);
    }

    void Process(uint32_t index) {
        // Adding entries can move others, so take the contents of this one out.
        IntrusivePtr<OpNode> op = ops_[index].op;
        SmallVector<Array, 1> grads = std::move(ops_[index].grads);
        bool may_keep = retain_ != nullptr || has_targets_ || op->HasOutputGrads();
        for (size_t i = 0; may_keep && i < grads.size(); ++i) {
            if (!grads[i]) continue;
            IntrusivePtr<ArrayNode> held;
            ArrayNode* node = RootAt(*op, i);
            if (node == nullptr) {
                held = op->LockOutput(i);
                node = held.get();
            }
            if (node != nullptr &&
                (Retains(*node) || node->IsGradRequired(id_) || (has_targets_ && targets_.count(node) != 0))) {
                AddToLeaf(node, grads[i]);
            }
        }

        bool is_root = IsRoot(*op);
        // If its results are gone, only this pass still holds the operation.
        bool ends = is_root || (release_ && op->use_count() == 2);
        if (ops_[index].below_ended && !ends) {
            if (IntrusivePtr<ArrayNode> output = AnyOutput(*op)) survivors_.push_back(std::move(output));
        }
        OpUse use{*op, graph_, is_root};
        if (!use) ThrowReleased(*op);
        const SmallVector<Edge, 2>& edges = op->edges();
        size_t n = edges.size();
        SmallVector<Array, 4> results;
        SmallVector<bool, 4> wanted;
        results.resize(n);
        bool any = false;
        for (const Edge& e : edges) {
            bool w = (e.mask & graph_) != 0 && (!has_targets_ || retain_ != nullptr || paths_.count(e.node.get()) != 0);
            wanted.push_back(w);
            any |= w;
        }
        if (any) {
            BackwardContext ctx{*op, graph_, double_backprop_, grads.data(), results.data(), wanted.data()};
            op->Backward(ctx);
            grads.clear();
            for (size_t i = 0; i < n; ++i) {
                if (!wanted[i] || !results[i]) continue;
                ArrayNode* node = edges[i].node.get();
                CheckGrad(*op, i, *node, results[i]);
                Arrive(node, std::move(results[i]), ends);
            }
        }
        Unmark(op->mark);
        if (!shared_.empty()) shared_.erase(op.get());
        ops_[index].op = nullptr;
        use.Succeed();
    }

    // Whether only arrays from which the pass started keep the operation. Such operations are released. The ones behind
    // them that nothing else leads to end with the references of this pass. Others may be needed again. The arrays from
    // which the pass started still lead to them, so that UnchainBackward can cut them off.
    bool IsRoot(OpNode& op) const {
        return release_ &&
               std::any_of(roots_.begin(), roots_.end(), [&](const ArrayNode* r) { return r->creator() == &op; }) &&
               op.IsKeptOnlyBy(roots_.data(), roots_.size());
    }

    // An array from which the pass started. It takes no reference, because another pass would count that as a user.
    ArrayNode* RootAt(const OpNode& op, size_t output) const {
        for (ArrayNode* r : roots_) {
            if (r->creator() == &op && r->output_index() == output) return r;
        }
        return nullptr;
    }

    static IntrusivePtr<ArrayNode> AnyOutput(OpNode& op) {
        for (size_t i = 0; i < op.output_count(); ++i) {
            if (IntrusivePtr<ArrayNode> node = op.LockOutput(i)) return node;
        }
        return nullptr;
    }

    void CheckGrad(const OpNode& op, size_t input, const ArrayNode& node, Array& grad) {
        if (CHAINERX_UNLIKELY(grad.dtype() != node.dtype())) grad = internal::CopyGrad(grad, node.dtype());
        if (CHAINERX_UNLIKELY(grad.shape() != node.shape())) {
            throw GradientError{"the backward of '", op.name(), "' gave a gradient of shape ", grad.shape(),
                                " for input ",       input,     ", which has shape ",          node.shape()};
        }
        if (CHAINERX_UNLIKELY(&grad.device() != &node.device())) ThrowDeviceMismatch(grad.device(), node.device());
    }

    // Marks the nodes from which a target can be reached, by a depth-first walk with an explicit stack.
    void FindPaths(const std::vector<ArrayNode*>& outputs) {
        struct Frame {
            ArrayNode* node;
            IntrusivePtr<ArrayNode> held;  // null for an output, which the caller holds
            size_t next;
        };
        std::unordered_set<ArrayNode*> seen;
        std::vector<Frame> stack;
        auto visit = [&](ArrayNode* node, IntrusivePtr<ArrayNode> held) {
            if (!seen.insert(node).second) return;
            if (targets_.count(node) != 0) paths_.insert(node);
            stack.push_back({node, std::move(held), 0});
        };
        for (ArrayNode* output : outputs) {
            if (output != nullptr) visit(output, nullptr);
            while (!stack.empty()) {
                Frame& top = stack.back();
                OpNode* op = top.node->creator();
                Edge edge;
                if (op == nullptr || !op->GetEdge(top.next++, &edge)) {
                    bool reaches = paths_.count(top.node) != 0;
                    stack.pop_back();
                    if (reaches && !stack.empty()) paths_.insert(stack.back().node);
                    continue;
                }
                if ((edge.mask & graph_) == 0) continue;
                if (paths_.count(edge.node.get()) != 0) paths_.insert(top.node);
                visit(edge.node.get(), edge.node);
            }
        }
    }

    BackpropId id_;
    GraphMask graph_;
    bool double_backprop_;
    bool release_;
    bool has_targets_{false};
    bool (*retain_)(const Array&){nullptr};
    std::vector<Pending> ops_;
    std::vector<HeapItem> heap_;
    SmallVector<ArrayNode*, 2> roots_;  // not owned: the caller holds their arrays
    std::vector<Leaf> leaves_;
    std::vector<IntrusivePtr<ArrayNode>> survivors_;
    std::unordered_map<const void*, uint32_t> shared_;
    std::unordered_set<const ArrayNode*> targets_;
    std::unordered_set<const ArrayNode*> paths_;
};

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
    return options.loss_scale.has_value() ? internal::ScaleGrad(grad, *options.loss_scale) : grad;
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
    run.Run();
    run.Unscale(options.loss_scale);
    run.Separate();
    for (const BackwardRun::Leaf& leaf : run.leaves()) {
        ArrayNode& node = *leaf.node;
        if (!node.IsGradRequired(g)) {
            if (run.Retains(node)) node.SetGrad(g, Own(leaf.grad));
            continue;
        }
        bool is_output =
                std::any_of(outputs.begin(), outputs.end(), [&](const Array& o) { return o.body()->node() == &node; });
        if (is_output) {
            node.SetGrad(g, options.enable_double_backprop ? leaf.grad : Own(leaf.grad));
            continue;
        }
        // Another thread may add its gradient meanwhile.
        for (;;) {
            Array old = node.GetGrad(g);
            Array grad = old                              ? internal::AddGrads(old, leaf.grad)
                         : options.enable_double_backprop ? leaf.grad
                                                          : Own(leaf.grad);
            if (node.ReplaceGrad(g, old, grad)) break;
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
    run.Unscale(options.loss_scale);
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
