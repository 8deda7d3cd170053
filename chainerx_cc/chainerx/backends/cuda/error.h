#pragma once

#include <cuda_runtime.h>

#include "chainerx/core/macro.h"

namespace chainerx::cuda {

// `what`: the operation or the call that failed. Running out of memory is another error; see CudaDevice::Allocate.
[[noreturn]] void ThrowCudaError(cudaError_t error, const char* what);

inline void Check(cudaError_t error, const char* what) {
    if (CHAINERX_UNLIKELY(error != cudaSuccess)) ThrowCudaError(error, what);
}

}  // namespace chainerx::cuda
