#pragma once

// The functions of cuBLASLt that the backend calls, which it finds at run time.

#include "chainerx/backends/cuda/cublas.h"
#include "chainerx/core/device.h"

namespace chainerx::cuda {

// Whether cuBLASLt is there and to be used.
bool HasBlasLt();
// Runs one product, with a bias of m elements that it adds to each column of c in place of `beta` c. False if cuBLASLt
// cannot do it. `what`: the operation, for errors.
bool TryWithBias(const BlasGemm& gemm, const void* bias, Device& device, const char* what);

}  // namespace chainerx::cuda
