#include "chainerx/ops/comparison.h"

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise_impl.h"

namespace chainerx::ops {

CHAINERX_COMPARISON_OPS(CHAINERX_INSTANTIATE_ELEMENTWISE)

}  // namespace chainerx::ops
