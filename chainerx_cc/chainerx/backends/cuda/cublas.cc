#include "chainerx/backends/cuda/cublas.h"

#include <map>
#include <mutex>

#include "chainerx/backends/cuda/library.h"
#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace {

struct Context;  // of cuBLAS
using Handle = Context*;

constexpr int kDefaultAlgorithm = -1;

struct Blas {
    Blas() {
        if (!library.IsAvailable()) return;
        library.Get(create, "cublasCreate_v2");
        library.Get(set_stream, "cublasSetStream_v2");
        library.Get(gemm, "cublasGemmStridedBatchedEx");
        library.Get(get_status_name, "cublasGetStatusName");
    }

    Library library{
            "cuBLAS", {"nvidia/cu13/lib/libcublas.so.13", "nvidia/cublas/lib/libcublas.so.12"}, "nvidia-cublas"};
    int (*create)(Handle* handle);
    int (*set_stream)(Handle handle, cudaStream_t stream);
    int (*gemm)(Handle handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int type_a,
                int lda, long long stride_a, const void* b, int type_b, int ldb, long long stride_b, const void* beta,
                void* c, int type_c, int ldc, long long stride_c, int batch, int compute, int algorithm);
    const char* (*get_status_name)(int status);

    std::mutex mutex;
    std::map<int, Handle> handles;  // by device; as long as the process
};

Blas& GetBlas() {
    static auto* blas = new Blas;
    return *blas;
}

void Check(const Blas& blas, int status, const char* what) {
    if (status != 0) throw DeviceError{"cuBLAS error in ", what, ": ", blas.get_status_name(status)};
}

}  // namespace

bool HasBlas() { return GetBlas().library.IsAvailable(); }

void Run(const BlasGemm& g, int device, cudaStream_t stream, const char* what) {
    Blas& blas = GetBlas();
    // Scalars have the type of the sums, which is float64 or float32.
    float alpha = 1;
    auto beta = static_cast<float>(g.beta);
    double long_alpha = 1;
    bool is_double = g.compute == BlasCompute::kFloat64;
    auto type = static_cast<int>(g.type);
    std::lock_guard<std::mutex> lock{blas.mutex};
    Handle& handle = blas.handles[device];
    if (handle == nullptr) Check(blas, blas.create(&handle), what);
    Check(blas, blas.set_stream(handle, stream), what);
    int status = blas.gemm(handle, static_cast<int>(g.op_a), static_cast<int>(g.op_b), g.m, g.n, g.k,
                           is_double ? static_cast<const void*>(&long_alpha) : &alpha, g.a, type, g.lda, g.stride_a,
                           g.b, type, g.ldb, g.stride_b, is_double ? static_cast<const void*>(&g.beta) : &beta, g.c,
                           type, g.ldc, g.stride_c, g.batch, static_cast<int>(g.compute), kDefaultAlgorithm);
    Check(blas, status, what);
}

}  // namespace chainerx::cuda
