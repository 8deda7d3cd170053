#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cuda_runtime.h"
#include "grid.h"
#include "memory.h"

using cuda_emulation::DeviceCount;
using cuda_emulation::DeviceOf;
using cuda_emulation::IsMemoryShared;

using Work = std::function<void()>;

// Work to be done again and again, and the memory that only it uses.
struct cudaEmulatedWork {
    cudaEmulatedWork() = default;
    cudaEmulatedWork(const cudaEmulatedWork&) = delete;
    cudaEmulatedWork& operator=(const cudaEmulatedWork&) = delete;
    ~cudaEmulatedWork() {
        for (void* block : blocks) cuda_emulation::FreeMemory(block);
    }

    std::vector<Work> work;
    std::vector<void*> blocks;
    bool is_valid{true};
};

struct cudaEmulatedGraph {
    int device;
    std::shared_ptr<cudaEmulatedWork> recorded;
};

struct cudaEmulatedStream {
    int device;
    std::shared_ptr<cudaEmulatedWork> recorded{};  // if the stream is recorded
    bool is_destroyed{false};
    std::deque<Work> work;
    uint64_t submitted{0};
    uint64_t done{0};
};

struct cudaEmulatedEvent {
    cudaEmulatedStream* stream{nullptr};  // null: not recorded
    uint64_t position{0};
    bool is_timed{false};
};

struct cudaEmulatedPool {
    int device;
};

struct cudaEmulatedContext {
    int device;
    bool is_open{false};
};

namespace {

// A stream runs its work at the latest when so much is waiting.
constexpr size_t kMostWaiting = 256;

std::atomic<int64_t> g_launches{0};
thread_local int t_device = 0;
thread_local cudaError_t t_error = cudaSuccess;
thread_local int t_pushed = 0;
thread_local int t_devices[16];  // current before contexts were pushed

// One lock for all: while a stream runs its work, no other one does.
struct Runtime {
    Runtime() {
        for (int i = 0; i < cuda_emulation::kMaxDevices; ++i) {
            pools[i].device = i;
            contexts[i].device = i;
            streams.push_back(std::make_unique<cudaEmulatedStream>());
            streams.back()->device = i;
        }
    }

