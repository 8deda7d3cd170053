#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cuda_runtime.h"
#include "grid.h"
#include "memory.h"

using cuda_emulation::DeviceCount;
using cuda_emulation::DeviceOf;

using Work = std::function<void()>;

struct cudaEmulatedStream {
    int device;
    std::deque<Work> work;
};

struct cudaEmulatedEvent {
    cudaStream_t stream{nullptr};
    int64_t recorded{0};
    int64_t reached{0};
};

struct cudaEmulatedPool {
    int device;
};

namespace {

// A stream runs its work at the latest when so much is waiting.
constexpr size_t kMostWaiting = 256;

thread_local int t_device = 0;
thread_local cudaError_t t_error = cudaSuccess;

// One lock for all: while a stream runs its work, no other one does.
struct Runtime {
    std::recursive_mutex mutex;
    cudaEmulatedStream default_streams[cuda_emulation::kMaxDevices];
    cudaEmulatedPool pools[cuda_emulation::kMaxDevices];
    std::set<cudaStream_t> streams;
    std::map<char*, size_t> pinned;
    cudaError_t failure{cudaSuccess};

    Runtime() {
        for (int i = 0; i < cuda_emulation::kMaxDevices; ++i) {
            default_streams[i].device = pools[i].device = i;
            streams.insert(&default_streams[i]);
        }
    }
};

Runtime& GetRuntime() {
    static auto* runtime = new Runtime;
    return *runtime;
}

cudaError_t Fail(cudaError_t error) { return t_error = error; }

cudaStream_t Resolve(cudaStream_t stream) {
    return stream == nullptr ? &GetRuntime().default_streams[t_device] : stream;
}

// Runs the work of a stream while `wanted()`.
template <class F>
void RunWhile(cudaStream_t stream, F&& wanted) {
    if (stream->work.empty()) return;
    cuda_emulation::MemoryAccess access;
    while (!stream->work.empty() && wanted()) {
        Work work = std::move(stream->work.front());
        stream->work.pop_front();
        work();
    }
}

void Drain(cudaStream_t stream) {
    RunWhile(stream, [] { return true; });
}

// `stream`: the one that the event was recorded in with the ticket.
void Wait(cudaEvent_t event, cudaStream_t stream, int64_t ticket) {
    RunWhile(stream, [=] { return event->reached < ticket; });
}

cudaError_t Submit(cudaStream_t stream, Work work) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    stream = Resolve(stream);
    stream->work.push_back(std::move(work));
    if (stream->work.size() > kMostWaiting) Drain(stream);
    return cudaSuccess;
}

bool IsPinned(const void* pointer) {
    auto& pinned = GetRuntime().pinned;
    const auto* p = static_cast<const char*>(pointer);
    auto it = pinned.upper_bound(const_cast<char*>(p));
    if (it == pinned.begin()) return false;
    --it;
    return p < it->first + it->second;
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
        case cudaErrorNotReady:
            return "cudaErrorNotReady";
        case cudaErrorPeerAccessAlreadyEnabled:
            return "cudaErrorPeerAccessAlreadyEnabled";
    }
    return "unknown error";
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
cudaError_t cudaGetLastError() { return std::exchange(t_error, cudaSuccess); }

