#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "chainerx/core/intrusive_ptr.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/memory_statistics.h"
#include "chainerx/core/storage.h"

namespace chainerx {

class Backend;
class Context;
class Stream;

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

    // Count users of a shared context (see core/context.h). The device may end with the last of them.
    void AddUser() noexcept {
        if (CHAINERX_UNLIKELY(is_shared_)) AddContextRef();
    }
    void DropUser() noexcept {
        if (CHAINERX_UNLIKELY(is_shared_)) DropContextRef();
    }

    virtual StoragePtr Allocate(size_t bytes) = 0;
    // Copies between this device's memory and host memory, after the work that was submitted before.
    virtual void CopyFromHost(void* dst, const void* src, size_t bytes) = 0;
    virtual void CopyToHost(void* dst, const void* src, size_t bytes) = 0;
    // True if kernels of this device can read the memory of the other device directly.
    virtual bool CanAccess(const Device& other) const { return &other == this; }
    // True if the host can read and write the memory of this device directly.
    virtual bool HasHostMemory() const { return false; }
    // Whether arrays may be complex.
    virtual bool HasComplex() const { return false; }
    // Copies from the memory of another device that kernels of this one cannot read, without the host. Returns false if
    // there is no such way.
    virtual bool CopyFromDevice(void* dst, Device& from, const void* src, size_t bytes);
    // Waits until all submitted work is done.
    virtual void Synchronize() {}

    // Queues of work; see core/stream.h. Devices that have none do all work at once.
    virtual IntrusivePtr<Stream> MakeStream();
    virtual IntrusivePtr<Stream> GetDefaultStream();

    // What arrays of this device use. Devices that keep no such account raise NotImplementedError, also if they are
    // asked to limit it.
    virtual MemoryStatistics GetMemoryStatistics();
    // Resets the peaks and counts.
    virtual void ResetMemoryPeaks();
    // None: no limit but the memory of the device.
    virtual void SetMemoryLimit(std::optional<size_t> bytes);
    // Gives memory that is kept for new arrays back to the system.
    virtual void FreeUnusedBlocks() {}

private:
    void AddContextRef() noexcept;
    void DropContextRef() noexcept;

    Backend& backend_;
    int index_;
    bool is_shared_;
    std::string name_;
};

inline Storage::Storage(void* data, size_t bytes, Device& device, Deleter deleter, void* owner)
    : data_{data}, bytes_{bytes}, device_{&device}, deleter_{deleter}, owner_{owner} {
    device.AddUser();
}

inline void Storage::Destroy(Storage* p) noexcept {
    Device* device = p->device_;
    p->deleter_(p);
    device->DropUser();
}

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
    IntrusivePtr<Context> kept_context_;
};

namespace internal {
Device* GetDefaultDeviceOrNull() noexcept;
// Sets the default device, or unsets it if the device does not belong to the default context, which may have changed.
void RestoreDefaultDevice(Device* device) noexcept;
}  // namespace internal

}  // namespace chainerx
