#include "chainerx/core/kernel_watch.h"

#include "chainerx/core/backend.h"

namespace chainerx {

std::string KernelCall::GetName() const { return slot_.name(); }

namespace internal {

__thread KernelWatcher* t_kernel_watcher = nullptr;

UnwatchedScope::UnwatchedScope() noexcept : watcher_{ExchangeKernelWatcher(nullptr)} {}
UnwatchedScope::~UnwatchedScope() { ExchangeKernelWatcher(watcher_); }

void* RequireKernel(const KernelSlotBase& slot, Device& device) {
    void* kernel = device.backend().FindKernel(slot);
    if (kernel == nullptr) device.backend().ThrowMissingKernel(slot);
    return kernel;
}

void NoteUnknownCall(KernelWatcher& watcher, const KernelSlotBase& slot) {
    watcher.OnGraphBreak(std::string{"the kernel '"} + slot.name() + "', which cannot be repeated");
}

}  // namespace internal

void NoteGraphBreak(const char* what) {
    if (KernelWatcher* watcher = internal::t_kernel_watcher) watcher->OnGraphBreak(what);
}

KernelWatcher* ExchangeKernelWatcher(KernelWatcher* watcher) noexcept {
    return std::exchange(internal::t_kernel_watcher, watcher);
}

}  // namespace chainerx
