#include "chainerx/ops/comparison.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/native_backend.h"

namespace chainerx::native {

const NativeKernels g_comparison_kernels{
        [](Backend& backend) { CHAINERX_COMPARISON_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
