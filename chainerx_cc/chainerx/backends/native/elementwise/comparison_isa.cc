#include "chainerx/backends/native/elementwise_rows.h"
#include "chainerx/ops/comparison.h"

namespace chainerx::native::CHAINERX_ISA {

CHAINERX_COMPARISON_OPS(CHAINERX_INSTANTIATE_ROWS)

}  // namespace chainerx::native::CHAINERX_ISA
