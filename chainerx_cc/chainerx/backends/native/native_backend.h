#pragma once

#include <memory>
#include <string>

#include "chainerx/core/backend.h"
#include "chainerx/core/device.h"
#include "chainerx/core/kernel_family.h"

namespace chainerx::native {

// The CPU. Its devices share memory; there are several so that programs for many devices run on one processor.
class NativeBackend final : public Backend {
public:
    static constexpr const char* kName = "native";
    static constexpr int kDeviceCount = 4;

    explicit NativeBackend(Context& context);
    int GetDeviceCount() const override { return kDeviceCount; }

protected:
    std::unique_ptr<Device> CreateDevice(int index) override;
};

class NativeDevice final : public Device {
public:
    using Device::Device;
    StoragePtr Allocate(size_t bytes) override;
    void CopyFromHost(void* dst, const void* src, size_t bytes) override;
    void CopyToHost(void* dst, const void* src, size_t bytes) override;
    bool CanAccess(const Device& other) const override { return &other.backend() == &backend(); }
    bool HasHostMemory() const override { return true; }
    bool HasComplex() const override { return true; }
    void FreeUnusedBlocks() override;
};

using NativeKernels = KernelFamily<NativeBackend>;

// Threads that kernels may use, the calling one included.
int GetThreadCount();
void SetThreadCount(int n);

// The type of processor whose kernels multiply matrices, and why it is this one (see kernels/blas.h).
struct BlasCore {
    std::string type;
    std::string reason;
    bool has_one_order;
};
BlasCore GetBlasCore();

}  // namespace chainerx::native
