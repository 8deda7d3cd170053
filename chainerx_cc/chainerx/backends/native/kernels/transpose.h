#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// to[j * to_row + i] = from[i * from_row + j] for i < rows and j < columns
CHAINERX_ISA_KERNEL(TransposeMatrix,
                    (int64_t rows, int64_t columns, const T* from, int64_t from_row, T* to, int64_t to_row),
                    (rows, columns, from, from_row, to, to_row))

}  // namespace chainerx::native
