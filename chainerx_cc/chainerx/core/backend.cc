#include "chainerx/core/backend.h"

#include <utility>

#include "chainerx/core/context.h"
#include "chainerx/core/stream.h"

namespace chainerx {
namespace {

struct SlotList {
    std::mutex mutex;
    std::vector<const KernelSlotBase*> slots;
};

SlotList& Slots() {
    static SlotList list;
    return list;
}

thread_local Device* t_default_device;
// Keeps the context of the default device.
thread_local ContextPtr t_default_device_context;

void StoreDefaultDevice(Device* device) {
    t_default_device = device;
    t_default_device_context = Context::Share(device == nullptr ? nullptr : &device->context());
}

}  // namespace

KernelSlotBase::KernelSlotBase(const char* name, int functor_bytes) : name_{name}, functor_bytes_{functor_bytes} {
    SlotList& list = Slots();
    std::lock_guard<std::mutex> lock{list.mutex};
    id_ = static_cast<int>(list.slots.size());
    list.slots.push_back(this);
}

KernelSlotBase::KernelSlotBase(const char* name, TakesComplex) : KernelSlotBase{name} { takes_complex_ = true; }

std::vector<const KernelSlotBase*> KernelSlotBase::All() {
    SlotList& list = Slots();
    std::lock_guard<std::mutex> lock{list.mutex};
    return list.slots;
}

Backend::Backend(Context& context, std::string name, internal::AbiVersion<kAbiVersion>)
    : context_{context}, name_{std::move(name)} {}

Device& Backend::GetDevice(int index) {
    int count = GetDeviceCount();
    if (index < 0 || index >= count) {
        throw IndexError{"device index ", index, " is out of range: backend '", name_, "' has ", count, " devices"};
    }
    std::lock_guard<std::mutex> lock{mutex_};
    devices_.resize(count);
    std::unique_ptr<Device>& device = devices_[index];
    if (device == nullptr) device = CreateDevice(index);
    return *device;
}

void Backend::SetKernel(const KernelSlotBase& slot, void* kernel) {
    auto id = static_cast<size_t>(slot.id());
    if (kernels_.size() <= id) kernels_.resize(id + 1);
    kernels_[id] = kernel;
    std::lock_guard<std::mutex> lock{mutex_};
    if (watch_count_ == 0) unwatched_count_ = kernels_.size();
}

void Backend::Watch() {
    std::lock_guard<std::mutex> lock{mutex_};
    if (watch_count_++ == 0) unwatched_count_ = 0;
}

void Backend::Unwatch() {
    std::lock_guard<std::mutex> lock{mutex_};
    if (--watch_count_ == 0) unwatched_count_ = kernels_.size();
}

void Backend::ThrowMissingKernel(const KernelSlotBase& slot) const {
    throw NotImplementedError{"backend '", name_, "' has no kernel for '", slot.name(), "'"};
}

Device::Device(Backend& backend, int index)
    : backend_{backend},
      index_{index},
      is_shared_{backend.context().is_shared()},
      name_{backend.name() + ":" + std::to_string(index)} {}

Context& Device::context() const { return backend_.context(); }

void Device::AddContextRef() noexcept { context().AddRef(); }
void Device::DropContextRef() noexcept { ContextPtr::Adopt(&context()); }  // which may end it

bool Device::CopyFromDevice(void*, Device&, const void*, size_t) { return false; }

StreamPtr Device::MakeStream() { return StreamPtr{new Stream{*this}}; }
StreamPtr Device::GetDefaultStream() { return StreamPtr{new Stream{*this}}; }

MemoryStatistics Device::GetMemoryStatistics() {
    throw NotImplementedError{"device '", name_, "' keeps no account of its memory"};
}
void Device::ResetMemoryPeaks() { GetMemoryStatistics(); }
void Device::SetMemoryLimit(std::optional<size_t>) { GetMemoryStatistics(); }

Device& GetDefaultDevice() {
    if (t_default_device == nullptr) StoreDefaultDevice(&GetDefaultContext().GetDevice("native:0"));
    return *t_default_device;
}

void SetDefaultDevice(Device* device) {
    if (device != nullptr && &device->context() != &GetDefaultContext()) {
        throw ContextError{"device '", device->name(), "' does not belong to the default context"};
    }
    StoreDefaultDevice(device);
}

DeviceScope::DeviceScope(Device& device) : previous_{t_default_device}, kept_context_{t_default_device_context} {
    SetDefaultDevice(&device);
}
DeviceScope::~DeviceScope() { internal::RestoreDefaultDevice(previous_); }

namespace internal {
Device* GetDefaultDeviceOrNull() noexcept { return t_default_device; }

void RestoreDefaultDevice(Device* device) noexcept {
    bool fits = device != nullptr && &device->context() == GetDefaultContextOrNull();
    StoreDefaultDevice(fits ? device : nullptr);
}
}  // namespace internal

}  // namespace chainerx
