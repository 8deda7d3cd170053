#pragma once

#include <optional>

#include "chainerx/backends/cuda/cublas.h"
#include "chainerx/core/array.h"

namespace chainerx::cuda {

// kMatmulKernel.
void Matmul(const Array& a, const Array& b, double beta, const Array& out);

// kMatmulKernel without a library: the path of integers and of unusual sizes.
void MatmulByTiles(const Array& a, const Array& b, double beta, const Array& out);

// A product as cuBLAS sees it: the transposed result, whose columns are the rows of `out`, so `gemm` has b first.
struct BlasProduct {
    Array a;
    Array b;
    BlasGemm gemm;  // of the first matrices of stacks
};
// Nothing if cuBLAS has no function for it. May copy factors that it cannot read.
std::optional<BlasProduct> FindBlasProduct(const Array& a, const Array& b, const Array& out);

}  // namespace chainerx::cuda
