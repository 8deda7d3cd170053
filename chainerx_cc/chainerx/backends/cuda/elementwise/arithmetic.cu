#include "chainerx/backends/cuda/elementwise.h"
#include "chainerx/ops/arithmetic.h"

namespace chainerx::cuda {

const CudaKernels g_arithmetic_kernels{[](Backend& backend) { CHAINERX_ARITHMETIC_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
