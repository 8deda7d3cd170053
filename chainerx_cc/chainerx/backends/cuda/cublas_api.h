#pragma once

// What the backend uses of the interface of cuBLAS 12 and 13. The build compares it with NVIDIA's header where that is
// found (checks/cublas_header.cc).

#include <cuda_runtime.h>

namespace chainerx::cuda {

enum class BlasOperation : int { kNone = 0, kTranspose = 1 };
enum class BlasType : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBfloat16 = 14 };
enum class BlasCompute : int {
    kFloat32 = 68,
    kFloat64 = 70,
    kFloat32FromFloat16 = 74,
    kFloat32FromBfloat16 = 75,
    kFloat32FromTf32 = 77,
};

namespace blas {

struct Context;
using Handle = Context*;

constexpr int kDefaultAlgorithm = -1;

// Result, name without the prefix, parameters.
#define CHAINERX_CUBLAS_FUNCTIONS(X)                                                                                 \
    X(int, Create_v2, (Handle * handle))                                                                             \
    X(int, SetStream_v2, (Handle handle, cudaStream_t stream))                                                       \
    X(int, GemmStridedBatchedEx,                                                                                     \
      (Handle handle, BlasOperation op_a, BlasOperation op_b, int m, int n, int k, const void* alpha, const void* a, \
       BlasType type_a, int lda, long long stride_a, const void* b, BlasType type_b, int ldb, long long stride_b,    \
       const void* beta, void* c, BlasType type_c, int ldc, long long stride_c, int batch, BlasCompute compute,      \
       int algorithm))                                                                                               \
    X(const char*, GetStatusName, (int status))

struct Functions {
#define CHAINERX_CUBLAS_POINTER(result, name, parameters) result(*name) parameters;
    CHAINERX_CUBLAS_FUNCTIONS(CHAINERX_CUBLAS_POINTER)
#undef CHAINERX_CUBLAS_POINTER
};

}  // namespace blas
}  // namespace chainerx::cuda
