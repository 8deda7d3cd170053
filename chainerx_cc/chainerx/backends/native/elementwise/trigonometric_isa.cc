#include "chainerx/backends/native/elementwise_rows.h"
#include "chainerx/ops/trigonometric.h"

namespace chainerx::native::CHAINERX_ISA {

template <>
struct LoopOf<ops::Sin> : UnaryLoop<UnaryMath::kSin> {};
template <>
struct LoopOf<ops::Cos> : UnaryLoop<UnaryMath::kCos> {};
template <>
struct LoopOf<ops::Tan> : UnaryLoop<UnaryMath::kTan> {};
template <>
struct LoopOf<ops::Arctan2> : BinaryLoop<BinaryMath::kAtan2> {};

CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_INSTANTIATE_ROWS)

}  // namespace chainerx::native::CHAINERX_ISA
