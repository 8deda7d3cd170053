// Compares cusolver_api.h with NVIDIA's header. Compiled if that is found; nothing links it.

#include <cusolverDn.h>

#include "chainerx/backends/cuda/checks/same_call.h"
#include "chainerx/backends/cuda/cusolver_api.h"

namespace chainerx::cuda::solver {
namespace {

using checks::kSame;
using checks::kSameCall;

#define CHAINERX_CHECK(name, parameters) static_assert(kSameCall<int parameters, decltype(cusolverDn##name)>);
CHAINERX_CUSOLVER_FUNCTIONS(CHAINERX_CHECK)
#undef CHAINERX_CHECK
#define CHAINERX_CHECK(name, symbol, parameters) \
    static_assert(kSameCall<int parameters, decltype(cusolverDnS##symbol)>);
CHAINERX_CUSOLVER_TYPED_FUNCTIONS(CHAINERX_CHECK, float)
#undef CHAINERX_CHECK
#define CHAINERX_CHECK(name, symbol, parameters) \
    static_assert(kSameCall<int parameters, decltype(cusolverDnD##symbol)>);
CHAINERX_CUSOLVER_TYPED_FUNCTIONS(CHAINERX_CHECK, double)

static_assert(CUSOLVER_STATUS_SUCCESS == 0);
static_assert(kSame(kNoTranspose, CUBLAS_OP_N));
static_assert(kSame(kLower, CUBLAS_FILL_MODE_LOWER));
static_assert(kSame(kUpper, CUBLAS_FILL_MODE_UPPER));
static_assert(kSame(kValues, CUSOLVER_EIG_MODE_NOVECTOR));
static_assert(kSame(kVectors, CUSOLVER_EIG_MODE_VECTOR));

}  // namespace
}  // namespace chainerx::cuda::solver
