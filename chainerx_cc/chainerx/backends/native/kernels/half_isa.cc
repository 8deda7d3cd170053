#include "chainerx/backends/native/kernels/half.h"
#include "chainerx/backends/native/kernels/simd.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

#if defined(__AVX512F__) || defined(__F16C__)
constexpr int kBlock = CHAINERX_SIMD_BYTES / 4;

CHAINERX_INLINE void BlockToFloat(const uint16_t* from, float* to) {
#if defined(__AVX512F__)
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
#else
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#endif
}

CHAINERX_INLINE void BlockToHalf(const float* from, uint16_t* to) {
#if defined(__AVX512F__)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
#endif
}
#else
constexpr int kBlock = 16;

CHAINERX_INLINE void BlockToFloat(const uint16_t* from, float* to) {
    for (int i = 0; i < kBlock; ++i) {
        to[i] = HalfToFloat(from[i]);
    }
}

CHAINERX_INLINE void BlockToHalf(const float* from, uint16_t* to) {
    for (int i = 0; i < kBlock; ++i) {
        to[i] = FloatToHalf(from[i]);
    }
}
#endif

// Rounds to odd: truncates, and sets the last bit if that was not exact, so that rounding to half is exact.
CHAINERX_INLINE float RoundToOdd(double value) {
    auto nearest = static_cast<float>(value);
    uint32_t bits;
    __builtin_memcpy(&bits, &nearest, sizeof(bits));
    double back = nearest;
    bool away = (value < 0 ? -back : back) > (value < 0 ? -value : value);
    bool inexact = back != value && value == value;
    bits -= away ? 1U : 0U;
    bits |= inexact ? 1U : 0U;
    __builtin_memcpy(&nearest, &bits, sizeof(nearest));
    return nearest;
}

}  // namespace

template <>
void ConvertFromHalf<float>(int64_t count, const uint16_t* from, float* to) {
    int64_t i = 0;
    for (; i + kBlock <= count; i += kBlock) {
        BlockToFloat(from + i, to + i);
    }
    for (; i < count; ++i) {
        to[i] = HalfToFloat(from[i]);
    }
}

template <>
void ConvertFromHalf<double>(int64_t count, const uint16_t* from, double* to) {
    for (int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<double>(HalfToFloat(from[i]));
    }
}

template <>
void ConvertToHalf<float>(int64_t count, const float* from, uint16_t* to) {
    int64_t i = 0;
    for (; i + kBlock <= count; i += kBlock) {
        BlockToHalf(from + i, to + i);
    }
    for (; i < count; ++i) {
        to[i] = FloatToHalf(from[i]);
    }
}

template <>
void ConvertToHalf<double>(int64_t count, const double* from, uint16_t* to) {
    for (int64_t i = 0; i < count; ++i) {
        to[i] = FloatToHalf(RoundToOdd(from[i]));
    }
}

template <>
void ConvertFromBfloat16<float>(int64_t count, const uint16_t* from, float* to) {
    for (int64_t i = 0; i < count; ++i) {
        to[i] = Bfloat16ToFloat(from[i]);
    }
}

template <>
void ConvertFromBfloat16<double>(int64_t count, const uint16_t* from, double* to) {
    for (int64_t i = 0; i < count; ++i) {
        to[i] = static_cast<double>(Bfloat16ToFloat(from[i]));
    }
}

template <>
void ConvertToBfloat16<float>(int64_t count, const float* from, uint16_t* to) {
    for (int64_t i = 0; i < count; ++i) {
        to[i] = FloatToBfloat16(from[i]);
    }
}

template <>
void ConvertToBfloat16<double>(int64_t count, const double* from, uint16_t* to) {
    for (int64_t i = 0; i < count; ++i) {
        to[i] = FloatToBfloat16(RoundToOdd(from[i]));
    }
}

}  // namespace chainerx::native::CHAINERX_ISA
