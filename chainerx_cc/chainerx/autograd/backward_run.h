#pragma once

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/gradient_ops.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/core/backprop_id.h"

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
    void Unscale(const BackwardOptions& options) {
        for (Leaf& l : leaves_) {
            if (l.grad) l.grad = Unscaled(*l.node, l.grad, options);
        }
    }
    static Array Unscaled(const ArrayNode& node, const Array& grad, const BackwardOptions& options) {
        bool keeps =
                options.inputs.has_value() && std::any_of(options.inputs->begin(), options.inputs->end(),
                                                          [&](const Array& a) { return a.body()->node() == &node; });
        if (keeps || !options.loss_scale.has_value()) return grad;
        return internal::ScaleGrad(grad, *options.loss_scale, internal::LossFactor::kInverse);
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

    // Calls `on_leaf` with the node of each leaf, and its gradient, when the last operation that uses it is done.
    void Watch(std::function<void(ArrayNode&, Array)> on_leaf) {
        on_leaf_ = std::move(on_leaf);
        std::unordered_set<const OpNode*> seen;
        std::vector<IntrusivePtr<OpNode>> stack;
        auto visit = [&](OpNode* op) {
            if (seen.insert(op).second) stack.emplace_back(op);
        };
        for (const ArrayNode* root : roots_) {
            if (OpNode* op = CreatorOf(*root)) visit(op);
        }
        while (!stack.empty()) {
            IntrusivePtr<OpNode> op = std::move(stack.back());
            stack.pop_back();
            Edge edge;
            for (size_t i = 0; op->GetEdge(i, &edge); ++i) {
                if ((edge.mask & graph_) == 0) continue;
                OpNode* creator = CreatorOf(*edge.node);
                if (creator != nullptr) {
                    visit(creator);
                } else if (edge.node->IsGradRequired(id_)) {
                    ++uses_left_[edge.node.get()];
                }
            }
        }
        // Those get theirs at the end, in place of the gradients that the pass started from.
        for (const ArrayNode* root : roots_) uses_left_.erase(root);
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

    // Gradients that have arrived at targets, leaves and arrays that require a gradient; none where `on_leaf` took it.
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

    // The operation behind a node in this graph; null for a leaf.
    OpNode* CreatorOf(const ArrayNode& node) const {
        OpNode* op = node.creator();
        return op == nullptr || (op->mask() & graph_) == 0 ? nullptr : op;
    }

    void Arrive(ArrayNode* node, Array grad, bool from_ended) {
        OpNode* op = CreatorOf(*node);
        if (op == nullptr) {
            OpNode* creator = node->creator();
            if (creator != nullptr && creator->IsReleased(graph_)) ThrowReleased(*creator);
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
        if (on_leaf_) TellOfLeaves(edges);
    }

    // Tells of the leaves that an operation was the last one to use.
    void TellOfLeaves(const SmallVector<Edge, 2>& edges) {
        for (const Edge& edge : edges) {
            if ((edge.mask & graph_) == 0) continue;
            auto left = uses_left_.find(edge.node.get());
            if (left == uses_left_.end() || --left->second > 0) continue;
            uses_left_.erase(left);
            for (Leaf& l : leaves_) {
                if (l.node.get() == edge.node.get() && l.grad) on_leaf_(*l.node, std::move(l.grad));
            }
        }
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
    std::function<void(ArrayNode&, Array)> on_leaf_;
    std::unordered_map<const ArrayNode*, int64_t> uses_left_;  // of leaves that are watched
    std::vector<Pending> ops_;
    std::vector<HeapItem> heap_;
    SmallVector<ArrayNode*, 2> roots_;  // not owned: the caller holds their arrays
    std::vector<Leaf> leaves_;
    std::vector<IntrusivePtr<ArrayNode>> survivors_;
    std::unordered_map<const void*, uint32_t> shared_;
    std::unordered_set<const ArrayNode*> targets_;
    std::unordered_set<const ArrayNode*> paths_;
};

}  // namespace chainerx
