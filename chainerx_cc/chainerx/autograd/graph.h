#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backprop_mode.h"
#include "chainerx/core/intrusive_ptr.h"
#include "chainerx/core/pool.h"
#include "chainerx/core/small_vector.h"
#include "chainerx/core/spin_lock.h"

// All graphs share their nodes: an array and an operation have at most one node each, and bit masks say to which graphs
// a node or an edge belongs. Results own their inputs:
//
//     ArrayBody -> ArrayNode -> OpNode -> (edges) ArrayNode -> ...
//
// The references back (node to body, operation to results) do not own, and a lock guards them.

namespace chainerx {

class OpNode;
class BackwardRun;

namespace internal {

// The entry in which a backward pass keeps its state of a node.
struct RunMark {
    std::atomic<const void*> run{nullptr};
    uint32_t index{0};
};

}  // namespace internal

// The node of an array in graphs. It outlives the array while an operation needs it.
class ArrayNode final : public RefCounted, public internal::Pooled {
public:
    ArrayNode(ArrayBody& body, GraphMask mask);
    ~ArrayNode() = default;

    static void Destroy(ArrayNode* node) noexcept;
    // Operations refer to their results without owning them.
    bool DropRef() const noexcept { return DropObservedRef(); }

    const Shape& shape() const { return shape_; }
    Dtype dtype() const { return dtype_; }
    Device& device() const { return *device_; }
    OpNode* creator() const { return creator_.get(); }
    uint32_t output_index() const { return output_index_; }
    int32_t rank() const;

    // Graphs to which the node belongs now.
    GraphMask mask() const noexcept {
        // Reads in the opposite order of AddToGraph: an old mask with a new clock would bring released graphs back.
        uint64_t clock = clock_.load(std::memory_order_acquire);
        GraphMask mask = mask_.load(std::memory_order_relaxed);
        return CHAINERX_LIKELY(mask == 1) ? mask : internal::PruneMask(mask, clock);
    }
    void AddToGraph(const BackpropId& id);

    // Cuts the edge to the operation that made the array, and returns that operation.
    IntrusivePtr<OpNode> Unchain();

    // The array, if it is alive.
    Array LockBody();
    // Called when the body is destroyed. Nobody can see the gradients then.
    void ForgetBody(const ArrayBody* body) noexcept;
    // Drops the gradients of a result that nobody asked for by RequireGrad. Called when a binding's object for the
    // body is destroyed: only operations hold it then, and a gradient whose graph leads to them would live forever.
    void DropRetainedGrads() noexcept;

    // Gradients and gradient requirements of this node, one per graph.
    void RequireGrad(const BackpropId& id);
    bool IsGradRequired(const BackpropId& id) const;
    bool HasGradEntry() const { return has_grads_.load(std::memory_order_relaxed); }
    Array GetGrad(const BackpropId& id);
    void SetGrad(const BackpropId& id, Array grad);
    // Sets the gradient if the present one is still `expected`, else returns false.
    bool ReplaceGrad(const BackpropId& id, const Array& expected, const Array& grad);

    internal::RunMark mark;

private:
    friend class OpNode;

    struct GradEntry {
        int slot;
        uint64_t birth;
        bool required;
        Array grad;
    };
    GradEntry* FindEntry(const BackpropId& id) const;
    // Returns objects that the caller has to destroy outside the lock.
    Array AddEntry(const BackpropId& id, bool required, Array grad);

    mutable SpinLock lock_;
    std::atomic<bool> has_grads_{false};
    uint32_t output_index_{0};
    std::atomic<GraphMask> mask_;
    std::atomic<uint64_t> clock_;
    ArrayBody* body_;  // not owned
    IntrusivePtr<OpNode> creator_;
    Device* device_;
    Dtype dtype_;
    Shape shape_;
    mutable SmallVector<GradEntry, 1> grads_;
};

// An input of an operation: its node, and the graphs through which gradients flow to it.
struct Edge {
    IntrusivePtr<ArrayNode> node;
    GraphMask mask{0};
};

// A value that the backward computation needs, with a check that nothing has overwritten it.
class Saved {
public:
    Saved() = default;
    explicit Saved(const Array& a) : array_{a}, version_{a.body()->storage->version()} {
        const ArrayNode* node = a.body()->node();
        if (node != nullptr && node->HasGradEntry()) array_ = WithoutBody(a);
    }
    explicit operator bool() const { return static_cast<bool>(array_); }
    const Array& Get() const {
        if (CHAINERX_UNLIKELY(array_.body()->storage->version() != version_)) ThrowOverwritten();
        return array_;
    }

private:
    // Another body with the same node. Operations must not keep alive an array that has gradients: its gradient may
    // have been computed from it, and such a cycle would never be freed.
    static Array WithoutBody(const Array& a);
    [[noreturn]] void ThrowOverwritten() const;
    Array array_;
    uint32_t version_{0};
};

// The arguments of a backward computation.
class BackwardContext {
public:
    // `grads`: gradients of the outputs, replaced one by one with those of the inputs in `results`.
    BackwardContext(OpNode& op, GraphMask graph, bool double_backprop, Array* grads, Array* results, const bool* wanted)
        : op_{op},
          graph_{graph},
          double_backprop_{double_backprop},
          grads_{grads},
          results_{results},
          wanted_{wanted} {}

