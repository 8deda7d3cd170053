#include "chainerx/backends/native/elementwise_rows.h"
#include "chainerx/ops/activation.h"

namespace chainerx::native::CHAINERX_ISA {

CHAINERX_ACTIVATION_OPS(CHAINERX_INSTANTIATE_ROWS)

}  // namespace chainerx::native::CHAINERX_ISA
