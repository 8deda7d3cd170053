#pragma once

#include <cstdint>
#include <cstring>

#include "chainerx/core/macro.h"

namespace chainerx {

// Double to float, for a second rounding to fewer bits: keeps a sticky last bit, so that the second rounding sees
// whether the first one was exact.
CHAINERX_HOST_DEVICE float RoundToOdd(double v) {
    auto f = static_cast<float>(v);
    auto back = static_cast<double>(f);
    uint32_t bits;
    std::memcpy(&bits, &f, sizeof(bits));
    bool inexact = back != v && v == v && (bits & 0x7f800000U) != 0x7f800000U;
    bool too_big = (v < 0 ? -back : back) > (v < 0 ? -v : v);
    bits -= inexact && too_big ? 1U : 0U;
    bits |= inexact ? 1U : 0U;
    std::memcpy(&f, &bits, sizeof(f));
    return f;
}

}  // namespace chainerx
