#include "chainerx/ops/comparison.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/register.h"

namespace chainerx::native {

void RegisterComparisonKernels(Backend& backend) { CHAINERX_COMPARISON_OPS(CHAINERX_REGISTER_ELEMENTWISE) }

}  // namespace chainerx::native
