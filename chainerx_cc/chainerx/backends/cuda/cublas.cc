#include "chainerx/backends/cuda/cublas.h"

#include <map>
#include <mutex>

#include "chainerx/backends/cuda/library.h"
#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace {

struct Blas {
    Blas() {
        if (!library.IsAvailable()) return;
#define CHAINERX_CUBLAS_GET(result, name, parameters) library.Get(functions.name, "cublas" #name);
        CHAINERX_CUBLAS_FUNCTIONS(CHAINERX_CUBLAS_GET)
#undef CHAINERX_CUBLAS_GET
    }

    Library library{
            "cuBLAS", {"nvidia/cu13/lib/libcublas.so.13", "nvidia/cublas/lib/libcublas.so.12"}, "nvidia-cublas"};
    blas::Functions functions{};

    std::mutex mutex;
    std::map<int, blas::Handle> handles;  // by device; as long as the process
};

Blas& GetBlas() {
    static auto* blas = new Blas;
    return *blas;
}

void Check(const blas::Functions& functions, int status, const char* what) {
    if (status != 0) throw DeviceError{"cuBLAS error in ", what, ": ", functions.GetStatusName(status)};
}

}  // namespace

bool HasBlas() { return GetBlas().library.IsAvailable(); }

void Run(const BlasGemm& g, int device, cudaStream_t stream, const char* what) {
    Blas& blas = GetBlas();
    const blas::Functions& functions = blas.functions;
    // Scalars have the type of the sums, which is float64 or float32.
    float alpha = 1;
    auto beta = static_cast<float>(g.beta);
    double long_alpha = 1;
    bool is_double = g.compute == BlasCompute::kFloat64;
    std::lock_guard<std::mutex> lock{blas.mutex};
    blas::Handle& handle = blas.handles[device];
    if (handle == nullptr) Check(functions, functions.Create_v2(&handle), what);
    Check(functions, functions.SetStream_v2(handle, stream), what);
    int status = functions.GemmStridedBatchedEx(handle, g.op_a, g.op_b, g.m, g.n, g.k,
                                                is_double ? static_cast<const void*>(&long_alpha) : &alpha, g.a, g.type,
                                                g.lda, g.stride_a, g.b, g.type, g.ldb, g.stride_b,
                                                is_double ? static_cast<const void*>(&g.beta) : &beta, g.c, g.type,
                                                g.ldc, g.stride_c, g.batch, g.compute, blas::kDefaultAlgorithm);
    Check(functions, status, what);
}

}  // namespace chainerx::cuda
