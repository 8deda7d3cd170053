// Compares nccl_api.h with NVIDIA's header. Compiled if that is found; nothing links it.

#include <nccl.h>

#include "chainerx/backends/cuda/checks/same_call.h"
#include "chainerx/backends/cuda/nccl_api.h"

namespace chainerx::cuda::nccl {
namespace {

using checks::kSame;
using checks::kSameCall;

static_assert(NCCL_MAJOR == 2);

#define CHAINERX_CHECK(result, name, parameters) static_assert(kSameCall<result parameters, decltype(nccl##name)>);
CHAINERX_NCCL_FUNCTIONS(CHAINERX_CHECK)

static_assert(kSame(Result::kSuccess, ncclSuccess));
static_assert(kSame(Type::kInt8, ncclInt8));
static_assert(kSame(Type::kUInt8, ncclUint8));
static_assert(kSame(Type::kInt32, ncclInt32));
static_assert(kSame(Type::kUInt32, ncclUint32));
static_assert(kSame(Type::kInt64, ncclInt64));
static_assert(kSame(Type::kUInt64, ncclUint64));
static_assert(kSame(Type::kFloat16, ncclFloat16));
static_assert(kSame(Type::kFloat32, ncclFloat32));
static_assert(kSame(Type::kFloat64, ncclFloat64));
static_assert(kSame(Type::kBfloat16, ncclBfloat16));
static_assert(kSame(Operation::kSum, ncclSum));

}  // namespace
}  // namespace chainerx::cuda::nccl
