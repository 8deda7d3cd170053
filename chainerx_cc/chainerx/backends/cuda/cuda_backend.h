#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "chainerx/backends/cuda/fault.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/device.h"
#include "chainerx/core/kernel_family.h"

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

// Kernels and copies of all threads run in order on the device's default stream, and calls return before they end.
// Memory comes from the driver's pool of the device, in the order of the stream. CuPy and PyTorch can allocate from the
// same pool, so the libraries share free memory.
class CudaDevice final : public Device {
public:
    CudaDevice(Backend& backend, int index);
    ~CudaDevice() override;
    StoragePtr Allocate(size_t bytes) override;
    void CopyFromHost(void* dst, const void* src, size_t bytes) override;
    void CopyToHost(void* dst, const void* src, size_t bytes) override;
    bool CanAccess(const Device& other) const override { return &other == this; }
    void Synchronize() override;

    // Where kernels report errors in their data.
    Fault* fault() const { return fault_; }

private:
    Fault* fault_;  // in memory of the host that kernels reach
};

// Makes a device the current one of the calling thread, as CUDA's functions need it. The program may have chosen
// another one for other libraries, which comes back at the end.
class CurrentDevice {
public:
    explicit CurrentDevice(const Device& device) : index_{device.index()}, previous_{index_} {
        cudaGetDevice(&previous_);
        if (previous_ != index_) cudaSetDevice(index_);
    }
    ~CurrentDevice() {
        if (previous_ != index_) cudaSetDevice(previous_);
    }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

    cudaStream_t stream() const { return nullptr; }  // the default one of the current device

private:
    int index_;
    int previous_;
};

using CudaKernels = KernelFamily<CudaBackend>;

inline const CudaDevice& GetCudaDevice(const Device& device) { return static_cast<const CudaDevice&>(device); }

}  // namespace chainerx::cuda
