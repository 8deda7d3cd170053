#include "chainerx/backends/cuda/elementwise.h"
#include "chainerx/ops/activation.h"

namespace chainerx::cuda {

const CudaKernels g_activation_kernels{[](Backend& backend) { CHAINERX_ACTIVATION_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
