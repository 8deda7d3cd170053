#include "chainerx/ops/special.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/register.h"

namespace chainerx::native {

void RegisterSpecialKernels(Backend& backend) { CHAINERX_SPECIAL_OPS(CHAINERX_REGISTER_ELEMENTWISE) }

}  // namespace chainerx::native