    size_t output_count() const;
    bool HasGrad(size_t output) const { return static_cast<bool>(grads_[output]); }
    const Array& grad(size_t output = 0) const { return grads_[output]; }
    // The gradient of an output; zeros if none has arrived.
    Array GradOrZeros(size_t output) const;
    bool IsWanted(size_t input) const { return wanted_[input]; }
    void SetGrad(size_t input, Array grad) { results_[input] = std::move(grad); }

    // A kept output, connected to its graphs again if gradients of gradients are possible.
    Array RetainedOutput(const Saved& saved, size_t output) const;

private:
    OpNode& op_;
    GraphMask graph_;
    bool double_backprop_;
    Array* grads_;
    Array* results_;
    const bool* wanted_;
};

// A recorded operation. Derived classes keep the values that their backward computation reads.
class OpNode : public RefCounted, public internal::Pooled {
public:
    OpNode(const char* name, GraphMask mask) : name_{name}, mask_{mask} {}
    virtual ~OpNode();

    // Destroys a node without recursion, however long the chain behind it is.
    static void Destroy(OpNode* node) noexcept;

    virtual void Backward(BackwardContext& ctx) = 0;
    // Drops the values kept for the backward computation.
    virtual void ReleaseSaved() noexcept = 0;
    const char* name() const { return name_; }
    int32_t rank() const { return rank_; }
    GraphMask mask() const { return mask_.load(std::memory_order_relaxed); }

    // Only for the thread that records the operation, and within an OpUse.
    const SmallVector<Edge, 2>& edges() const { return edges_; }
    // For other threads. Returns false after the last edge and after the release of all graphs.
    bool GetEdge(size_t index, Edge* edge);
    size_t output_count() const { return outputs_.size(); }

    // Inputs are added in the order of their gradients, outputs in the order of the results.
    void AddInput(const Array& a, GraphMask mask);
    void AddNoInput() { edges_.emplace_back(); }
    void AddOutput(const Array& a);
    void AddNoOutput();

    // The node of an output, if it is alive; `Reconnect` makes a new one if not.
    IntrusivePtr<ArrayNode> LockOutput(size_t index);
    Array Reconnect(const Array& detached, size_t index);
    Array ZerosLikeOutput(size_t index) const;

    bool IsReleased(GraphMask graph);

    // Whether only the arrays of these nodes still need the operation.
    bool IsKeptOnlyBy(const ArrayNode* const* nodes, size_t count);

    // After the operation has been released, leads to these nodes instead of its inputs.
    void LeadTo(const std::vector<IntrusivePtr<ArrayNode>>& nodes);

    // True if an output has or requires its own gradient.
    bool HasOutputGrads() const { return has_output_grads_.load(std::memory_order_relaxed); }

    internal::RunMark mark;

private:
    friend class ArrayNode;
    friend class OpUse;

    struct Output {
        ArrayNode* node;  // not owned
        Device* device;
        Dtype dtype;
    };

    Shape FirstShape();

    SpinLock lock_;
    const char* name_;
    int32_t rank_{0};
    uint32_t users_{0};
    std::atomic<bool> has_output_grads_{false};
    std::atomic<GraphMask> mask_;
    GraphMask released_{0};
    SmallVector<Edge, 2> edges_;
    SmallVector<Output, 1> outputs_;
    std::vector<Shape> output_shapes_;  // kept when there is more than one output
    OpNode* next_dead_{nullptr};
};

// One backward computation of an operation. The operation keeps its edges and values until all such computations have
// ended, on any thread. With `release`, the operation then leaves the graph, unless the computation fails.
class OpUse {
public:
    OpUse(OpNode& op, GraphMask graph, bool release);
    ~OpUse();
    OpUse(const OpUse&) = delete;
    OpUse& operator=(const OpUse&) = delete;

    // False when the graph has been released.
    explicit operator bool() const { return entered_; }
    void Succeed() { succeeded_ = true; }

private:
    OpNode& op_;
    GraphMask graph_;
    bool release_;
    bool entered_;
    bool succeeded_{false};
};

inline size_t BackwardContext::output_count() const { return op_.output_count(); }

inline int32_t ArrayNode::rank() const { return creator_ ? creator_->rank() : 0; }

namespace internal {

// Graphs that record a computation that reads the array.
inline GraphMask GetRecordMask(const Array& a) noexcept {
    const ArrayBody* body = a.body();
    const ArrayNode* node = body->node();
    if (CHAINERX_LIKELY(node == nullptr)) return 0;
    return node->mask() & ~t_disabled_graphs;
}

// Resolves the default graph of the array's context; checks that a given one is of the same context.
BackpropId GetBackpropId(const Array& a, const std::optional<BackpropId>& id);

// Raises if the array must not be changed in place because a graph depends on its present value.
void CheckInPlace(const Array& out, const char* what);

}  // namespace internal
}  // namespace chainerx
