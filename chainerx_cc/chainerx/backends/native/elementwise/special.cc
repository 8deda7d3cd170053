#include "chainerx/ops/special.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/kernel_family.h"

namespace chainerx::native {

const KernelFamily g_special_kernels{[](Backend& backend) { CHAINERX_SPECIAL_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
