#pragma once

// Elements of the dtypes that NVIDIA's libraries know by the same numbers.

#include <cmath>
#include <cstdint>

#include "chainerx/core/bfloat16.h"
#include "chainerx/core/float16.h"

namespace cuda_emulation {

enum Type { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBfloat16 = 14 };

inline double Load(const void* p, int type, int64_t i) {
    if (type == kFloat64) return static_cast<const double*>(p)[i];
    if (type == kFloat32) return static_cast<const float*>(p)[i];
    if (type == kBfloat16) return static_cast<double>(static_cast<const chainerx::Bfloat16*>(p)[i]);
    return static_cast<float>(static_cast<const chainerx::Float16*>(p)[i]);
}
inline void Store(void* p, int type, int64_t i, double value) {
    if (type == kFloat64) {
        static_cast<double*>(p)[i] = value;
    } else if (type == kFloat32) {
        static_cast<float*>(p)[i] = static_cast<float>(value);
    } else if (type == kBfloat16) {
        static_cast<chainerx::Bfloat16*>(p)[i] = chainerx::Bfloat16{value};
    } else {
        static_cast<chainerx::Float16*>(p)[i] = chainerx::Float16{static_cast<float>(value)};
    }
}

constexpr int kAllBits = 64;
// With so many bits after the point as the units for matrices read.
inline double Round(double value, int bits) {
    if (bits == kAllBits) return value;
    int exponent;
    double mantissa = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}

}  // namespace cuda_emulation
