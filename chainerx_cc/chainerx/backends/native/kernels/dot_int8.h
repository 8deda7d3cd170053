#pragma once

// Sums of products of 8-bit integers, for *_vnni_isa.cc sources only. A vector of columns holds kDepth elements of each
// of kLanes columns, a row gives kDepth elements to all of them: four bytes with VNNI, else two numbers of 16 bits,
// which nothing saturates. Bytes of one operand have a sign, those of the other one have none.

#include <cstdint>
#include <type_traits>

#include "chainerx/backends/native/kernels/simd.h"

namespace chainerx::native::CHAINERX_ISA {

// Unsigned, because sums wrap around.
using Sums = Vec<uint32_t>;
constexpr int kLanes = Simd<uint32_t>::kSize;

#if defined(__AVX512VNNI__)
constexpr int kDepth = 4;
#else
constexpr int kDepth = 2;
#endif

// Elements of the row, for columns of T
template <class T>
using RowElement = std::conditional_t<kDepth == 2, int16_t, std::conditional_t<std::is_signed_v<T>, uint8_t, int8_t>>;

// kDepth elements of a row
template <class T>
CHAINERX_INLINE uint32_t LoadRow(const T* row) {
    uint32_t bits;
    __builtin_memcpy(&bits, row, sizeof(bits));
    return bits;
}

// LoadColumns<T>(p): a vector of columns of int8_t or uint8_t. AddProducts(sums, row, columns): sums + their products.
#if defined(__AVX512VNNI__)
template <class T>
struct Columns {
    __m512i bytes;
};
template <class T>
CHAINERX_INLINE Columns<T> LoadColumns(const T* p) {
    return {_mm512_loadu_si512(p)};
}
CHAINERX_INLINE Sums AddProducts(Sums sums, uint32_t row, Columns<int8_t> columns) {
    return (Sums)_mm512_dpbusd_epi32((__m512i)sums, _mm512_set1_epi32(static_cast<int>(row)), columns.bytes);
}
CHAINERX_INLINE Sums AddProducts(Sums sums, uint32_t row, Columns<uint8_t> columns) {
    return (Sums)_mm512_dpbusd_epi32((__m512i)sums, columns.bytes, _mm512_set1_epi32(static_cast<int>(row)));
}
#elif defined(__AVX512BW__)
CHAINERX_INLINE __m512i LoadColumns(const int8_t* p) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
CHAINERX_INLINE __m512i LoadColumns(const uint8_t* p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
CHAINERX_INLINE Sums AddProducts(Sums sums, uint32_t row, __m512i columns) {
    return sums + (Sums)_mm512_madd_epi16(_mm512_set1_epi32(static_cast<int>(row)), columns);
}
#elif defined(__AVX2__)
CHAINERX_INLINE __m256i LoadColumns(const int8_t* p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
CHAINERX_INLINE __m256i LoadColumns(const uint8_t* p) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
CHAINERX_INLINE Sums AddProducts(Sums sums, uint32_t row, __m256i columns) {
    return sums + (Sums)_mm256_madd_epi16(_mm256_set1_epi32(static_cast<int>(row)), columns);
}
#elif defined(__SSE4_1__)
CHAINERX_INLINE __m128i LoadColumns(const int8_t* p) {
    return _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
CHAINERX_INLINE __m128i LoadColumns(const uint8_t* p) {
    return _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
CHAINERX_INLINE Sums AddProducts(Sums sums, uint32_t row, __m128i columns) {
    return sums + (Sums)_mm_madd_epi16(_mm_set1_epi32(static_cast<int>(row)), columns);
}
#else
struct Columns {
    Vec<int32_t> rows[kDepth];
};
template <class T>
CHAINERX_INLINE Columns LoadColumns(const T* p) {
    Columns columns;
    for (int i = 0; i < kLanes; ++i) {
        for (int d = 0; d < kDepth; ++d) columns.rows[d][i] = p[i * kDepth + d];
    }
    return columns;
}
CHAINERX_INLINE Sums AddProducts(Sums sums, uint32_t bits, const Columns& columns) {
    int16_t row[kDepth];
    __builtin_memcpy(row, &bits, sizeof(bits));
    for (int d = 0; d < kDepth; ++d) sums += (Sums)(columns.rows[d] * Set<int32_t>(row[d]));
    return sums;
}
#endif

}  // namespace chainerx::native::CHAINERX_ISA
