#include "chainerx/backends/cuda/elementwise.h"
#include "chainerx/ops/special.h"

namespace chainerx::cuda {

const CudaKernels g_special_kernels{[](Backend& backend) { CHAINERX_SPECIAL_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
