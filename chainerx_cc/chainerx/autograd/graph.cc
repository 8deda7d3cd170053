#include "chainerx/autograd/graph.h"

#include <algorithm>
#include <mutex>

#include "chainerx/core/context.h"
#include "chainerx/core/kernels.h"

namespace chainerx {

ArrayNode::ArrayNode(ArrayBody& body, GraphMask mask)
    : mask_{mask},
      clock_{internal::GetGraphClock()},
      body_{&body},
      device_{body.device},
      dtype_{body.dtype},
      shape_{body.shape} {}

void ArrayNode::Destroy(ArrayNode* node) noexcept {
    if (OpNode* op = node->creator_.get()) {
        std::lock_guard<SpinLock> lock{op->lock_};
        OpNode::Output& output = op->outputs_[node->output_index_];
        if (output.node == node) output.node = nullptr;
    }
    delete node;
}

void ArrayNode::AddToGraph(const BackpropId& id) {
    std::lock_guard<SpinLock> lock{lock_};
    uint64_t clock = internal::GetGraphClock();
    mask_.store(internal::PruneMask(mask_.load(), clock_.load()) | id.mask(), std::memory_order_relaxed);
    clock_.store(clock, std::memory_order_release);
}

Array ArrayNode::LockBody() {
    std::lock_guard<SpinLock> lock{lock_};
    if (body_ == nullptr || !body_->TryAddRef()) return Array{};
    return Array{IntrusivePtr<ArrayBody>::Adopt(body_)};
}

void ArrayNode::ForgetBody(const ArrayBody* body) noexcept {
    SmallVector<GradEntry, 1> grads;  // destroyed outside the lock
    std::lock_guard<SpinLock> lock{lock_};
    if (body_ != body) return;
    body_ = nullptr;
    grads = std::move(grads_);
}

void ArrayNode::DropRetainedGrads() noexcept {
    SmallVector<Array, 1> grads;  // destroyed outside the lock
    std::lock_guard<SpinLock> lock{lock_};
    if (!creator_) return;
    for (GradEntry& e : grads_) {
        if (!e.required) grads.push_back(std::move(e.grad));
    }
}

ArrayNode::GradEntry* ArrayNode::FindEntry(const BackpropId& id) const {
    for (GradEntry& e : grads_) {
        if (e.slot == id.slot() && e.birth == id.birth()) return &e;
    }
    return nullptr;
}

IntrusivePtr<OpNode> ArrayNode::Unchain() {
    std::lock_guard<SpinLock> guard{lock_};
    return std::move(creator_);
}

Array ArrayNode::AddEntry(const BackpropId& id, bool required, Array grad) {
    if (creator_) creator_->has_output_grads_.store(true, std::memory_order_relaxed);
    // Reuse the place of a released graph first, so that a loop with a graph for each turn does not grow the list.
    for (GradEntry& e : grads_) {
        if (internal::IsGraphSlotCurrent(e.slot, e.birth)) continue;
        Array stale = std::move(e.grad);
        e = GradEntry{id.slot(), id.birth(), required, std::move(grad)};
        return stale;
    }
    grads_.push_back(GradEntry{id.slot(), id.birth(), required, std::move(grad)});
    has_grads_.store(true, std::memory_order_relaxed);
    return Array{};
}

void ArrayNode::RequireGrad(const BackpropId& id) {
    Array stale;
    std::lock_guard<SpinLock> lock{lock_};
    if (GradEntry* e = FindEntry(id)) {
        e->required = true;
    } else {
        stale = AddEntry(id, true, Array{});
    }
}

bool ArrayNode::IsGradRequired(const BackpropId& id) const {
    if (!HasGradEntry()) return false;
    std::lock_guard<SpinLock> lock{lock_};
    const GradEntry* e = FindEntry(id);
    return e != nullptr && e->required;
}

Array ArrayNode::GetGrad(const BackpropId& id) {
    std::lock_guard<SpinLock> lock{lock_};
    const GradEntry* e = FindEntry(id);
    return e == nullptr ? Array{} : e->grad;
}

void ArrayNode::SetGrad(const BackpropId& id, Array grad) {
    std::unique_lock<SpinLock> lock{lock_};
    if (GradEntry* e = FindEntry(id)) {
        std::swap(e->grad, grad);  // the old one is destroyed outside the lock
    } else {
        grad = AddEntry(id, false, std::move(grad));
    }
    lock.unlock();
}

bool ArrayNode::ReplaceGrad(const BackpropId& id, const Array& expected, const Array& grad) {
    Array stale;
    std::lock_guard<SpinLock> lock{lock_};
    GradEntry* e = FindEntry(id);
    if ((e == nullptr ? nullptr : e->grad.body()) != expected.body()) return false;
    if (e == nullptr) {
        stale = AddEntry(id, false, grad);
    } else {
        e->grad = grad;  // the caller holds the old one
    }
    return true;
}

Array Saved::WithoutBody(const Array& a) {
    Array out = a.AsDetached();
    out.body()->SetNode(IntrusivePtr<ArrayNode>{a.body()->node()});
    return out;
}

void Saved::ThrowOverwritten() const {
    throw GradientError{"an array that backward needs was changed in place after it was used (shape ", array_.shape(),
                        "); make a copy before changing it"};
}

Array BackwardContext::GradOrZeros(size_t output) const {
    return HasGrad(output) ? grads_[output] : op_.ZerosLikeOutput(output);
}

Array BackwardContext::RetainedOutput(const Saved& saved, size_t output) const {
    const Array& a = saved.Get();
    if (!double_backprop_ && op_.mask() == graph_) return a;
    return op_.Reconnect(a, output);
}

OpNode::~OpNode() = default;

void OpNode::Destroy(OpNode* node) noexcept {
    // The first call on a thread processes a list; nested calls only add to it.
    static thread_local OpNode* t_dead = nullptr;
    static thread_local bool t_active = false;
    node->next_dead_ = t_dead;
    t_dead = node;
    if (t_active) return;
    t_active = true;
    while (t_dead != nullptr) {
        OpNode* op = t_dead;
        t_dead = op->next_dead_;
        delete op;
    }
    t_active = false;
}

void OpNode::AddInput(const Array& a, GraphMask mask) {
    ArrayNode* node = a.body()->node();
    GraphMask edge_mask = node != nullptr ? node->mask() & mask : 0;
    if (edge_mask == 0) {
        edges_.emplace_back();
        return;
    }
    rank_ = std::max(rank_, node->rank() + 1);
    edges_.push_back(Edge{IntrusivePtr<ArrayNode>{node}, edge_mask});
}

void OpNode::AddOutput(const Array& a) {
    ArrayBody* body = a.body();
    auto* node = new ArrayNode{*body, mask()};
    body->SetNode(IntrusivePtr<ArrayNode>{node});
    node->creator_ = IntrusivePtr<OpNode>{this};
    node->output_index_ = static_cast<uint32_t>(outputs_.size());
    if (outputs_.size() == 1) output_shapes_.push_back(FirstShape());
    outputs_.push_back(Output{node, body->device, body->dtype});
    if (outputs_.size() > 1) output_shapes_.push_back(body->shape);
}

void OpNode::AddNoOutput() {
    if (outputs_.size() == 1) output_shapes_.push_back(FirstShape());
    outputs_.push_back(Output{nullptr, nullptr, Dtype::kFloat32});
    if (outputs_.size() > 1) output_shapes_.emplace_back();
}

Shape OpNode::FirstShape() {
    IntrusivePtr<ArrayNode> first = LockOutput(0);
    return first ? first->shape() : Shape{};
}

IntrusivePtr<ArrayNode> OpNode::LockOutput(size_t index) {
    std::lock_guard<SpinLock> lock{lock_};
    ArrayNode* node = outputs_[index].node;
    if (node == nullptr || !node->TryAddRef()) return nullptr;
    return IntrusivePtr<ArrayNode>::Adopt(node);
}

Array OpNode::Reconnect(const Array& detached, size_t index) {
    Array a = detached.AsDetached();
    IntrusivePtr<ArrayNode> node = LockOutput(index);
    if (!node) {
        node = IntrusivePtr<ArrayNode>{new ArrayNode{*a.body(), mask()}};
        node->creator_ = IntrusivePtr<OpNode>{this};
        node->output_index_ = static_cast<uint32_t>(index);
        std::lock_guard<SpinLock> lock{lock_};
        outputs_[index].node = node.get();
    }
    a.body()->SetNode(std::move(node));
    return a;
}

Array OpNode::ZerosLikeOutput(size_t index) const {
    const Output& output = outputs_[index];
    return FilledArray(output_shapes_[index], Scalar{0}, output.dtype, *output.device);
}

bool OpNode::GetEdge(size_t index, Edge* edge) {
    std::lock_guard<SpinLock> lock{lock_};
    if (index >= edges_.size()) return false;
    *edge = edges_[index];
    return true;
}

bool OpNode::IsReleased(GraphMask graph) {
    std::lock_guard<SpinLock> lock{lock_};
    return (released_ & graph) != 0;
}

bool OpNode::IsKeptOnlyBy(const ArrayNode* const* nodes, size_t count) {
    std::lock_guard<SpinLock> lock{lock_};
    return std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& o) {
        if (o.node == nullptr) return true;
        // The array holds the only reference.
        return std::find(nodes, nodes + count, o.node) != nodes + count && o.node->use_count() == 1;
    });
}

