// The functions of cuBLAS that the CUDA backend loads, on the emulation: libcublas.so.13.

#include <cstdint>

#include "cuda_runtime.h"
#include "numbers.h"

namespace {

using cuda_emulation::kBfloat16;
using cuda_emulation::kFloat16;
using cuda_emulation::kFloat32;
using cuda_emulation::kFloat64;
using cuda_emulation::Load;
using cuda_emulation::Round;
using cuda_emulation::Store;

enum Compute { kIn32 = 68, kIn64 = 70, kFromFloat16 = 74, kFromBfloat16 = 75, kFromTf32 = 77 };
enum Status { kSuccess = 0, kInvalidValue = 7 };

struct Context {
    cudaStream_t stream;
};

// The bits after the point that the units for matrices read.
int BitsOf(int compute) {
    if (compute == kIn32 || compute == kIn64) return cuda_emulation::kAllBits;
    return compute == kFromBfloat16 ? 7 : 10;
}

struct Factor {
    const char* data;
    bool is_transposed;
    int leading;
    long long stride;

    double Get(int64_t i, int64_t row, int64_t column, int type, int compute) const {
        int64_t place = is_transposed ? row * leading + column : column * leading + row;
        return Round(Load(data, type, i * stride + place), BitsOf(compute));
    }
};

struct Problem {
    int m, n, k, batch;
    double alpha, beta;
    Factor a, b;
    char* c;
    int ldc;
    long long stride_c;
    int type, compute;
};

void Multiply(Problem p) {
    for (int64_t i = 0; i < p.batch; ++i) {
        for (int64_t column = 0; column < p.n; ++column) {
            for (int64_t row = 0; row < p.m; ++row) {
                double sum = 0;
                for (int64_t j = 0; j < p.k; ++j) {
                    sum += p.a.Get(i, row, j, p.type, p.compute) * p.b.Get(i, j, column, p.type, p.compute);
                }
                int64_t place = i * p.stride_c + column * p.ldc + row;
                double before = p.beta == 0 ? 0 : p.beta * Load(p.c, p.type, place);
                Store(p.c, p.type, place, p.alpha * sum + before);
            }
        }
    }
}

double LoadScalar(const void* p, int compute) {
    return compute == kIn64 ? *static_cast<const double*>(p) : *static_cast<const float*>(p);
}

bool IsKnown(int type, int compute) {
    if (type == kFloat64) return compute == kIn64;
    if (type == kFloat16 || type == kBfloat16) return compute == kIn32;
    return type == kFloat32 &&
           (compute == kIn32 || compute == kFromFloat16 || compute == kFromBfloat16 || compute == kFromTf32);
}

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
    bool is_valid = type_a == type_b && type_b == type_c && IsKnown(type_a, compute) && m >= 0 && n >= 0 && k >= 0 &&
                    batch >= 0 && lda >= (op_a == 0 ? m : k) && ldb >= (op_b == 0 ? k : n) && ldc >= m;
    if (!is_valid) return kInvalidValue;
    Problem problem{m,
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
                    type_a,
                    compute};
    cudaLaunchConfig_t config{};
    config.stream = handle->stream;
    return cudaLaunchKernelEx(&config, &Multiply, problem) == cudaSuccess ? kSuccess : kInvalidValue;
}

}  // extern "C"
