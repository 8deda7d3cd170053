#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// The same contract as Gemm, for m, n, k > 0. Serial, without packing of A: for products where a BLAS call
// costs more than the arithmetic, matrix-vector products, and products of a few rows.
CHAINERX_ISA_KERNEL(GemmSmall,
                    (bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
                     const T* b, int64_t ldb, T beta, T* c, int64_t ldc),
                    (trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))

}  // namespace chainerx::native