    std::recursive_mutex mutex;
    std::vector<std::unique_ptr<cudaEmulatedStream>> streams;  // first the default ones of all devices; never fewer
    std::map<cudaStream_t, cudaEmulatedStream*> known;         // others
    std::map<const char*, size_t> pinned;                      // memory of the host that CUDA reaches
    cudaEmulatedPool pools[cuda_emulation::kMaxDevices];
    cudaEmulatedContext contexts[cuda_emulation::kMaxDevices];
};

Runtime& GetRuntime() {
    static auto* runtime = new Runtime;
    return *runtime;
}

std::lock_guard<std::recursive_mutex> Lock() { return std::lock_guard<std::recursive_mutex>{GetRuntime().mutex}; }

cudaError_t Fail(cudaError_t error) { return t_error = error; }

cudaEmulatedStream* AddStream() {
    auto& streams = GetRuntime().streams;
    streams.push_back(std::make_unique<cudaEmulatedStream>());
    streams.back()->device = t_device;
    return streams.back().get();
}

// The stand-in for CuPy has streams, too, which it counts instead of asking for them.
cudaEmulatedStream& GetStream(cudaStream_t stream) {
    constexpr uintptr_t kThreadStream = 2;  // numbers up to this one stand for default streams
    if (reinterpret_cast<uintptr_t>(stream) <= kThreadStream) return *GetRuntime().streams[t_device];
    cudaEmulatedStream*& known = GetRuntime().known[stream];
    if (known == nullptr && IsMemoryShared()) known = AddStream();
    if (known == nullptr || known->is_destroyed) std::abort();  // CUDA would read memory of others
    return *known;
}

// Runs the work up to a position. Work that waits for another stream runs what it waits for.
void RunUntil(cudaEmulatedStream& stream, uint64_t position) {
    if (stream.done >= position) return;
    cuda_emulation::MemoryAccess access;
    while (stream.done < position) {
        Work work = std::move(stream.work.front());
        stream.work.pop_front();
        work();
        ++stream.done;
    }
}
void Drain(cudaEmulatedStream& stream) { RunUntil(stream, stream.submitted); }

cudaError_t Submit(cudaStream_t handle, Work work) {
    auto lock = Lock();
    cudaEmulatedStream& stream = GetStream(handle);
    // As CUDA: kernels and copies belong to the device that is current.
    if (stream.device != t_device) return Fail(cudaErrorInvalidResourceHandle);
    GetRuntime().contexts[t_device].is_open = true;
    if (stream.recorded != nullptr) {
        stream.recorded->work.push_back(std::move(work));
        return cudaSuccess;
    }
    stream.work.push_back(std::move(work));
    ++stream.submitted;
    if (stream.work.size() > kMostWaiting || IsMemoryShared()) Drain(stream);
    return cudaSuccess;
}

// What waits for a recorded stream fails, and so does the recording.
bool EndsRecording(cudaEmulatedStream& stream) {
    if (stream.recorded == nullptr) return false;
    stream.recorded->is_valid = false;
    return true;
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
        case cudaErrorInsufficientDriver:
            return "cudaErrorInsufficientDriver";
        case cudaErrorInvalidDevice:
            return "cudaErrorInvalidDevice";
        case cudaErrorInvalidResourceHandle:
            return "cudaErrorInvalidResourceHandle";
        case cudaErrorNotReady:
            return "cudaErrorNotReady";
        case cudaErrorStreamCaptureUnsupported:
            return "cudaErrorStreamCaptureUnsupported";
        case cudaErrorStreamCaptureInvalidated:
            return "cudaErrorStreamCaptureInvalidated";
    }
    return "unknown error";
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
cudaError_t cudaGetLastError() { return std::exchange(t_error, cudaSuccess); }

cudaError_t cudaDriverGetVersion(int* version) {
    const char* chosen = std::getenv("CHAINERX_CUDA_EMULATION_DRIVER");
    *version = chosen == nullptr ? CUDART_VERSION : std::atoi(chosen);
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver < CUDART_VERSION) return Fail(cudaErrorInsufficientDriver);
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
    GetRuntime().contexts[device].is_open = true;
    return cudaSuccess;
}

