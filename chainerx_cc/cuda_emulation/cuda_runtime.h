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

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };

struct cudaEmulatedStream;
struct cudaEmulatedPool;
using cudaStream_t = cudaEmulatedStream*;  // null: the only one of the current device
using cudaMemPool_t = cudaEmulatedPool*;

struct cudaPointerAttributes {
    cudaMemoryType type;
};

// As in CUDA, programs find these functions by their names.
extern "C" {

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();

cudaError_t cudaGetDeviceCount(int* count);  // CHAINERX_CUDA_EMULATION_DEVICES, 4 by default
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamSynchronize(cudaStream_t stream);

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, size_t bytes);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);

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
