#include "chainerx/ops/explog.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/native_backend.h"

namespace chainerx::native {

const NativeKernels g_explog_kernels{[](Backend& backend) { CHAINERX_EXPLOG_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
