#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "chainerx/core/backprop_id.h"
#include "chainerx/core/device.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/intrusive_ptr.h"
#include "chainerx/core/pool.h"
#include "chainerx/core/shape.h"
#include "chainerx/core/storage.h"

namespace chainerx {

class ArrayNode;
class Array;

// The object behind an Array: a view of a storage, and the node of its value in computational graphs.
class ArrayBody final : public RefCounted, public internal::Pooled {
public:
    ArrayBody(const Shape& shape, const Strides& strides, Dtype dtype, Device& device, StoragePtr storage,
              int64_t offset);
    // C-contiguous.
    ArrayBody(const Shape& shape, Dtype dtype, Device& device, StoragePtr storage);
    ~ArrayBody();

    static void Destroy(ArrayBody* body) noexcept { delete body; }
    // Nodes refer to their bodies without owning them.
    bool DropRef() const noexcept { return (IsLastRef() && node() == nullptr) || DropObservedRef(); }
    // Bodies alive in the process.
    static int64_t GetLiveCount() noexcept;

    // The node of the value in graphs, if it has one. Core stores it and does not look into it.
    ArrayNode* node() const noexcept { return node_.load(std::memory_order_acquire); }
    // Sets the node if the body has none, and returns the node of the body, which another thread may have set. Defined
    // in autograd/array.cc, as are DropNode and the graph-related members of Array.
    ArrayNode* SetNode(IntrusivePtr<ArrayNode> node) noexcept;

    Shape shape;
    Strides strides;
    int64_t size;
    Dtype dtype;
    bool is_contiguous;
    Device* device;
    StoragePtr storage;
    int64_t offset;
    char* data;
    // The binding's object for this body, if there is one now. Not owned.
    void* binding{nullptr};

private:
    void DropNode() noexcept;

    std::atomic<ArrayNode*> node_{nullptr};  // owned
};

// A reference to an n-dimensional array. Copying an Array does not copy data.
class Array {
public:
    Array() noexcept = default;
    explicit Array(IntrusivePtr<ArrayBody> body) noexcept : body_{std::move(body)} {}

    explicit operator bool() const noexcept { return static_cast<bool>(body_); }
    ArrayBody* body() const noexcept { return body_.get(); }
    const IntrusivePtr<ArrayBody>& body_ptr() const noexcept { return body_; }

    const Shape& shape() const { return body_->shape; }
    const Strides& strides() const { return body_->strides; }
    Dtype dtype() const { return body_->dtype; }
    Device& device() const { return *body_->device; }
    Context& context() const { return body_->device->context(); }
    int8_t ndim() const { return body_->shape.ndim(); }
    int64_t GetTotalSize() const { return body_->size; }
    int64_t GetItemSize() const { return chainerx::GetItemSize(body_->dtype); }
    int64_t GetNBytes() const { return GetTotalSize() * GetItemSize(); }
    int64_t offset() const { return body_->offset; }
    bool IsContiguous() const { return body_->is_contiguous; }
    // First element.
    char* raw_data() const { return body_->data; }
    template <class T>
    T* data() const {
        return reinterpret_cast<T*>(body_->data);
    }

    // Another array with the same contents that belongs to no graph.
    Array AsDetached() const;

    // Autograd. Without an id, these use the default graph of the array's context.
    const Array& RequireGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    bool IsGradRequired(const std::optional<BackpropId>& id = std::nullopt) const;
    // True if a computation with this array would be recorded in the graph.
    bool IsBackpropRequired(const std::optional<BackpropId>& id = std::nullopt) const;
    // True if it would be recorded in any graph.
    bool IsAnyBackpropRequired() const;
    // True if the array was computed from others in the graph.
    bool IsChained(const std::optional<BackpropId>& id = std::nullopt) const;
    // The gradient, or no array. Raises GradientError if the array does not belong to the graph.
    Array GetGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    void SetGrad(const Array& grad, const std::optional<BackpropId>& id = std::nullopt) const;
    void ClearGrad(const std::optional<BackpropId>& id = std::nullopt) const;

private:
    IntrusivePtr<ArrayBody> body_;
};

namespace internal {

// A view with a graph-free body.
Array MakeView(const Array& a, const Shape& shape, const Strides& strides, int64_t offset);
Array MakeArray(const Shape& shape, const Strides& strides, Dtype dtype, Device& device, StoragePtr storage,
                int64_t offset);

}  // namespace internal

// An uninitialized array.
Array Empty(const Shape& shape, Dtype dtype, Device& device = GetDefaultDevice());

// Raises if the arrays of a computation live on devices that cannot access each other's memory.
[[noreturn]] void ThrowDeviceMismatch(const Device& a, const Device& b);
inline void CheckDevices(const Array& a, const Array& b) {
    if (CHAINERX_UNLIKELY(&a.device() != &b.device())) ThrowDeviceMismatch(a.device(), b.device());
}

}  // namespace chainerx
