#include "chainerx/backends/cuda/elementwise.h"
#include "chainerx/ops/explog.h"

namespace chainerx::cuda {

const CudaKernels g_explog_kernels{[](Backend& backend) { CHAINERX_EXPLOG_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::cuda
