#pragma once

#include <cstdint>
#include <cstring>

#include "chainerx/core/macro.h"
#include "chainerx/core/round_to_odd.h"

namespace chainerx {

// IEEE 754 binary16 storage. Computations are done in float; conversions have no branches so that loops vectorise.
class Float16 {
public:
    Float16() = default;
    CHAINERX_HOST_DEVICE explicit Float16(float v) : bits_{FromFloat(v)} {}
    CHAINERX_HOST_DEVICE explicit Float16(double v) : bits_{FromFloat(RoundToOdd(v))} {}
    CHAINERX_HOST_DEVICE explicit operator float() const { return ToFloat(bits_); }
    CHAINERX_HOST_DEVICE explicit operator double() const { return static_cast<double>(ToFloat(bits_)); }

    uint16_t bits() const { return bits_; }
    static Float16 FromBits(uint16_t bits) {
        Float16 h;
        h.bits_ = bits;
        return h;
    }

private:
    template <class To, class From>
    CHAINERX_HOST_DEVICE static To Bits(From v) {
        To out;
        std::memcpy(&out, &v, sizeof(out));
        return out;
    }

    // On a GPU one instruction converts, with the same results but for the bits of NaN.
    CHAINERX_HOST_DEVICE static float ToFloat(uint16_t h) {
#ifdef __CUDA_ARCH__
        float v;
        asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(h));
        return v;
#else
        uint32_t sign = static_cast<uint32_t>(h & 0x8000U) << 16;
        uint32_t magnitude = static_cast<uint32_t>(h & 0x7fffU) << 13;
        // Scaling by 2^112 moves the exponent bias and normalises subnormal values.
        float scaled = Bits<float>(magnitude) * Bits<float>(0x77800000U);
        uint32_t special = magnitude | 0x7f800000U;
        uint32_t bits = (h & 0x7c00U) == 0x7c00U ? special : Bits<uint32_t>(scaled);
        return Bits<float>(bits | sign);
#endif
    }

    CHAINERX_HOST_DEVICE static uint16_t FromFloat(float v) {
#ifdef __CUDA_ARCH__
        uint16_t h;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(v));
        return h;
#else
        uint32_t f = Bits<uint32_t>(v);
        uint32_t sign = (f >> 16) & 0x8000U;
        f &= 0x7fffffffU;
        // Subnormal results: let float addition do the rounding.
        uint32_t subnormal = Bits<uint32_t>(Bits<float>(f) + 0.5F) - 0x3f000000U;
        // Normal results: rebias and round half to even; overflow carries into infinity.
        uint32_t normal = (f - 0x38000000U + 0xfffU + ((f >> 13) & 1U)) >> 13;
        uint32_t out = f < 0x38800000U ? subnormal : normal;
        out = f >= 0x47800000U ? 0x7c00U : out;
        out = f > 0x7f800000U ? 0x7e00U : out;
        return static_cast<uint16_t>(out | sign);
#endif
    }

    uint16_t bits_;
};

}  // namespace chainerx
