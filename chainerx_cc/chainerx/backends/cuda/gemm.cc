// Matrix products by cuBLAS. What it has no functions for, and everything where it is not there, takes the plain
// kernel.

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "chainerx/backends/cuda/cublas.h"
#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/matmul.h"
#include "chainerx/core/compute_mode.h"
#include "chainerx/core/loop_nest.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/linalg.h"

namespace chainerx::cuda {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int>::max();

BlasCompute GetCompute(Dtype dtype) {
    if (dtype == Dtype::kFloat64) return BlasCompute::kFloat64;
    if (IsHalf(dtype)) return BlasCompute::kFloat32;
    switch (GetComputeMode()) {
        case ComputeMode::kTf32:
            return BlasCompute::kFloat32FromTf32;
        case ComputeMode::kFloat16:
            return BlasCompute::kFloat32FromFloat16;
        case ComputeMode::kBfloat16:
            return BlasCompute::kFloat32FromBfloat16;
        case ComputeMode::kFloat32:
            break;
    }
    return BlasCompute::kFloat32;
}

std::optional<BlasType> GetType(Dtype dtype) {
    switch (dtype) {
        case Dtype::kFloat16:
            return BlasType::kFloat16;
        case Dtype::kBfloat16:
            return BlasType::kBfloat16;
        case Dtype::kFloat32:
            return BlasType::kFloat32;
        case Dtype::kFloat64:
            return BlasType::kFloat64;
        default:
            return std::nullopt;
    }
}

// How cuBLAS sees the last two dimensions of an array. It expects columns, so the rows of a C-contiguous array are the
// columns of a matrix that is not to be transposed.
struct Matrix {
    BlasOperation op;
    int64_t leading;  // distance of the columns, in elements
};

std::optional<Matrix> GetMatrix(const Array& a) {
    int n = a.ndim();
    int64_t item = a.GetItemSize();
    int64_t rows = a.shape()[n - 2];
    int64_t columns = a.shape()[n - 1];
    int64_t row_stride = a.strides()[n - 2];
    int64_t column_stride = a.strides()[n - 1];
    auto fits = [item](int64_t length, int64_t stride, int64_t other_length, int64_t other_stride) {
        bool is_dense = length == 1 || stride == item;
        bool is_apart = other_length == 1 || (other_stride % item == 0 && other_stride >= length * item);
        return is_dense && is_apart && (other_length == 1 ? length : other_stride / item) <= kMaxInt;
    };
    if (fits(columns, column_stride, rows, row_stride)) {
        return Matrix{BlasOperation::kNone, rows == 1 ? columns : row_stride / item};
    }
    if (fits(rows, row_stride, columns, column_stride)) {
        return Matrix{BlasOperation::kTranspose, columns == 1 ? rows : column_stride / item};
    }
    return std::nullopt;
}

// The factor itself, or a copy that cuBLAS can read.
Array Readable(const Array& a) {
    if (!GetMatrix(a).has_value()) return MakeContiguousCopy(a, a.dtype());
    for (int d = 0; d < a.ndim() - 2; ++d) {
        if (a.strides()[d] % a.GetItemSize() != 0) return MakeContiguousCopy(a, a.dtype());
    }
    return a;
}

bool Fits(const Array& a, const Array& out) {
    int n = out.ndim();
    int64_t inner = a.shape()[n - 1];
    return out.GetTotalSize() > 0 && inner > 0 && inner <= kMaxInt && out.shape()[n - 1] <= kMaxInt &&
           out.shape()[n - 2] <= kMaxInt && out.GetTotalSize() / (out.shape()[n - 1] * out.shape()[n - 2]) <= kMaxInt;
}

void MatmulByBlas(BlasProduct product, double beta, const Array& out) {
    BlasGemm& gemm = product.gemm;
    int64_t item = out.GetItemSize();
    gemm.beta = beta;
    // Dimensions of the stack that are one for all operands are merged; the last one is the batch.
    Strides strides[] = {out.strides(), product.a.strides(), product.b.strides()};
    for (Strides& s : strides) s = Strides(s.begin(), s.end() - 2);
    LoopNest nest{Shape(out.shape().begin(), out.shape().end() - 2), 3, strides};
    const int64_t* steps = nest.strides[nest.ndim - 1];
    gemm.stride_c = steps[0] / item;
    gemm.stride_b = steps[1] / item;
    gemm.stride_a = steps[2] / item;
    CurrentDevice current{out.device()};
    char* data[] = {out.raw_data(), product.a.raw_data(), product.b.raw_data()};
    nest.ForRows(data, 0, nest.OuterSize(), [&](int64_t batch, char* const* p) {
        gemm.batch = static_cast<int>(batch);
        gemm.c = p[0];
        gemm.b = p[1];
        gemm.a = p[2];
        Run(gemm, out.device().index(), current.stream(), "matmul");
    });
}

}  // namespace

std::optional<BlasProduct> FindBlasProduct(const Array& a, const Array& b, const Array& out) {
    std::optional<BlasType> type = GetType(out.dtype());
    if (!type.has_value() || !Fits(a, out)) return std::nullopt;
    BlasProduct product{Readable(a), Readable(b), {}};
    int n = out.ndim();
    Matrix ma = *GetMatrix(product.a);
    Matrix mb = *GetMatrix(product.b);
    BlasGemm& gemm = product.gemm;
    gemm.op_a = mb.op;
    gemm.op_b = ma.op;
    gemm.m = static_cast<int>(out.shape()[n - 1]);
    gemm.n = static_cast<int>(out.shape()[n - 2]);
    gemm.k = static_cast<int>(a.shape()[n - 1]);
    gemm.a = product.b.raw_data();
    gemm.b = product.a.raw_data();
    gemm.c = out.raw_data();
    gemm.lda = static_cast<int>(mb.leading);
    gemm.ldb = static_cast<int>(ma.leading);
    gemm.ldc = gemm.m;
    gemm.batch = 1;
    gemm.type = *type;
    gemm.compute = GetCompute(out.dtype());
    return product;
}

void Matmul(const Array& a, const Array& b, double beta, const Array& out) {
    std::optional<BlasProduct> product;
    if (HasBlas()) product = FindBlasProduct(a, b, out);
    if (product.has_value()) {
        MatmulByBlas(std::move(*product), beta, out);
    } else {
        MatmulByTiles(a, b, beta, out);
    }
}

const CudaKernels g_gemm_kernels{[](Backend& backend) { kMatmulKernel.Register(backend, &Matmul); }};

}  // namespace chainerx::cuda
