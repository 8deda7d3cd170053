#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "chainerx/core/intrusive_ptr.h"

namespace chainerx {

class Device;

// A block of device memory, shared by all arrays that view it.
class Storage final : public RefCounted {
public:
    using Deleter = void (*)(Storage*) noexcept;

    // Uses the context of the device as long as it lives. Defined in core/device.h, as is Destroy.
    Storage(void* data, size_t bytes, Device& device, Deleter deleter, void* owner = nullptr);

    void* data() const { return data_; }
    size_t bytes() const { return bytes_; }
    Device& device() const { return *device_; }
    void* owner() const { return owner_; }

    // Counts in-place changes, so that a graph notices that a kept value was overwritten.
    uint32_t version() const { return version_.load(std::memory_order_relaxed); }
    void BumpVersion() { version_.fetch_add(1, std::memory_order_relaxed); }

    static void Destroy(Storage* p) noexcept;

private:
    std::atomic<uint32_t> version_{0};
    void* data_;
    size_t bytes_;
    Device* device_;
    Deleter deleter_;  // frees the memory and this object
    void* owner_;      // for the deleter, e.g. the object that owns the memory
};

using StoragePtr = IntrusivePtr<Storage>;

}  // namespace chainerx
