#include "chainerx/ops/comparison.h"

#include "chainerx/backends/cuda/elementwise.h"

namespace chainerx::cuda {

const CudaKernels g_comparison_kernels{[](Backend& backend) { CHAINERX_COMPARISON_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
