#pragma once

// Products of bfloat16 by the instructions of AVX512-BF16, which add products of two pairs to sums in float32.

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Whether the processor has the instructions, and CHAINERX_ISA is not base, v3 or v4. The function below needs them.
bool HasBf16();

// A matrix stored by rows, `ld` elements apart, or its transpose.
struct Bf16Matrix {
    bool trans;
    const uint16_t* data;
    int64_t ld;
};

// C = op(A) op(B) + beta C, with C (m, n) stored by rows and rounded to the nearest. Runs in parallel.
void GemmBf16(int64_t m, int64_t n, int64_t k, const Bf16Matrix& a, const Bf16Matrix& b, float beta, uint16_t* c,
              int64_t ldc);

// `batch` such products, with matrices at equal distances.
void GemmBf16Batched(int64_t batch, int64_t m, int64_t n, int64_t k, const Bf16Matrix& a, int64_t stride_a,
                     const Bf16Matrix& b, int64_t stride_b, float beta, uint16_t* c, int64_t ldc, int64_t stride_c);

#if CHAINERX_ISA_X86
namespace bf16 {

// A with its rows in memory one after the other and filled up to an even length.
void PackBf16Rows(int64_t m, int64_t k, const Bf16Matrix& a, uint16_t* packed);

// Product with rows of A that have an even length.
void MultiplyBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                  uint16_t* c, int64_t ldc);

// Product of few rows without packing B, which would take longer than to multiply.
void MultiplyFewBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                     uint16_t* c, int64_t ldc);

}  // namespace bf16
#endif

}  // namespace chainerx::native
