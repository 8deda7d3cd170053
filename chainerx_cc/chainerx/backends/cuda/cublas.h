#pragma once

// The functions of cuBLAS that the backend calls, which it finds at run time.

#include <cuda_runtime.h>

#include <cstdint>

#include "chainerx/backends/cuda/cublas_api.h"

namespace chainerx::cuda {

// One product of matrices in column-major order, or `batch` of them at equal distances:
// c = alpha op(a) op(b) + beta c, with c of m rows and n columns and sums of length k.
struct BlasGemm {
    BlasOperation op_a;
    BlasOperation op_b;
    int m;
    int n;
    int k;
    const void* a;
    int lda;
    int64_t stride_a;
    const void* b;
    int ldb;
    int64_t stride_b;
    double beta;
    void* c;
    int ldc;
    int64_t stride_c;
    int batch;
    BlasType type;
    BlasCompute compute;
};

// Whether cuBLAS is there and to be used.
bool HasBlas();
// `device` is current. `what`: the operation, for errors.
void Run(const BlasGemm& gemm, int device, cudaStream_t stream, const char* what);

}  // namespace chainerx::cuda
