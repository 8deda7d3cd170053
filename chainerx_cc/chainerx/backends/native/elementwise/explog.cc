#include "chainerx/ops/explog.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/register.h"

namespace chainerx::native {

template <>
struct LoopOf<ops::Log> : UnaryLoop<UnaryMath::kLog> {};
template <>
struct LoopOf<ops::Log2> : UnaryLoop<UnaryMath::kLog2> {};
template <>
struct LoopOf<ops::Log10> : UnaryLoop<UnaryMath::kLog10> {};

const KernelFamily g_explog_kernels{[](Backend& backend) { CHAINERX_EXPLOG_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
