#include "chainerx/backends/native/elementwise_rows.h"
#include "chainerx/ops/arithmetic.h"

namespace chainerx::native::CHAINERX_ISA {

template <>
struct LoopOf<ops::Power> : BinaryLoop<BinaryMath::kPow> {};

CHAINERX_ARITHMETIC_OPS(CHAINERX_INSTANTIATE_ROWS)

}  // namespace chainerx::native::CHAINERX_ISA
