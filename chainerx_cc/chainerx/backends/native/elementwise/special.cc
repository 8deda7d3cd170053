#include "chainerx/ops/special.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/native_backend.h"

namespace chainerx::native {

const NativeKernels g_special_kernels{[](Backend& backend) { CHAINERX_SPECIAL_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
