#pragma once

// float16 and bfloat16 by their bits, to and from float. The inline functions are branch-free integer code, which
// compilers vectorize; the conversions of float16 use its instructions where there are any.

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"
#include "chainerx/math/float_parts.h"

namespace chainerx::native {

// Exact.
CHAINERX_INLINE float HalfToFloat(uint16_t half) {
    // A half whose exponent and fraction are moved to their place in a float is 2^112 too small. A multiplication
    // corrects that, for denormals too.
    float magnitude = math::FromBits((half & 0x7fff) << 13) * 5.192296858534828e33F;  // 2^112
    auto bits = static_cast<uint32_t>(math::ToBits(magnitude));
    bits |= (half & 0x7fffU) >= 0x7c00U ? 0x7f800000U : 0U;  // infinity and NaN
    bits |= (half & 0x7fffU) > 0x7c00U ? 0x00400000U : 0U;   // NaN comes out quiet
    bits |= static_cast<uint32_t>(half & 0x8000U) << 16;
    return math::FromBits(static_cast<int32_t>(bits));
}

// To the nearest, ties to even; overflow to infinity.
CHAINERX_INLINE uint16_t FloatToHalf(float value) {
    auto bits = static_cast<uint32_t>(math::ToBits(value));
    uint32_t sign = (bits >> 16) & 0x8000U;
    uint32_t magnitude = bits & 0x7fffffffU;
    // Normal halves: drop 13 bits with rounding, and move the exponent.
    uint32_t normal = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
    // Denormal halves: an addition rounds at the bit that becomes the last.
    float shifted = math::FromBits(static_cast<int32_t>(magnitude)) + 0.5F;
    uint32_t denormal = static_cast<uint32_t>(math::ToBits(shifted)) - 0x3f000000U;
    uint32_t half = magnitude < 0x38800000U ? denormal : normal;
    half = magnitude >= 0x477ff000U ? 0x7c00U : half;
    half = magnitude > 0x7f800000U ? 0x7e00U | ((magnitude >> 13) & 0x1ffU) : half;
    return static_cast<uint16_t>(half | sign);
}

// Exact.
CHAINERX_INLINE float Bfloat16ToFloat(uint16_t half) {
    return math::FromBits(static_cast<int32_t>(static_cast<uint32_t>(half) << 16));
}

// To the nearest, ties to even; overflow to infinity, and one NaN of either sign.
CHAINERX_INLINE uint16_t FloatToBfloat16(float value) {
    auto bits = static_cast<uint32_t>(math::ToBits(value));
    uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    uint32_t nan = ((bits >> 16) & 0x8000U) | 0x7fc0U;
    return static_cast<uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

// `count` elements from one to the other; T is float or double. (Double goes through float, with round to odd so that
// no value is rounded twice.)
CHAINERX_ISA_KERNEL(ConvertFromHalf, (int64_t count, const uint16_t* from, T* to), (count, from, to))
CHAINERX_ISA_KERNEL(ConvertToHalf, (int64_t count, const T* from, uint16_t* to), (count, from, to))
CHAINERX_ISA_KERNEL(ConvertFromBfloat16, (int64_t count, const uint16_t* from, T* to), (count, from, to))
CHAINERX_ISA_KERNEL(ConvertToBfloat16, (int64_t count, const T* from, uint16_t* to), (count, from, to))

}  // namespace chainerx::native
