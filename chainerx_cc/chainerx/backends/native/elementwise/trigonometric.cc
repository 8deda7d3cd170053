#include "chainerx/ops/trigonometric.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/register.h"

namespace chainerx::native {

template <>
struct LoopOf<ops::Sin> : UnaryLoop<UnaryMath::kSin> {};
template <>
struct LoopOf<ops::Cos> : UnaryLoop<UnaryMath::kCos> {};
template <>
struct LoopOf<ops::Tan> : UnaryLoop<UnaryMath::kTan> {};
template <>
struct LoopOf<ops::Arctan2> : BinaryLoop<BinaryMath::kAtan2> {};

const KernelFamily g_trigonometric_kernels{
        [](Backend& backend) { CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_REGISTER_ELEMENTWISE) }};

}  // namespace chainerx::native
