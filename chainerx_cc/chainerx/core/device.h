#pragma once

#include <cstddef>
#include <string>

#include "chainerx/core/storage.h"

namespace chainerx {

class Backend;
class Context;

// A place where arrays live and computations run. Owned by its backend.
class Device {
public:
    Device(Backend& backend, int index);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    Backend& backend() const { return backend_; }
    Context& context() const;
    int index() const { return index_; }
    const std::string& name() const { return name_; }

    virtual StoragePtr Allocate(size_t bytes) = 0;
    // Copies between this device's memory and host memory, after the work that was submitted before.
    virtual void CopyFromHost(void* dst, const void* src, size_t bytes) = 0;
    virtual void CopyToHost(void* dst, const void* src, size_t bytes) = 0;
    // True if kernels of this device can read the memory of the other device directly.
    virtual bool CanAccess(const Device& other) const { return &other == this; }
    // True if the host can read and write the memory of this device directly.
    virtual bool HasHostMemory() const { return false; }
    // Waits until all submitted work is done.
    virtual void Synchronize() {}

private:
    Backend& backend_;
    int index_;
    std::string name_;
};

// The calling thread's default device; the first native device of the default context unless set.
Device& GetDefaultDevice();
// Sets (or, with null, unsets) the calling thread's default device.
void SetDefaultDevice(Device* device);

class DeviceScope {
public:
    explicit DeviceScope(Device& device);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

private:
    Device* previous_;
};

namespace internal {
Device* GetDefaultDeviceOrNull() noexcept;
}

}  // namespace chainerx
