// Compares cudnn_api.h with NVIDIA's header. Compiled if that is found; nothing links it.

#define CUDNN_DEPRECATED
#define CUDNN_DEPRECATED_ENUM
#include <cudnn.h>

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
static_assert(kSame(ConvolutionMode::kCrossCorrelation, CUDNN_CROSS_CORRELATION));
static_assert(kSame(NanPropagation::kYes, CUDNN_PROPAGATE_NAN));
static_assert(kSame(PoolingMode::kAverageWithPadding, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING));
static_assert(kSame(PoolingMode::kAverageWithoutPadding, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING));
static_assert(kSame(BatchNormMode::kSpatial, CUDNN_BATCHNORM_SPATIAL));
static_assert(kSame(BatchNormMode::kSpatialPersistent, CUDNN_BATCHNORM_SPATIAL_PERSISTENT));

static_assert(kSame(RnnAlgorithm::kStandard, CUDNN_RNN_ALGO_STANDARD));
static_assert(kSame(CellMode::kRelu, CUDNN_RNN_RELU));
static_assert(kSame(CellMode::kTanh, CUDNN_RNN_TANH));
static_assert(kSame(CellMode::kLstm, CUDNN_LSTM));
static_assert(kSame(CellMode::kGru, CUDNN_GRU));
static_assert(kSame(BiasMode::kDouble, CUDNN_RNN_DOUBLE_BIAS));
static_assert(kSame(DirectionMode::kUnidirectional, CUDNN_UNIDIRECTIONAL));
static_assert(kSame(DirectionMode::kBidirectional, CUDNN_BIDIRECTIONAL));
static_assert(kSame(InputMode::kLinear, CUDNN_LINEAR_INPUT));
static_assert(kSame(MathType::kDefault, CUDNN_DEFAULT_MATH));
static_assert(kSame(MathType::kAllowConversion, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION));
static_assert(kSame(MathType::kFma, CUDNN_FMA_MATH));
static_assert(kSame(RnnDataLayout::kSequenceMajorPacked, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED));
static_assert(kSame(ForwardMode::kInference, CUDNN_FWD_MODE_INFERENCE));
static_assert(kSame(ForwardMode::kTraining, CUDNN_FWD_MODE_TRAINING));
static_assert(kSame(WeightGradMode::kAdd, CUDNN_WGRAD_MODE_ADD));

static_assert(kSame(AttributeType::kHandle, CUDNN_TYPE_HANDLE));
static_assert(kSame(AttributeType::kDataType, CUDNN_TYPE_DATA_TYPE));
static_assert(kSame(AttributeType::kInt64, CUDNN_TYPE_INT64));
static_assert(kSame(AttributeType::kFloat, CUDNN_TYPE_FLOAT));
static_assert(kSame(AttributeType::kDouble, CUDNN_TYPE_DOUBLE));
static_assert(kSame(AttributeType::kPointer, CUDNN_TYPE_VOID_PTR));
static_assert(kSame(AttributeType::kConvolutionMode, CUDNN_TYPE_CONVOLUTION_MODE));
static_assert(kSame(AttributeType::kHeuristicMode, CUDNN_TYPE_HEUR_MODE));
static_assert(kSame(AttributeType::kNumericalNote, CUDNN_TYPE_NUMERICAL_NOTE));
static_assert(kSame(AttributeType::kDescriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR));
static_assert(kSame(AttributeType::kBehaviorNote, CUDNN_TYPE_BEHAVIOR_NOTE));
static_assert(kSame(HeuristicMode::kFallback, CUDNN_HEUR_MODE_FALLBACK));
static_assert(kSame(HeuristicMode::kA, CUDNN_HEUR_MODE_A));
static_assert(kSame(NumericalNote::kTensorCore, CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
static_assert(kSame(NumericalNote::kDownConvertInputs, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
static_assert(kSame(NumericalNote::kNondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
static_assert(kSame(BehaviorNote::kRuntimeCompilation, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION));

#define CHAINERX_CHECK_DESCRIPTOR(ours, theirs, value) \
    static_assert(kSame(DescriptorType::ours, CUDNN_BACKEND_##theirs##_DESCRIPTOR));
CHAINERX_CUDNN_DESCRIPTORS(CHAINERX_CHECK_DESCRIPTOR)

#define CHAINERX_CHECK_ATTRIBUTE(ours, theirs, value) static_assert(kSame(Attribute::ours, CUDNN_ATTR_##theirs));
CHAINERX_CUDNN_ATTRIBUTES(CHAINERX_CHECK_ATTRIBUTE)

}  // namespace
}  // namespace chainerx::cuda::cudnn