void OpNode::LeadTo(const std::vector<IntrusivePtr<ArrayNode>>& nodes) {
    std::lock_guard<SpinLock> lock{lock_};
    if (mask() != 0 || users_ != 0 || !edges_.empty()) return;
    for (const IntrusivePtr<ArrayNode>& node : nodes) edges_.push_back(Edge{node, 0});
}

OpUse::OpUse(OpNode& op, GraphMask graph, bool release) : op_{op}, graph_{graph}, release_{release} {
    std::lock_guard<SpinLock> lock{op.lock_};
    entered_ = (op.released_ & graph) == 0;
    if (!entered_) return;
    ++op.users_;
    if (release) op.released_ |= graph;
}

OpUse::~OpUse() {
    if (!entered_) return;
    SmallVector<Edge, 2> edges;  // destroyed outside the lock
    {
        std::lock_guard<SpinLock> lock{op_.lock_};
        if (release_ && !succeeded_) op_.released_ &= ~graph_;
        if (release_ && succeeded_) op_.mask_.store(op_.mask() & ~graph_, std::memory_order_relaxed);
        if (--op_.users_ != 0) return;
        if (op_.mask() != 0) {
            for (Edge& e : op_.edges_) {
                if (e.mask == 0 || (e.mask &= op_.mask()) != 0) continue;
                edges.emplace_back();
                std::swap(edges.back().node, e.node);
            }
            return;
        }
        edges = std::move(op_.edges_);
    }
    // No graph is left that could lead here.
    op_.ReleaseSaved();
}

namespace internal {

BackpropId GetBackpropId(const Array& a, const std::optional<BackpropId>& id) {
    if (!id.has_value()) {
        BackpropId own = a.context().default_backprop_id();
        if (CHAINERX_UNLIKELY(!IsGraphSlotCurrent(own.slot(), own.birth())))
            own.CheckValid();  // the graph of a closed context
        return own;
    }
    a.context().CheckValidBackpropId(*id);
    return *id;
}

void CheckInPlace(const Array& out, const char* what) {
    // no_backprop_mode records nothing, so parameters may be updated in it.
    if (GetRecordMask(out) != 0) {
        throw ChainerxError{what,
                            " cannot change an array that belongs to a computational graph in place; "
                            "work on as_grad_stopped(), or inside no_backprop_mode()"};
    }
}

}  // namespace internal

}  // namespace chainerx