cudaError_t cudaGetDeviceCount(int* count) {
    *count = DeviceCount();
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
    t_device = device;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
    *device = t_device;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
    *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : 9;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    for (cudaStream_t stream : GetRuntime().streams) {
        if (stream->device == t_device) Drain(stream);
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (!IsDevice(device) || !IsDevice(peer)) return Fail(cudaErrorInvalidDevice);
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
    return IsDevice(peer) ? cudaSuccess : Fail(cudaErrorInvalidDevice);
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    *total = cuda_emulation::TotalBytes();
    *free = *total - cuda_emulation::UsedBytes(t_device);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    if (flags != cudaStreamNonBlocking) return Fail(cudaErrorInvalidValue);  // others are not emulated
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    *stream = new cudaEmulatedStream{t_device, {}};
    GetRuntime().streams.insert(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    Drain(stream);
    GetRuntime().streams.erase(stream);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    Drain(Resolve(stream));
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    if (event->stream == nullptr) return cudaSuccess;
    return Submit(stream,
                  [event, recorded_in = event->stream, ticket = event->recorded] { Wait(event, recorded_in, ticket); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = new cudaEmulatedEvent;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    for (cudaStream_t stream : GetRuntime().streams) Drain(stream);  // they may refer to the event
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    event->stream = Resolve(stream);
    return Submit(stream, [event, ticket = ++event->recorded] { event->reached = std::max(event->reached, ticket); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    if (event->stream != nullptr) Wait(event, event->stream, event->recorded);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
    *pool = &GetRuntime().pools[device];
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
    *static_cast<uint64_t*>(value) = cuda_emulation::UsedBytes(pool->device);
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    int device = Resolve(stream)->device;
    *pointer = cuda_emulation::AllocateMemory(device, bytes);
    if (*pointer == nullptr) {
        for (cudaStream_t s : GetRuntime().streams) Drain(s);  // blocks may be waiting to be freed
        *pointer = cuda_emulation::AllocateMemory(device, bytes);
    }
    return *pointer == nullptr ? Fail(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    if (DeviceOf(pointer) < 0) return Fail(cudaErrorInvalidValue);
    return Submit(stream, [pointer] { cuda_emulation::FreeMemory(pointer); });
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    *pointer = std::malloc(std::max<size_t>(bytes, 1));
    if (*pointer == nullptr) return Fail(cudaErrorMemoryAllocation);
    GetRuntime().pinned[static_cast<char*>(*pointer)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    if (GetRuntime().pinned.erase(static_cast<char*>(pointer)) == 0) return Fail(cudaErrorInvalidValue);
    for (cudaStream_t stream : GetRuntime().streams) Drain(stream);
    std::free(pointer);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    std::lock_guard<std::recursive_mutex> lock{GetRuntime().mutex};
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (to_device != (DeviceOf(to) >= 0) || from_device != (DeviceOf(from) >= 0)) return Fail(cudaErrorInvalidValue);
    if (kind == cudaMemcpyHostToDevice && !IsPinned(from)) {
        // CUDA has read pageable memory when the call returns.
        std::vector<char> staged(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
        return Submit(stream, [to, staged = std::move(staged)] { std::memcpy(to, staged.data(), staged.size()); });
    }
    Submit(stream, [=] { std::memmove(to, from, bytes); });
    // And it has written it.
    if (kind == cudaMemcpyDeviceToHost && !IsPinned(to)) Drain(Resolve(stream));
    return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    if (DeviceOf(to) != to_device || DeviceOf(from) != from_device) return Fail(cudaErrorInvalidValue);
    return Submit(stream, [=] { std::memmove(to, from, bytes); });
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
    if (DeviceOf(pointer) < 0) return Fail(cudaErrorInvalidValue);
    return Submit(stream, [=] { std::memset(pointer, value, bytes); });
}

cudaError_t cudaEmulateLaunch(const cudaLaunchConfig_t& config, Work thread) {
    const dim3& g = config.gridDim;
    const dim3& b = config.blockDim;
    bool is_valid = g.x > 0 && g.x <= 0x7fffffffU && g.y > 0 && g.y <= 65535 && g.z > 0 && g.z <= 65535 && b.x > 0 &&
                    b.y > 0 && b.z > 0 && b.z <= 64 && uint64_t{b.x} * b.y * b.z <= 1024 &&
                    config.dynamicSmemBytes <= 48 * 1024;
    if (!is_valid) return Fail(cudaErrorInvalidConfiguration);
    return Submit(config.stream, [g, b, shared = config.dynamicSmemBytes, thread = std::move(thread)] {
        cuda_emulation::RunGrid(g, b, shared, thread);
    });
}
