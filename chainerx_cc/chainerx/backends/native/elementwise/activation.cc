#include "chainerx/ops/activation.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/native_backend.h"

namespace chainerx::native {

const NativeKernels g_activation_kernels{
        [](Backend& backend) { CHAINERX_ACTIVATION_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
