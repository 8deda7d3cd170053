#include "chainerx/backends/cuda/cuda_backend.h"

#include <new>
#include <string>

#include "chainerx/backends/cuda/error.h"
#include "chainerx/backends/cuda/event.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/context.h"

namespace chainerx::cuda {
namespace {

// Copies from this size on let other threads of the interpreter run.
constexpr size_t kLongCopy = 1 << 16;

void FreeStorage(Storage* storage) noexcept { GetCudaDevice(storage->device()).Free(storage); }

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

CudaDevice::CudaDevice(Backend& backend, int index) : Device{backend, index}, memory_{index, streams_} {
    Activate();
    void* memory = nullptr;
    Check(cudaMallocHost(&memory, sizeof(Fault)), "cudaMallocHost");
    fault_ = new (memory) Fault{};
}

CudaDevice::~CudaDevice() {
    Activate();
    cudaDeviceSynchronize();
    cudaFreeHost(fault_);
}

cudaStream_t CudaDevice::Activate() const {
    cudaSetDevice(index());
    Stream* stream = FindCurrentStream(*this);
    return stream == nullptr ? nullptr : reinterpret_cast<cudaStream_t>(stream->handle());
}

StoragePtr CudaDevice::Allocate(size_t bytes) {
    cudaStream_t stream = Activate();
    void* block = memory_.Allocate(bytes, stream);
    if (block == nullptr) ThrowOutOfMemory(bytes);
    return StoragePtr{new Storage{block, bytes, *this, &FreeStorage, stream}};
}

void CudaDevice::Free(Storage* storage) noexcept {
    Activate();
    memory_.Free(storage->data(), storage->bytes(), static_cast<cudaStream_t>(storage->owner()));
    delete storage;
}

void CudaDevice::ThrowOutOfMemory(size_t bytes) {
    MemoryStatistics m = GetMemoryStatistics();
    size_t free = 0;
    size_t total = 0;
    Check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    std::string limit = m.limit.has_value() ? internal::Concat("; the limit is ", *m.limit) : "";
    throw MemoryError{bytes, name(),
                      internal::Concat("arrays use ", m.used, " bytes, ", m.reserved, " are reserved, ", free, " of ",
                                       total, " are free", limit)};
}

MemoryStatistics CudaDevice::GetMemoryStatistics() {
    Activate();
    return memory_.GetStatistics();
}

void CudaDevice::ResetMemoryPeaks() {
    Activate();
    memory_.ResetPeaks();
}

void CudaDevice::SetMemoryLimit(std::optional<size_t> bytes) {
    Activate();
    memory_.SetLimit(bytes);
}

void CudaDevice::FreeUnusedBlocks() {
    Activate();
    memory_.FreeUnused();
}

StreamPtr CudaDevice::MakeStream() {
    Activate();
    return StreamPtr{new CudaStream{*this, streams_.Take(), streams_}};
}

StreamPtr CudaDevice::GetDefaultStream() { return StreamPtr{new CudaStream{*this, nullptr, streams_}}; }

void CudaDevice::CopyFromHost(void* dst, const void* src, size_t bytes) {
    if (bytes == 0) return;
    BlockingScope blocking{bytes >= kLongCopy};
    staging_.Copy(dst, src, bytes, Activate());
}

bool CudaDevice::CopyFromDevice(void* dst, Device& from, const void* src, size_t bytes) {
    if (&from.backend() != &backend()) return false;
    if (bytes == 0) return true;
    CudaDevice& other = GetCudaDevice(from);
    other.memory_.AllowAccess(index());
    Event allocated{Activate()};
    cudaStream_t stream = other.Activate();
    Check(cudaStreamWaitEvent(stream, allocated.get(), 0), "cudaStreamWaitEvent");
    Check(cudaMemcpyPeerAsync(dst, index(), src, from.index(), bytes, stream), "a copy between devices");
    Event copied{stream};
    Check(cudaStreamWaitEvent(Activate(), copied.get(), 0), "cudaStreamWaitEvent");
    return true;
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
