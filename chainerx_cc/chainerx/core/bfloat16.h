#pragma once

#include <cstdint>
#include <cstring>

#include "chainerx/core/macro.h"
#include "chainerx/core/round_to_odd.h"

namespace chainerx {

// The upper half of an IEEE 754 binary32. Computations are done in float; conversions have no branches so that loops
// vectorise.
class Bfloat16 {
public:
    Bfloat16() = default;
    CHAINERX_HOST_DEVICE explicit Bfloat16(float v) : bits_{FromFloat(v)} {}
    CHAINERX_HOST_DEVICE explicit Bfloat16(double v) : bits_{FromFloat(RoundToOdd(v))} {}
    CHAINERX_HOST_DEVICE explicit operator float() const { return Bits<float>(static_cast<uint32_t>(bits_) << 16); }
    CHAINERX_HOST_DEVICE explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }

    uint16_t bits() const { return bits_; }
    static Bfloat16 FromBits(uint16_t bits) {
        Bfloat16 h;
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

    // Half to even; overflow carries into infinity. One instruction of a GPU converts with the same results but for the
    // bits of NaN.
    CHAINERX_HOST_DEVICE static uint16_t FromFloat(float v) {
#ifdef __CUDA_ARCH__
        uint16_t h;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(v));
        return h;
#else
        uint32_t f = Bits<uint32_t>(v);
        uint32_t rounded = (f + 0x7fffU + ((f >> 16) & 1U)) >> 16;
        uint32_t nan = ((f >> 16) & 0x8000U) | 0x7fc0U;
        return static_cast<uint16_t>((f & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
#endif
    }

    uint16_t bits_;
};

}  // namespace chainerx