// The driver's functions have these names. They return 0 if they succeed.
extern "C" {
int cuDeviceGet(int* device, int index) {
    *device = index;
    return IsDevice(index) ? 0 : cudaErrorInvalidDevice;
}
int cuDevicePrimaryCtxRetain(cudaEmulatedContext** context, int device) {
    *context = &GetRuntime().contexts[device];
    (*context)->is_open = true;
    return 0;
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
    *flags = 0;
    *is_active = GetRuntime().contexts[device].is_open;
    return 0;
}
int cuCtxPushCurrent_v2(cudaEmulatedContext* context) {
    if (t_pushed == static_cast<int>(std::size(t_devices))) return cudaErrorInvalidValue;
    t_devices[t_pushed++] = t_device;
    t_device = context->device;
    return 0;
}
int cuCtxPopCurrent_v2(cudaEmulatedContext** context) {
    if (t_pushed == 0) return cudaErrorInvalidValue;
    *context = &GetRuntime().contexts[t_device];
    t_device = t_devices[--t_pushed];
    return 0;
}
}  // extern "C"

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, uint64_t,
                                             cudaDriverEntryPointQueryResult* result) {
    static const std::map<std::string, void*> functions{
            {"cuDeviceGet", reinterpret_cast<void*>(&cuDeviceGet)},
            {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(&cuDevicePrimaryCtxRetain)},
            {"cuCtxPushCurrent", reinterpret_cast<void*>(&cuCtxPushCurrent_v2)},
            {"cuCtxPopCurrent", reinterpret_cast<void*>(&cuCtxPopCurrent_v2)},
    };
    auto found = functions.find(name);
    *function = found == functions.end() ? nullptr : found->second;
    *result = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    auto lock = Lock();
    bool is_recorded = false;
    for (size_t i = 0; i < GetRuntime().streams.size(); ++i) {
        cudaEmulatedStream& stream = *GetRuntime().streams[i];
        if (stream.device != t_device) continue;
        is_recorded |= EndsRecording(stream);
        Drain(stream);
    }
    return is_recorded ? Fail(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    if (flags != cudaStreamNonBlocking) return Fail(cudaErrorInvalidValue);
    auto lock = Lock();
    *stream = AddStream();
    GetRuntime().known[*stream] = *stream;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {  // whose work goes on, and to which later events may refer
    auto lock = Lock();
    GetStream(stream).is_destroyed = true;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    auto lock = Lock();
    if (EndsRecording(GetStream(stream))) return Fail(cudaErrorStreamCaptureUnsupported);
    Drain(GetStream(stream));
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    auto lock = Lock();
    if (EndsRecording(GetStream(stream))) return Fail(cudaErrorStreamCaptureUnsupported);
    return GetStream(stream).work.empty() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    auto lock = Lock();
    cudaEmulatedEvent now = *event;
    if (now.stream == nullptr) return cudaSuccess;
    return Submit(stream, [now] { RunUntil(*now.stream, now.position); });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
    auto lock = Lock();
    cudaEmulatedStream& stream = GetStream(handle);
    // The default stream cannot be recorded.
    if (stream.recorded != nullptr || &stream == GetRuntime().streams[t_device].get()) {
        return Fail(cudaErrorStreamCaptureUnsupported);
    }
    stream.recorded = std::make_shared<cudaEmulatedWork>();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
    auto lock = Lock();
    cudaEmulatedStream& stream = GetStream(handle);
    std::shared_ptr<cudaEmulatedWork> recorded = std::move(stream.recorded);
    *graph = nullptr;
    if (recorded == nullptr) return Fail(cudaErrorInvalidValue);
    if (!recorded->is_valid) return Fail(cudaErrorStreamCaptureInvalidated);
    *graph = new cudaEmulatedGraph{stream.device, std::move(recorded)};
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    auto lock = Lock();
    *status = GetStream(stream).recorded == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    *executable = new cudaEmulatedGraph{*graph};
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    if (executable->device != t_device) return Fail(cudaErrorInvalidResourceHandle);
    return Submit(stream, [recorded = executable->recorded] {
        for (const Work& work : recorded->work) work();
    });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    auto lock = Lock();
    delete graph;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return cudaGraphDestroy(executable); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    *event = new cudaEmulatedEvent{nullptr, 0, (flags & cudaEventDisableTiming) == 0};
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
    auto lock = Lock();
    cudaEmulatedStream& stream = GetStream(handle);
    if (stream.device != t_device) return Fail(cudaErrorInvalidResourceHandle);
    event->stream = &stream;
    event->position = stream.submitted;
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    auto lock = Lock();
    return event->stream == nullptr || event->stream->done >= event->position ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    auto lock = Lock();
    if (event->stream != nullptr) RunUntil(*event->stream, event->position);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* time, cudaEvent_t start, cudaEvent_t end) {
    if (!start->is_timed || !end->is_timed) return Fail(cudaErrorInvalidResourceHandle);
    if (start->stream == nullptr || start->stream != end->stream) return Fail(cudaErrorInvalidResourceHandle);
    if (end->stream->done < end->position) return Fail(cudaErrorNotReady);
    *time = static_cast<float>(end->position - start->position);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    if (!IsDevice(device)) return Fail(cudaErrorInvalidDevice);
    *pool = &GetRuntime().pools[device];
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    if (attribute == cudaMemPoolAttrReservedMemCurrent) return Fail(cudaErrorInvalidValue);
    if (attribute == cudaMemPoolAttrReservedMemHigh) {
        if (*static_cast<uint64_t*>(value) != 0) return Fail(cudaErrorInvalidValue);
        cuda_emulation::ResetPeakMemory(pool->device);
    }
    return cudaSuccess;  // there is no pressure to release memory
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    cuda_emulation::MemoryUse use = cuda_emulation::GetMemoryUse(pool->device);
    if (attribute == cudaMemPoolAttrReleaseThreshold) return Fail(cudaErrorInvalidValue);
    *static_cast<uint64_t*>(value) = attribute == cudaMemPoolAttrReservedMemCurrent ? use.reserved : use.peak_reserved;
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
    cuda_emulation::TrimMemory(pool->device);
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        int can = 0;
        cudaError_t error = cudaDeviceCanAccessPeer(&can, access[i].location.id, pool->device);
        if (error != cudaSuccess) return error;
        if (can == 0) return Fail(cudaErrorInvalidDevice);
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    if (!IsDevice(device) || !IsDevice(peer)) return Fail(cudaErrorInvalidDevice);
    *can = device != peer && device / 2 == peer / 2 ? 1 : 0;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    cuda_emulation::MemoryUse use = cuda_emulation::GetMemoryUse(t_device);
    *free = use.total - use.reserved;
    *total = use.total;
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    auto lock = Lock();
    *pointer = cuda_emulation::AllocateMemory(t_device, bytes);
    std::shared_ptr<cudaEmulatedWork>& recorded = GetStream(stream).recorded;
    if (*pointer == nullptr && recorded == nullptr) {
        Drain(GetStream(stream));  // blocks may be waiting to be freed
        *pointer = cuda_emulation::AllocateMemory(t_device, bytes);
    }
    if (*pointer == nullptr) return Fail(cudaErrorMemoryAllocation);
    if (recorded != nullptr) recorded->blocks.push_back(*pointer);
    return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    auto lock = Lock();
    if (DeviceOf(pointer) < 0) return Fail(cudaErrorInvalidValue);
    if (GetStream(stream).recorded != nullptr) return cudaSuccess;  // the graph has it
    return Submit(stream, [pointer] { cuda_emulation::FreeMemory(pointer); });
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    bytes = std::max<size_t>(bytes, 1);
    *pointer = std::malloc(bytes);
    if (*pointer == nullptr) return Fail(cudaErrorMemoryAllocation);
    auto lock = Lock();
    GetRuntime().pinned[static_cast<char*>(*pointer)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
    auto lock = Lock();
    for (const auto& stream : GetRuntime().streams) Drain(*stream);
    GetRuntime().pinned.erase(static_cast<char*>(pointer));
    std::free(pointer);
    return cudaSuccess;
}

// Pinned memory of the host is read and written when the stream comes to it, other memory when the call returns.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    auto lock = Lock();
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool is_valid = to_device == (DeviceOf(to) >= 0) && from_device == (DeviceOf(from) >= 0);
    if (!is_valid && !IsMemoryShared()) return Fail(cudaErrorInvalidValue);
    bool is_pageable = (!to_device && !IsPinned(to)) || (!from_device && !IsPinned(from));
    if (is_pageable && EndsRecording(GetStream(stream))) return Fail(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = Submit(stream, [=] { std::memmove(to, from, bytes); });
    if (is_pageable) Drain(GetStream(stream));
    return error;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    bool is_valid = DeviceOf(to) == to_device && DeviceOf(from) == from_device;
    if (!is_valid && !IsMemoryShared()) return Fail(cudaErrorInvalidValue);
    return Submit(stream, [=] { std::memmove(to, from, bytes); });
}

// For tests: the number of grids so far.
extern "C" int64_t cudaEmulatedLaunches() { return g_launches; }

cudaError_t cudaEmulateLaunch(const cudaLaunchConfig_t& config, Work thread) {
    const dim3& g = config.gridDim;
    const dim3& b = config.blockDim;
    bool is_valid = g.x > 0 && g.x <= 0x7fffffffU && g.y > 0 && g.y <= 65535 && g.z > 0 && g.z <= 65535 && b.x > 0 &&
                    b.y > 0 && b.z > 0 && b.z <= 64 && uint64_t{b.x} * b.y * b.z <= 1024;
    if (!is_valid) return Fail(cudaErrorInvalidConfiguration);
    ++g_launches;
    return Submit(config.stream, [g, b, thread = std::move(thread)] { cuda_emulation::RunGrid(g, b, thread); });
}
