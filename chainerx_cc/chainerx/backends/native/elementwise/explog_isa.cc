#include "chainerx/backends/native/elementwise_rows.h"
#include "chainerx/ops/explog.h"

namespace chainerx::native::CHAINERX_ISA {

template <>
struct LoopOf<ops::Log> : UnaryLoop<UnaryMath::kLog> {};
template <>
struct LoopOf<ops::Log2> : UnaryLoop<UnaryMath::kLog2> {};
template <>
struct LoopOf<ops::Log10> : UnaryLoop<UnaryMath::kLog10> {};

CHAINERX_EXPLOG_OPS(CHAINERX_INSTANTIATE_ROWS)

}  // namespace chainerx::native::CHAINERX_ISA
