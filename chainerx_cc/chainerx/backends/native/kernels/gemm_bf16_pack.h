#pragma once

// Operands of products of bfloat16 as the instructions read them, and sums that they store. For *_bf16_isa.cc sources
// only.

#include <cstdint>

#include "chainerx/backends/native/kernels/gemm_bf16.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {

constexpr int kLanes = Simd<float>::kSize;
constexpr int kPairLanes = 2 * kLanes;  // elements of a vector

CHAINERX_INLINE int64_t Pairs(int64_t k) { return (k + 1) / 2; }
CHAINERX_INLINE int Vectors(int columns) { return (columns + kLanes - 1) / kLanes; }

// Masks of the first n elements, or sums, of a vector.
CHAINERX_INLINE __mmask32 FirstLanes(int64_t n) { return n >= kPairLanes ? ~__mmask32{0} : (__mmask32{1} << n) - 1; }
CHAINERX_INLINE __mmask16 FirstSums(int64_t n) { return n >= kLanes ? 0xffff : (__mmask16{1} << n) - 1; }

CHAINERX_INLINE __m512bh LoadBf16(const uint16_t* p, __mmask32 mask) {
    return (__m512bh)_mm512_maskz_loadu_epi16(mask, p);
}

// Rounds the first `count` sums to C, where beta times C is added before. The instruction makes zeros of denormal sums,
// as those that multiply do.
CHAINERX_INLINE void StoreRounded(__m512 sums, int64_t count, float beta, uint16_t* c) {
    __mmask16 mask = FirstSums(count);
    if (beta != 0) {
        __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, c)), 16);
        sums = _mm512_fmadd_ps(_mm512_set1_ps(beta), _mm512_castsi512_ps(wide), sums);
    }
    _mm256_mask_storeu_epi16(c, mask, (__m256i)_mm512_cvtneps_pbh(sums));
}

// Transposes a matrix of pairs, [rows][columns] to [columns][ld / 2], with zeros where a row of the result is longer.
// load(i, j) has the columns from j of row i.
template <class F>
CHAINERX_INLINE void TransposePairs(int64_t rows, int64_t columns, F load, uint16_t* to, int64_t ld) {
    for (int64_t j = 0; j < columns; j += kLanes) {
        int64_t width = columns - j < kLanes ? columns - j : kLanes;
        for (int64_t i = 0; i < rows; i += kLanes) {
            int64_t height = rows - i < kLanes ? rows - i : kLanes;
            __mmask16 mask = FirstSums(ld / 2 - i);
            Vec<float> block[kLanes];
#pragma GCC unroll 16
            for (int64_t q = 0; q < kLanes; ++q) block[q] = q < height ? load(i + q, j) : Vec<float>{};
            Transpose<float>(block);
#pragma GCC unroll 16
            for (int64_t p = 0; p < kLanes; ++p) {
                if (p < width) _mm512_mask_storeu_ps(to + (j + p) * ld + 2 * i, mask, block[p]);
            }
        }
    }
}

// Pairs of two rows of n elements, the second of which may be missing.
CHAINERX_INLINE __m512i LoadPairs(const uint16_t* row, int64_t ld, bool has_second, int64_t n) {
    __mmask16 mask = FirstSums(n);
    __m512i pairs = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, row));
    if (!has_second) return pairs;
    __m512i second = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, row + ld));
    return _mm512_or_si512(pairs, _mm512_slli_epi32(second, 16));
}

// Rows of B between a fetch into the cache and its use
constexpr int64_t kPackAhead = 16;

// Packs the columns from `first` of B into a panel of `width` columns, of which the last ones may be zeros.
inline void PackPanel(int64_t k, const Bf16Matrix& b, int64_t first, int columns, int64_t width, uint16_t* panel) {
    if (b.trans) {
        auto load = [&](int64_t i, int64_t pair) {
            const uint16_t* p = b.data + (first + i) * b.ld + 2 * pair;
            __builtin_prefetch(p + kPackAhead * kPairLanes / 2);
            return (Vec<float>)LoadBf16(p, FirstLanes(k - 2 * pair));
        };
        TransposePairs(columns, Pairs(k), load, panel, 2 * width);
        return;
    }
    for (int64_t q = 0; q < k; q += 2) {
        const uint16_t* from = b.data + q * b.ld + first;
        for (int64_t ahead = kPackAhead; ahead < kPackAhead + 2; ++ahead) {
            __builtin_prefetch(from + ahead * b.ld);
            __builtin_prefetch(from + ahead * b.ld + kPairLanes);
        }
        for (int64_t i = 0; i < width; i += kLanes, panel += kPairLanes) {
            _mm512_storeu_si512(panel, LoadPairs(from + i, b.ld, q + 1 < k, columns - i));
        }
    }
}

}  // namespace chainerx::native::CHAINERX_ISA
