#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "chainerx/backends/cuda/driver.h"
#include "chainerx/backends/cuda/fault.h"
#include "chainerx/backends/cuda/memory.h"
#include "chainerx/backends/cuda/staging.h"
#include "chainerx/backends/cuda/stream.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/device.h"
#include "chainerx/core/kernel_family.h"
#include "chainerx/core/storage.h"

namespace chainerx::cuda {

// GPUs of NVIDIA. A shared library of its own, so that a program without a GPU loads nothing of CUDA.
class CudaBackend final : public Backend {
public:
    static constexpr const char* kName = "cuda";

    // Raises BackendError if there is no driver or no GPU.
    explicit CudaBackend(Context& context);
    int GetDeviceCount() const override { return device_count_; }

protected:
    std::unique_ptr<Device> CreateDevice(int index) override;

private:
    int device_count_;
};

// Kernels and copies run in order on the thread's current stream of the device, and calls return before they end.
class CudaDevice final : public Device {
public:
    CudaDevice(Backend& backend, int index);
    ~CudaDevice() override;
    StoragePtr Allocate(size_t bytes) override;
    void CopyFromHost(void* dst, const void* src, size_t bytes) override;
    void CopyToHost(void* dst, const void* src, size_t bytes) override;
    bool CanAccess(const Device& other) const override { return &other == this; }
    bool CopyFromDevice(void* dst, Device& from, const void* src, size_t bytes) override;
    void Synchronize() override;

    StreamPtr MakeStream() override;
    StreamPtr GetDefaultStream() override;
    std::unique_ptr<RecordedWork> Record(const std::function<void()>& submit);

    MemoryStatistics GetMemoryStatistics() override;
    void ResetMemoryPeaks() override;
    void SetMemoryLimit(std::optional<size_t> bytes) override;
    void FreeUnusedBlocks() override;
    void Free(Storage* storage) noexcept;
    // How much more can be allocated, as far as is known.
    size_t GetFreeBytes();

    // Where kernels report errors in their data.
    Fault* fault() const { return fault_; }

private:
    [[noreturn]] void ThrowOutOfMemory(size_t bytes);

    Fault* fault_;  // in memory of the host that kernels reach
    StreamSet streams_;
    MemoryPool memory_;
    Staging staging_;
    std::mutex recording_mutex_;
    cudaStream_t recorded_stream_{};
};

// Makes a device the current one of the calling thread, as CUDA's functions need it. The program may have chosen
// another one for other libraries, which comes back at the end.
class CurrentDevice {
public:
    explicit CurrentDevice(const Device& device) : device_{device} {
        int current = device.index();
        cudaGetDevice(&current);
        is_pushed_ = current != device.index() && PushDevice(device.index());
    }
    ~CurrentDevice() {
        if (is_pushed_) PopDevice();
    }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

    // The thread's current stream of the device.
    cudaStream_t stream() const {
        Stream* stream = FindCurrentStream(device_);
        return stream == nullptr ? nullptr : reinterpret_cast<cudaStream_t>(stream->handle());
    }

private:
    const Device& device_;
    bool is_pushed_;
};

using CudaKernels = KernelFamily<CudaBackend>;

inline const CudaDevice& GetCudaDevice(const Device& device) { return static_cast<const CudaDevice&>(device); }
inline CudaDevice& GetCudaDevice(Device& device) { return static_cast<CudaDevice&>(device); }

}  // namespace chainerx::cuda
