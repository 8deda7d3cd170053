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
    cudaFreeAsync(storage->data(), GetCudaDevice(storage->device()).Activate());
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
    Activate();
    void* memory = nullptr;
    Check(cudaMallocHost(&memory, sizeof(Fault)), "cudaMallocHost");
    fault_ = new (memory) Fault{};
}

CudaDevice::~CudaDevice() { cudaFreeHost(fault_); }

cudaStream_t CudaDevice::Activate() const {
    cudaSetDevice(index());
    return nullptr;
}

StoragePtr CudaDevice::Allocate(size_t bytes) {
    cudaStream_t stream = Activate();
    void* data = nullptr;
    cudaError_t error = cudaMallocAsync(&data, std::max<size_t>(bytes, 1), stream);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        Synchronize();
        Check(cudaMemPoolTrimTo(GetPool(index()), 0), "cudaMemPoolTrimTo");  // the pool may be fragmented
        error = cudaMallocAsync(&data, std::max<size_t>(bytes, 1), stream);
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
    Check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, Activate()), "a copy from the host");
}

void CudaDevice::CopyToHost(void* dst, const void* src, size_t bytes) {
    if (bytes == 0) return;
    BlockingScope blocking;
    cudaStream_t stream = Activate();
    Check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, stream), "a copy to the host");
    Check(cudaStreamSynchronize(stream), "a copy to the host");
    CheckFault(fault_);
}

void CudaDevice::Synchronize() {
    BlockingScope blocking;
    Activate();
    Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    CheckFault(fault_);
}

}  // namespace chainerx::cuda

extern "C" CHAINERX_EXPORT chainerx::Backend* CreateBackend(chainerx::Context& context) {
    return new chainerx::cuda::CudaBackend{context};
}
