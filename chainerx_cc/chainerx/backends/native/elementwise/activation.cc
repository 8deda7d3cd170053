#include "chainerx/ops/activation.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/register.h"

namespace chainerx::native {

void RegisterActivationKernels(Backend& backend) { CHAINERX_ACTIVATION_OPS(CHAINERX_REGISTER_ELEMENTWISE) }

}  // namespace chainerx::native
