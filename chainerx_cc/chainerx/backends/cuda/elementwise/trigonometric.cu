#include "chainerx/backends/cuda/elementwise.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx::cuda {

const CudaKernels g_trigonometric_kernels{
        [](Backend& backend) { CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
