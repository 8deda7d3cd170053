#include "chainerx/backends/cuda/cuda_backend.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "chainerx/backends/cuda/error.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/context.h"

namespace chainerx::cuda {
namespace {

// Copies from this size on let other threads of the interpreter run.
constexpr size_t kLongCopy = 1 << 16;

cudaMemPool_t GetPool(int device) {
    cudaMemPool_t pool;
    Check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
    return pool;
}

void FreeStorage(Storage* storage) noexcept {
    // Errors of earlier kernels show here again; whoever synchronizes raises them.
    CurrentDevice current{storage->device()};
    cudaFreeAsync(storage->data(), current.stream());
    delete storage;
}

}  // namespace

void ThrowCudaError(cudaError_t error, const char* what) {
    cudaGetLastError();  // a next call starts without it
    throw DeviceError{"CUDA error in ", what, ": ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")"};
}

CudaBackend::CudaBackend(Context& context) : Backend{context, kName} {
    cudaError_t error = cudaGetDeviceCount(&device_count_);
    if (error != cudaSuccess) {
        throw BackendError{"CUDA cannot be used: ", cudaGetErrorString(error), "; it needs a GPU and its driver"};
    }
    if (device_count_ == 0) throw BackendError{"CUDA cannot be used: there is no GPU"};
    CudaKernels::RegisterAll(*this);
}

std::unique_ptr<Device> CudaBackend::CreateDevice(int index) { return std::make_unique<CudaDevice>(*this, index); }

CudaDevice::CudaDevice(Backend& backend, int index) : Device{backend, index} {
    uint64_t keep = std::numeric_limits<uint64_t>::max();  // free memory stays in the pool
    Check(cudaMemPoolSetAttribute(GetPool(index), cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
    CurrentDevice current{*this};
    void* memory = nullptr;
    Check(cudaMallocHost(&memory, sizeof(Fault)), "cudaMallocHost");
    fault_ = new (memory) Fault{};
}

CudaDevice::~CudaDevice() { cudaFreeHost(fault_); }

StoragePtr CudaDevice::Allocate(size_t bytes) {
    CurrentDevice current{*this};
    void* data = nullptr;
    cudaError_t error = cudaMallocAsync(&data, std::max<size_t>(bytes, 1), current.stream());
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        Synchronize();
        Check(cudaMemPoolTrimTo(GetPool(index()), 0), "cudaMemPoolTrimTo");  // the pool may be fragmented
        error = cudaMallocAsync(&data, std::max<size_t>(bytes, 1), current.stream());
    }
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw std::bad_alloc{};
    }
    Check(error, "cudaMallocAsync");
    return StoragePtr{new Storage{data, bytes, *this, &FreeStorage}};
}

void CudaDevice::CopyFromHost(void* dst, const void* src, size_t bytes) {
    if (bytes == 0) return;
    BlockingScope blocking{bytes >= kLongCopy};
    CurrentDevice current{*this};
    Check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, current.stream()), "a copy from the host");
    // CUDA has read pageable memory, but not yet memory that other libraries pinned, which the caller may change now.
    cudaPointerAttributes source{};
    Check(cudaPointerGetAttributes(&source, src), "a copy from the host");
    if (source.type != cudaMemoryTypeUnregistered) {
        Check(cudaStreamSynchronize(current.stream()), "a copy from the host");
    }
}

void CudaDevice::CopyToHost(void* dst, const void* src, size_t bytes) {
    if (bytes == 0) return;
    BlockingScope blocking;
    CurrentDevice current{*this};
    Check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, current.stream()), "a copy to the host");
    Check(cudaStreamSynchronize(current.stream()), "a copy to the host");
    CheckFault(fault_);
}

void CudaDevice::Synchronize() {
    BlockingScope blocking;
    CurrentDevice current{*this};
    Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    CheckFault(fault_);
}

}  // namespace chainerx::cuda

extern "C" CHAINERX_EXPORT chainerx::Backend* CreateBackend(chainerx::Context& context) {
    return new chainerx::cuda::CudaBackend{context};
}
