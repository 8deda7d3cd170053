// Compares cudnn_api.h with NVIDIA's header. Compiled if that is found; nothing links it.

#define CUDNN_DEPRECATED
#define CUDNN_DEPRECATED_ENUM
#include <cudnn.h>

#include <cstddef>

#include "chainerx/backends/cuda/checks/same_call.h"
#include "chainerx/backends/cuda/cudnn_api.h"

namespace chainerx::cuda::cudnn {
namespace {

using checks::kSame;
using checks::kSameCall;

static_assert(CUDNN_MAJOR == 9);

#define CHAINERX_CHECK(result, name, parameters) static_assert(kSameCall<result parameters, decltype(cudnn##name)>);
CHAINERX_CUDNN_FUNCTIONS(CHAINERX_CHECK)

static_assert(kSame(Status::kSuccess, CUDNN_STATUS_SUCCESS));
static_assert(kSame(Status::kBadParameter, CUDNN_STATUS_BAD_PARAM));
static_assert(kSame(Status::kNotSupported, CUDNN_STATUS_NOT_SUPPORTED));
static_assert(kSame(DataType::kFloat32, CUDNN_DATA_FLOAT));
static_assert(kSame(DataType::kFloat64, CUDNN_DATA_DOUBLE));
static_assert(kSame(DataType::kFloat16, CUDNN_DATA_HALF));
static_assert(kSame(TensorFormat::kChannelsFirst, CUDNN_TENSOR_NCHW));
static_assert(kSame(MathType::kDefault, CUDNN_DEFAULT_MATH));
static_assert(kSame(MathType::kTensor, CUDNN_TENSOR_OP_MATH));
static_assert(kSame(MathType::kTensorAllowConversion, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION));
static_assert(kSame(MathType::kFma, CUDNN_FMA_MATH));
static_assert(kSame(ConvolutionMode::kCrossCorrelation, CUDNN_CROSS_CORRELATION));
static_assert(kSame(Determinism::kNo, CUDNN_NON_DETERMINISTIC));
static_assert(kSame(Determinism::kYes, CUDNN_DETERMINISTIC));
static_assert(kSame(NanPropagation::kYes, CUDNN_PROPAGATE_NAN));
static_assert(kSame(PoolingMode::kAverageWithPadding, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING));
static_assert(kSame(PoolingMode::kAverageWithoutPadding, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING));
static_assert(kSame(SoftmaxAlgorithm::kAccurate, CUDNN_SOFTMAX_ACCURATE));
static_assert(kSame(SoftmaxAlgorithm::kLog, CUDNN_SOFTMAX_LOG));
static_assert(kSame(SoftmaxMode::kChannel, CUDNN_SOFTMAX_MODE_CHANNEL));
static_assert(kSame(BatchNormMode::kSpatial, CUDNN_BATCHNORM_SPATIAL));
static_assert(kSame(BatchNormMode::kSpatialPersistent, CUDNN_BATCHNORM_SPATIAL_PERSISTENT));

#define CHAINERX_CHECK_MEMBER(type, ours, theirs) static_assert(offsetof(Algorithm, ours) == offsetof(type, theirs))
#define CHAINERX_CHECK_ALGORITHM(type)                     \
    static_assert(sizeof(Algorithm) == sizeof(type));      \
    CHAINERX_CHECK_MEMBER(type, number, algo);             \
    CHAINERX_CHECK_MEMBER(type, status, status);           \
    CHAINERX_CHECK_MEMBER(type, time, time);               \
    CHAINERX_CHECK_MEMBER(type, memory, memory);           \
    CHAINERX_CHECK_MEMBER(type, determinism, determinism); \
    CHAINERX_CHECK_MEMBER(type, math, mathType)
CHAINERX_CHECK_ALGORITHM(cudnnConvolutionFwdAlgoPerf_t);
CHAINERX_CHECK_ALGORITHM(cudnnConvolutionBwdDataAlgoPerf_t);
CHAINERX_CHECK_ALGORITHM(cudnnConvolutionBwdFilterAlgoPerf_t);

}  // namespace
}  // namespace chainerx::cuda::cudnn
