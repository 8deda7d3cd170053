#pragma once

// The part of CUDA that the CUDA backend uses, on the host: tests compile the backend's sources with this header in
// place of NVIDIA's. Work that is submitted to a stream waits until something synchronizes with it, so a missing
// synchronization shows as a wrong result. The host cannot touch device memory outside of kernels and copies.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "device_builtins.h"

#define CUDART_VERSION 13000

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaMemPoolAttr {
    cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh,
};
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemAccessFlags { cudaMemAccessFlagsProtReadWrite = 3 };
struct cudaMemAccessDesc {
    struct {
        cudaMemLocationType type;
        int id;
    } location;
    cudaMemAccessFlags flags;
};
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess, cudaDriverEntryPointSymbolNotFound };
constexpr unsigned cudaEnableDefault = 0;
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0;
constexpr unsigned cudaEventDisableTiming = 2;

struct cudaEmulatedStream;
struct cudaEmulatedEvent;
struct cudaEmulatedPool;
struct cudaEmulatedGraph;
using cudaStream_t = cudaEmulatedStream*;  // null: the default one of the current device
using cudaEvent_t = cudaEmulatedEvent*;
using cudaMemPool_t = cudaEmulatedPool*;
using cudaGraph_t = cudaEmulatedGraph*;
using cudaGraphExec_t = cudaEmulatedGraph*;

// As in CUDA, programs find these functions by their names.
extern "C" {

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();

cudaError_t cudaDriverGetVersion(int* version);  // CHAINERX_CUDA_EMULATION_DRIVER, CUDART_VERSION by default
cudaError_t cudaGetDeviceCount(int* count);      // CHAINERX_CUDA_EMULATION_DEVICES, 4 by default
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);  // opens a context on it
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, uint64_t flags,
                                             cudaDriverEntryPointQueryResult* result);
cudaError_t cudaDeviceSynchronize();
// All but the default one are independent of it.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
// Work that waits stays so until something synchronizes.
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
// Until the end, work that is submitted to the stream is recorded. What waits for the stream is an error, and then
// there is no graph. Blocks of memory that are allocated and freed meanwhile belong to the graph.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
// Each piece of work takes a millisecond.
cudaError_t cudaEventElapsedTime(float* time, cudaEvent_t start, cudaEvent_t end);

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, size_t count);
// Devices 0 and 1 are connected, and 2 and 3, and so on.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, size_t bytes);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream);

}  // extern "C"

struct cudaLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    cudaStream_t stream;
};

// Submits one call of `thread` for each thread of the grid.
cudaError_t cudaEmulateLaunch(const cudaLaunchConfig_t& config, std::function<void()> thread);

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
    // As in a launch, the kernel gets copies of the arguments made now.
    std::tuple<std::decay_t<Parameters>...> values{static_cast<Parameters>(std::forward<Arguments>(arguments))...};
    return cudaEmulateLaunch(*config, [kernel, values] { std::apply(kernel, values); });
}
