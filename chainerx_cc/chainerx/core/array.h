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

// What an Array refers to: a view of a storage, and the place of its value in computational graphs.
class ArrayBody final : public RefCounted, public internal::Pooled {
public:
    ArrayBody(const Shape& shape, const Strides& strides, Dtype dtype, Device& device, StoragePtr storage,
              int64_t offset);
    // C-contiguous.
    ArrayBody(const Shape& shape, Dtype dtype, Device& device, StoragePtr storage);
    ~ArrayBody();

    static void Destroy(ArrayBody* body) noexcept { delete body; }
    // Nodes observe their bodies.
    bool DropRef() const noexcept { return (IsLastRef() && node() == nullptr) || DropObservedRef(); }
    // Bodies alive in the process.
    static int64_t GetLiveCount() noexcept;

    // The place of the value in graphs, if it has one. Core keeps it and does not look into it.
    ArrayNode* node() const noexcept { return node_.load(std::memory_order_acquire); }
    // Sets the node, once in the life of a body. Returns the one that is there now, which another thread may have set.
    // (Like DropNode and the members of Array about graphs, defined in autograd/array.cc.)
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

    // Autograd. The default graph of the array's context is meant where no id is given.
    const Array& RequireGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    bool IsGradRequired(const std::optional<BackpropId>& id = std::nullopt) const;
    // True when a computation with this array would be recorded in the graph.
    bool IsBackpropRequired(const std::optional<BackpropId>& id = std::nullopt) const;
    // True when this would be so for any graph.
    bool IsAnyBackpropRequired() const;
    // True when the array was computed from others in the graph.
    bool IsChained(const std::optional<BackpropId>& id = std::nullopt) const;
    // The gradient, or no array. Raises GradientError when the array does not belong to the graph.
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

// An array whose elements are not set.
Array Empty(const Shape& shape, Dtype dtype, Device& device = GetDefaultDevice());

// Raises when arrays of one computation live on devices that cannot reach each other.
[[noreturn]] void ThrowDeviceMismatch(const Device& a, const Device& b);
inline void CheckDevices(const Array& a, const Array& b) {
    if (CHAINERX_UNLIKELY(&a.device() != &b.device())) ThrowDeviceMismatch(a.device(), b.device());
}

}  // namespace chainerx
