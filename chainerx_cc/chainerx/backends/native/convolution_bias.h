#pragma once

#include "chainerx/core/array.h"

namespace chainerx::native {

// Fills every channel of `out`, the second axis, with its bias, or with zeros if `bias` is null.
void FillBias(const Array& bias, const Array& out);

}  // namespace chainerx::native
