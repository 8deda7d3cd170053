#include "chainerx/ops/arithmetic.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/kernel_family.h"

namespace chainerx::native {

const KernelFamily g_arithmetic_kernels{
        [](Backend& backend) { CHAINERX_ARITHMETIC_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
