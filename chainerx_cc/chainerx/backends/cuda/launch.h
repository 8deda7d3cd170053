#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/error.h"
#include "chainerx/core/array.h"

namespace chainerx::cuda {

constexpr unsigned kBlock = 256;
constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffU;

// Runs a kernel on the current stream of the device. `what`: the operation, for errors.
template <class... Parameters, class... Arguments>
void Launch(const char* what, const Device& device, dim3 grid, dim3 block, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
    CurrentDevice current{device};
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = current.stream();
    Check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), what);
}

// The number of blocks for n threads.
inline dim3 BlocksFor(int64_t n, unsigned block = kBlock) {
    return dim3(static_cast<unsigned>((n + block - 1) / block));
}

template <class T>
T* DataOrNull(const Array& a) {
    return a ? a.data<T>() : nullptr;
}

// The index of the thread in a grid of one dimension.
__device__ inline int64_t ThreadIndex() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

}  // namespace chainerx::cuda
