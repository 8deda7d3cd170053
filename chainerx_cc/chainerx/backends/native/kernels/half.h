#pragma once

// float16 and bfloat16 by their bits, to and from float. The inline functions are branch-free integer code, which
// compilers vectorize; the conversions of float16 use its instructions where there are any.

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Exact.
CHAINERX_INLINE float HalfToFloat(uint16_t half) {
    // A half whose exponent and fraction are moved to their place in a float is 2^112 too small. A multiplication
    // corrects that, for denormals too.
    uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffU) << 13;
    float value;
    __builtin_memcpy(&value, &magnitude, sizeof(value));
    value *= 5.192296858534828e33F;  // 2^112
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    bits |= (half & 0x7fffU) >= 0x7c00U ? 0x7f800000U : 0U;  // infinity and NaN
    bits |= (half & 0x7fffU) > 0x7c00U ? 0x00400000U : 0U;   // NaN comes out quiet
    bits |= static_cast<uint32_t>(half & 0x8000U) << 16;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
}

// To the nearest, ties to even; overflow to infinity.
CHAINERX_INLINE uint16_t FloatToHalf(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    uint32_t sign = (bits >> 16) & 0x8000U;
    uint32_t magnitude = bits & 0x7fffffffU;
    // Normal halves: drop 13 bits with rounding, and move the exponent.
    uint32_t normal = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
    // Denormal halves: an addition rounds at the bit that becomes the last.
    float positive;
    __builtin_memcpy(&positive, &magnitude, sizeof(positive));
    float shifted = positive + 0.5F;
    uint32_t denormal;
    __builtin_memcpy(&denormal, &shifted, sizeof(denormal));
    denormal -= 0x3f000000U;
    uint32_t half = magnitude < 0x38800000U ? denormal : normal;
    half = magnitude >= 0x477ff000U ? 0x7c00U : half;
    half = magnitude > 0x7f800000U ? 0x7e00U | ((magnitude >> 13) & 0x1ffU) : half;
    return static_cast<uint16_t>(half | sign);
}

// Exact.
CHAINERX_INLINE float Bfloat16ToFloat(uint16_t half) {
    uint32_t bits = static_cast<uint32_t>(half) << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
}

// To the nearest, ties to even; overflow to infinity, and one NaN for all.
CHAINERX_INLINE uint16_t FloatToBfloat16(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    return static_cast<uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fc0U : rounded);
}

// `count` elements from one to the other; T is float or double for float16, and float for bfloat16. (Double to float16
// goes through float, with round to odd so that no value is rounded twice.)
CHAINERX_ISA_KERNEL(ConvertFromHalf, (int64_t count, const uint16_t* from, T* to), (count, from, to))
CHAINERX_ISA_KERNEL(ConvertToHalf, (int64_t count, const T* from, uint16_t* to), (count, from, to))
CHAINERX_ISA_KERNEL(ConvertFromBfloat16, (int64_t count, const uint16_t* from, T* to), (count, from, to))
CHAINERX_ISA_KERNEL(ConvertToBfloat16, (int64_t count, const T* from, uint16_t* to), (count, from, to))

}  // namespace chainerx::native
