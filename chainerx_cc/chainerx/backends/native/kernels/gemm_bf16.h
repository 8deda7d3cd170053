#pragma once

// Products of bfloat16 by the instructions of AVX512-BF16 or AMX, which add products of two pairs to sums in float32.

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Whether the processor has AVX512-BF16, and CHAINERX_ISA is not base, v3 or v4. Products need it.
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

// C = A op(B) + beta C, with A stored by rows.
using Bf16Product = void (*)(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b,
                             float beta, uint16_t* c, int64_t ldc);

constexpr int64_t kAmxDepth = 32;  // elements of a row of a tile

// The product by AMX, for rows of A whose length is a multiple of kAmxDepth. Null unless HasBf16, the compiler and the
// processor know AMX, the system lets this process use it, CHAINERX_ISA is not bf16, and a first product is right.
Bf16Product GetAmxProduct();

// Whether bits of CPUID (leaf 7, EDX) say that the processor has AMX for bfloat16, and those of the register XCR0 that
// the system saves tiles.
bool IsAmxEnabled(uint32_t cpuid, uint32_t xcr0);

// Whether two products have equal bits for integers, whose sums are exact in any order.
bool AreEqualOnIntegers(Bf16Product first, Bf16Product second);

#if CHAINERX_ISA_X86
namespace bf16 {

// A with its rows in memory one after the other and filled up with zeros to the next even length `width`, or the next
// multiple of kAmxDepth.
void PackBf16Rows(int64_t m, int64_t k, const Bf16Matrix& a, int64_t width, uint16_t* packed);

// Product with rows of A that have an even length.
void MultiplyBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                  uint16_t* c, int64_t ldc);

// The same by AMX, for GetAmxProduct.
void MultiplyAmxBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                     uint16_t* c, int64_t ldc);

// Product of few rows without packing B, which would take longer than to multiply.
void MultiplyFewBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                     uint16_t* c, int64_t ldc);

}  // namespace bf16
#endif

}  // namespace chainerx::native
