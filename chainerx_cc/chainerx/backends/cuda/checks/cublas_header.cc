// Compares cublas_api.h with NVIDIA's header. Compiled if that is found; nothing links it.

#include <cublas_v2.h>

#include "chainerx/backends/cuda/checks/same_call.h"
#include "chainerx/backends/cuda/cublas_api.h"

namespace chainerx::cuda::blas {

// The header has another function of this name, for C++ alone. The one that the library has is this:
using Gemm = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                            const void*, cudaDataType, int, long long, const void*, cudaDataType, int, long long,
                            const void*, void*, cudaDataType, int, long long, int, cublasComputeType_t,
                            cublasGemmAlgo_t);
[[maybe_unused]] constexpr Gemm* kGemm = &::cublasGemmStridedBatchedEx;
Gemm cublasGemmStridedBatchedEx;

namespace {

using checks::kSame;
using checks::kSameCall;

#define CHAINERX_CHECK(result, name, parameters) static_assert(kSameCall<result parameters, decltype(cublas##name)>);
CHAINERX_CUBLAS_FUNCTIONS(CHAINERX_CHECK)

static_assert(CUBLAS_STATUS_SUCCESS == 0);
static_assert(kSame(BlasOperation::kNone, CUBLAS_OP_N));
static_assert(kSame(BlasOperation::kTranspose, CUBLAS_OP_T));
static_assert(kSame(BlasType::kFloat32, CUDA_R_32F));
static_assert(kSame(BlasType::kFloat64, CUDA_R_64F));
static_assert(kSame(BlasType::kFloat16, CUDA_R_16F));
static_assert(kSame(BlasType::kBfloat16, CUDA_R_16BF));
static_assert(kSame(BlasCompute::kFloat32, CUBLAS_COMPUTE_32F));
static_assert(kSame(BlasCompute::kFloat64, CUBLAS_COMPUTE_64F));
static_assert(kSame(BlasCompute::kFloat32FromFloat16, CUBLAS_COMPUTE_32F_FAST_16F));
static_assert(kSame(BlasCompute::kFloat32FromBfloat16, CUBLAS_COMPUTE_32F_FAST_16BF));
static_assert(kSame(BlasCompute::kFloat32FromTf32, CUBLAS_COMPUTE_32F_FAST_TF32));
static_assert(kSame(kDefaultAlgorithm, CUBLAS_GEMM_DEFAULT));

}  // namespace
}  // namespace chainerx::cuda::blas
