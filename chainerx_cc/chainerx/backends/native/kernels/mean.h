#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Writes the mean of `n_sources` arrays of `count` elements to `n_results` arrays, which may be sources. Adds in the
// order of the sources.
CHAINERX_ISA_KERNEL(Mean,
                    (int64_t count, int64_t n_sources, const T* const* sources, int64_t n_results, T* const* results),
                    (count, n_sources, sources, n_results, results))

}  // namespace chainerx::native
