#include "chainerx/ops/explog.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/kernel_family.h"

namespace chainerx::native {

const KernelFamily g_explog_kernels{[](Backend& backend) { CHAINERX_EXPLOG_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
