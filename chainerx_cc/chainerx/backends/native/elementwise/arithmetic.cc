#include "chainerx/ops/arithmetic.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/native_backend.h"

namespace chainerx::native {

const NativeKernels g_arithmetic_kernels{
        [](Backend& backend) { CHAINERX_ARITHMETIC_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
