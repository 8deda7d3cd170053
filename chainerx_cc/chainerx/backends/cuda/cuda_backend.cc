#include "chainerx/backends/cuda/cuda_backend.h"

#include <algorithm>
#include <new>
#include <string>

#include "chainerx/backends/cuda/cudnn.h"
#include "chainerx/backends/cuda/driver.h"
#include "chainerx/backends/cuda/error.h"
#include "chainerx/backends/cuda/event.h"
#include "chainerx/backends/cuda/graph.h"
#include "chainerx/backends/cuda/nccl.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/context.h"

namespace chainerx::cuda {
namespace {

// Copies from this size on let other threads of the interpreter run.
constexpr size_t kLongCopy = 1 << 16;

void FreeStorage(Storage* storage) noexcept { GetCudaDevice(storage->device()).Free(storage); }

// The present end of the device's current stream.
Event MarkEnd(const Device& device) {
    CurrentDevice current{device};
    return Event{current.stream()};
}
// Lets the device's current stream wait.
void WaitIn(const Device& device, const Event& event) {
    CurrentDevice current{device};
    Check(cudaStreamWaitEvent(current.stream(), event.get(), 0), "cudaStreamWaitEvent");
}

// The runtime is linked statically, so a driver for an older CUDA cannot serve it.
[[noreturn]] void ThrowUnusable(cudaError_t error) {
    int driver = 0;
    if (error == cudaErrorInsufficientDriver) cudaDriverGetVersion(&driver);
    if (driver == 0)
        throw BackendError{"CUDA cannot be used: ", cudaGetErrorString(error), "; it needs a GPU and its driver"};
    int built = CUDART_VERSION;
    throw BackendError{"CUDA cannot be used: the driver supports CUDA ",
                       driver / 1000,
                       '.',
                       driver % 1000 / 10,
                       ", but ChainerX is built with CUDA ",
                       built / 1000,
                       '.',
                       built % 1000 / 10,
                       "; update the driver, or build ChainerX with an nvcc that is not newer than the driver"};
}

}  // namespace

void ThrowCudaError(cudaError_t error, const char* what) {
    cudaGetLastError();  // a next call starts without it
    throw DeviceError{"CUDA error in ", what, ": ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")"};
}

CudaBackend::CudaBackend(Context& context) : Backend{context, kName} {
    cudaError_t error = cudaGetDeviceCount(&device_count_);
    if (error != cudaSuccess) ThrowUnusable(error);
    if (device_count_ == 0) throw BackendError{"CUDA cannot be used: there is no GPU"};
    CudaKernels::RegisterAll(*this);
    g_dnn_version = &cudnn::GetVersion;
    g_device_group_functions = &g_nccl_groups;
}

std::unique_ptr<Device> CudaBackend::CreateDevice(int index) {
    // Opens the context that calls will push: if there is none, they would work on another device.
    if (!PushDevice(index)) throw DeviceError{"CUDA error: the driver opens no context on ", kName, ':', index};
    PopDevice();
    return std::make_unique<CudaDevice>(*this, index);
}

CudaDevice::CudaDevice(Backend& backend, int index) : Device{backend, index}, memory_{index, streams_} {
    CurrentDevice current{*this};
    void* memory = nullptr;
    Check(cudaMallocHost(&memory, sizeof(Fault)), "cudaMallocHost");
    fault_ = new (memory) Fault{};
}

CudaDevice::~CudaDevice() {
    CurrentDevice current{*this};
    memory_.Close();
    if (recorded_stream_ != nullptr) cudaStreamDestroy(recorded_stream_);
    cudaFreeHost(fault_);
}

StoragePtr CudaDevice::Allocate(size_t bytes) {
    CurrentDevice current{*this};
    void* block = memory_.Allocate(bytes, current.stream());
    if (block == nullptr) ThrowOutOfMemory(bytes);
    return StoragePtr{new Storage{block, bytes, *this, &FreeStorage, current.stream()}};
}

void CudaDevice::Free(Storage* storage) noexcept {
    CurrentDevice current{*this};
    auto stream = static_cast<cudaStream_t>(storage->owner());
    // What a recording allocates is in use nowhere else.
    bool is_own = stream == recorded_stream_ && stream != nullptr;
    is_own ? memory_.FreeUnshared(storage->data(), storage->bytes(), stream)
           : memory_.Free(storage->data(), storage->bytes(), stream);
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
    CurrentDevice current{*this};
    return memory_.GetStatistics();
}

size_t CudaDevice::GetFreeBytes() {
    CurrentDevice current{*this};
    MemoryStatistics m = memory_.GetStatistics();
    size_t free = 0;
    size_t total = 0;
    Check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    free += m.reserved - std::min(m.used, m.reserved);
    return m.limit.has_value() ? std::min(free, *m.limit - std::min(m.used, *m.limit)) : free;
}

void CudaDevice::ResetMemoryPeaks() {
    CurrentDevice current{*this};
    memory_.ResetPeaks();
}

void CudaDevice::SetMemoryLimit(std::optional<size_t> bytes) {
    CurrentDevice current{*this};
    memory_.SetLimit(bytes);
}

void CudaDevice::FreeUnusedBlocks() {
    CurrentDevice current{*this};
    memory_.FreeUnused();
}

StreamPtr CudaDevice::MakeStream() {
    CurrentDevice current{*this};
    return StreamPtr{new CudaStream{*this, streams_.Take(), streams_}};
}

StreamPtr CudaDevice::GetDefaultStream() { return StreamPtr{new CudaStream{*this, nullptr, streams_}}; }

void CudaDevice::CopyFromHost(void* dst, const void* src, size_t bytes) {
    if (bytes == 0) return;
    BlockingScope blocking{bytes >= kLongCopy};
    CurrentDevice current{*this};
    // A recording would repeat the copy of what was in the staging memory by chance.
    if (IsRecording(*this)) throw DeviceError{"a copy from the host cannot be recorded"};
    staging_.Copy(dst, src, bytes, current.stream());
}

bool CudaDevice::CopyFromDevice(void* dst, Device& from, const void* src, size_t bytes) {
    if (&from.backend() != &backend()) return false;
    if (bytes == 0) return true;
    GetCudaDevice(from).memory_.AllowAccess(index());
    WaitIn(from, MarkEnd(*this));  // the memory may be in use until then
    {
        CurrentDevice current{from};
        Check(cudaMemcpyPeerAsync(dst, index(), src, from.index(), bytes, current.stream()), "a copy between devices");
    }
    WaitIn(*this, MarkEnd(from));
    return true;
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
