// The functions of cuBLAS that the CUDA backend loads, on the emulation: libcublas.so.13.

#include "cuda_runtime.h"
#include "matrix_product.h"

namespace {

enum Status { kSuccess = 0, kInvalidValue = 7 };

struct Context {
    cudaStream_t stream;
};

}  // namespace

extern "C" {

int cublasCreate_v2(Context** handle) {
    *handle = new Context{};
    return kSuccess;
}

int cublasSetStream_v2(Context* handle, cudaStream_t stream) {
    handle->stream = stream;
    return kSuccess;
}

const char* cublasGetStatusName(int status) {
    return status == kSuccess ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_INVALID_VALUE";
}

int cublasGemmStridedBatchedEx(Context* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                               const void* a, int type_a, int lda, long long stride_a, const void* b, int type_b,
                               int ldb, long long stride_b, const void* beta, void* c, int type_c, int ldc,
                               long long stride_c, int batch, int compute, int) {
    using cuda_emulation::LoadScalar;
    bool is_valid = type_a == type_b && type_b == type_c && cuda_emulation::IsKnown(type_a, compute) && m >= 0 &&
                    n >= 0 && k >= 0 && batch >= 0 && lda >= (op_a == 0 ? m : k) && ldb >= (op_b == 0 ? k : n) &&
                    ldc >= m;
    if (!is_valid) return kInvalidValue;
    cuda_emulation::MatrixProduct product{m,
                                          n,
                                          k,
                                          batch,
                                          LoadScalar(alpha, compute),
                                          LoadScalar(beta, compute),
                                          {static_cast<const char*>(a), op_a != 0, lda, stride_a},
                                          {static_cast<const char*>(b), op_b != 0, ldb, stride_b},
                                          static_cast<char*>(c),
                                          ldc,
                                          stride_c,
                                          nullptr,
                                          type_a,
                                          compute};
    return product.Submit(handle->stream) ? kSuccess : kInvalidValue;
}

}  // extern "C"
