#include "chainerx/ops/trigonometric.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/native_backend.h"

namespace chainerx::native {

const NativeKernels g_trigonometric_kernels{
        [](Backend& backend) { CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
