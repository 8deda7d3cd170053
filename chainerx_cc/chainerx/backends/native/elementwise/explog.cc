#include "chainerx/ops/explog.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/register.h"

namespace chainerx::native {

const KernelFamily g_explog_kernels{[](Backend& backend) { CHAINERX_EXPLOG_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
