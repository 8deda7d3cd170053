#pragma once

#include <cstddef>

namespace cuda_emulation {

constexpr int kMaxDevices = 8;

int DeviceCount();
// Whether a stand-in for CuPy computes on the same memory: on the host and at once. Device memory is then open to the
// host, and memory of the host may be that of the stand-in's devices.
bool IsMemoryShared();
// Memory of a device, or null if it has not enough.
void* AllocateMemory(int device, size_t bytes);
// Overwrites the block, so that a late read shows.
void FreeMemory(void* pointer);
struct MemoryUse {
    size_t total;  // of the device
    size_t used;
    size_t reserved;  // used, or kept since it was
    size_t peak_reserved;
};
MemoryUse GetMemoryUse(int device);
// Gives back what is kept.
void TrimMemory(int device);
void ResetPeakMemory(int device);
// The device that has the memory; -1 for memory of the host.
int DeviceOf(const void* pointer);

// Opens device memory to the host while kernels and copies run.
class MemoryAccess {
public:
    MemoryAccess();
    ~MemoryAccess();
    MemoryAccess(const MemoryAccess&) = delete;
    MemoryAccess& operator=(const MemoryAccess&) = delete;
};

}  // namespace cuda_emulation
