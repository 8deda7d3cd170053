#include "chainerx/backends/cuda/elementwise.h"
#include "chainerx/ops/comparison.h"

namespace chainerx::cuda {

const CudaKernels g_comparison_kernels{[](Backend& backend) { CHAINERX_COMPARISON_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
