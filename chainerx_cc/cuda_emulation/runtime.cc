#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda_runtime.h"
#include "grid.h"
#include "memory.h"

using cuda_emulation::DeviceCount;
using cuda_emulation::DeviceOf;

using Work = std::function<void()>;

struct cudaEmulatedStream {
    std::deque<Work> work;
};

struct cudaEmulatedPool {};

namespace {

// A stream runs its work at the latest when so much is waiting.
constexpr size_t kMostWaiting = 256;

thread_local int t_device = 0;
thread_local cudaError_t t_error = cudaSuccess;

// One lock for all: while a stream runs its work, no other one does.
struct Runtime {
    std::recursive_mutex mutex;
    cudaEmulatedStream streams[cuda_emulation::kMaxDevices];
    std::map<const char*, size_t> pinned;  // memory of the host that CUDA reaches
};

Runtime& GetRuntime() {
    static auto* runtime = new Runtime;
    return *runtime;
}

cudaError_t Fail(cudaError_t error) { return t_error = error; }

cudaEmulatedStream& CurrentStream() { return GetRuntime().streams[t_device]; }

// Runs the work that waits.
void Drain(cudaEmulatedStream& stream) {
    if (stream.work.empty()) return;
    cuda_emulation::MemoryAccess access;
    while (!stream.work.empty()) {
        Work work = std::move(stream.work.front());
        stream.work.pop_front();
        work();
    }
}

cudaError_t Submit(Work work) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    cudaEmulatedStream& stream = CurrentStream();
    stream.work.push_back(std::move(work));
    if (stream.work.size() > kMostWaiting) Drain(stream);
    return cudaSuccess;
}

bool IsPinned(const void* pointer) {
    const auto* p = static_cast<const char*>(pointer);
    auto next = GetRuntime().pinned.upper_bound(p);
    return next != GetRuntime().pinned.begin() && p < std::prev(next)->first + std::prev(next)->second;
}

bool IsDevice(int device) { return device >= 0 && device < DeviceCount(); }

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "cudaSuccess";
        case cudaErrorInvalidValue:
            return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation:
            return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidConfiguration:
            return "cudaErrorInvalidConfiguration";
        case cudaErrorInvalidDevice:
            return "cudaErrorInvalidDevice";
    }
    return "unknown error";
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
cudaError_t cudaGetLastError() { return std::exchange(t_error, cudaSuccess); }

cudaError_t cudaGetDeviceCount(int* count) {
    *count = DeviceCount();
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
    *device = t_device;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
    t_device = device;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    Drain(CurrentStream());
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
    static cudaEmulatedPool all;
    *pool = &all;
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    *pointer = cuda_emulation::AllocateMemory(t_device, bytes);
    if (*pointer == nullptr) {
        Drain(CurrentStream());  // blocks may be waiting to be freed
        *pointer = cuda_emulation::AllocateMemory(t_device, bytes);
    }
    return *pointer == nullptr ? Fail(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
    if (DeviceOf(pointer) < 0) return Fail(cudaErrorInvalidValue);
    return Submit([pointer] { cuda_emulation::FreeMemory(pointer); });
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    *pointer = std::malloc(std::max<size_t>(bytes, 1));
    if (*pointer == nullptr) return Fail(cudaErrorMemoryAllocation);
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    GetRuntime().pinned[static_cast<char*>(*pointer)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    for (cudaEmulatedStream& stream : GetRuntime().streams) Drain(stream);
    GetRuntime().pinned.erase(static_cast<char*>(pointer));
    std::free(pointer);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    attributes->type = DeviceOf(pointer) >= 0 ? cudaMemoryTypeDevice
                       : IsPinned(pointer)    ? cudaMemoryTypeHost
                                              : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}

// When the call returns, CUDA has read pageable memory of the host. It reads pinned memory later.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (to_device != (DeviceOf(to) >= 0) || from_device != (DeviceOf(from) >= 0)) return Fail(cudaErrorInvalidValue);
    if (kind == cudaMemcpyHostToDevice && !IsPinned(from)) {
        std::vector<char> staged(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
        return Submit([to, staged = std::move(staged)] { std::memcpy(to, staged.data(), staged.size()); });
    }
    Submit([=] { std::memmove(to, from, bytes); });
    if (kind == cudaMemcpyDeviceToHost) Drain(CurrentStream());
    return cudaSuccess;
}

cudaError_t cudaEmulateLaunch(const cudaLaunchConfig_t& config, Work thread) {
    const dim3& g = config.gridDim;
    const dim3& b = config.blockDim;
    bool is_valid = g.x > 0 && g.x <= 0x7fffffffU && g.y > 0 && g.y <= 65535 && g.z > 0 && g.z <= 65535 && b.x > 0 &&
                    b.y > 0 && b.z > 0 && b.z <= 64 && uint64_t{b.x} * b.y * b.z <= 1024;
    if (!is_valid) return Fail(cudaErrorInvalidConfiguration);
    return Submit([g, b, thread = std::move(thread)] { cuda_emulation::RunGrid(g, b, thread); });
}
