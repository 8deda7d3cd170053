#include "chainerx/ops/special.h"

#include "chainerx/backends/cuda/elementwise.h"

namespace chainerx::cuda {

const CudaKernels g_special_kernels{[](Backend& backend) { CHAINERX_SPECIAL_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
