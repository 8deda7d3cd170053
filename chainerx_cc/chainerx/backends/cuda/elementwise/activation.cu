#include "chainerx/ops/activation.h"

#include "chainerx/backends/cuda/elementwise.h"

namespace chainerx::cuda {

const CudaKernels g_activation_kernels{[](Backend& backend) { CHAINERX_ACTIVATION_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
