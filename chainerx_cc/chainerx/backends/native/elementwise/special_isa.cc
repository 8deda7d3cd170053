#include "chainerx/backends/native/elementwise_rows.h"
#include "chainerx/ops/special.h"

namespace chainerx::native::CHAINERX_ISA {

CHAINERX_SPECIAL_OPS(CHAINERX_INSTANTIATE_ROWS)

}  // namespace chainerx::native::CHAINERX_ISA
