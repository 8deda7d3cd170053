#pragma once

#include "chainerx/core/array.h"

namespace chainerx::cuda {

// kMatmulKernel without a library: the path of integers and of unusual sizes.
void MatmulByTiles(const Array& a, const Array& b, double beta, const Array& out);

}  // namespace chainerx::cuda
