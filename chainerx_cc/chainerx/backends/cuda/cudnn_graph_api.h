#pragma once

// The constants of cuDNN's graph API that the backend uses. Names as in NVIDIA's header, without prefix and suffix.

#include <cstdint>

namespace chainerx::cuda::cudnn {

struct GraphStruct;
using GraphHandle = GraphStruct*;  // of a descriptor

#define CHAINERX_CUDNN_DESCRIPTORS(X)                             \
    X(kConvolution, CONVOLUTION, 1)                               \
    X(kEngine, ENGINE, 2)                                         \
    X(kEngineConfig, ENGINECFG, 3)                                \
    X(kHeuristics, ENGINEHEUR, 4)                                 \
    X(kPlan, EXECUTION_PLAN, 5)                                   \
    X(kForward, OPERATION_CONVOLUTION_FORWARD, 10)                \
    X(kBackwardFilter, OPERATION_CONVOLUTION_BACKWARD_FILTER, 11) \
    X(kBackwardData, OPERATION_CONVOLUTION_BACKWARD_DATA, 12)     \
    X(kGraph, OPERATIONGRAPH, 15)                                 \
    X(kVariantPack, VARIANT_PACK, 16)                             \
    X(kTensor, TENSOR, 17)

#define CHAINERX_CUDNN_ATTRIBUTES(X)                                               \
    X(kConvolutionComputeType, CONVOLUTION_COMP_TYPE, 100)                         \
    X(kConvolutionMode, CONVOLUTION_CONV_MODE, 101)                                \
    X(kConvolutionDilations, CONVOLUTION_DILATIONS, 102)                           \
    X(kConvolutionStrides, CONVOLUTION_FILTER_STRIDES, 103)                        \
    X(kConvolutionPostPaddings, CONVOLUTION_POST_PADDINGS, 104)                    \
    X(kConvolutionPrePaddings, CONVOLUTION_PRE_PADDINGS, 105)                      \
    X(kConvolutionSpatialDims, CONVOLUTION_SPATIAL_DIMS, 106)                      \
    X(kHeuristicsMode, ENGINEHEUR_MODE, 200)                                       \
    X(kHeuristicsGraph, ENGINEHEUR_OPERATION_GRAPH, 201)                           \
    X(kHeuristicsResults, ENGINEHEUR_RESULTS, 202)                                 \
    X(kEngineConfigEngine, ENGINECFG_ENGINE, 300)                                  \
    X(kPlanHandle, EXECUTION_PLAN_HANDLE, 400)                                     \
    X(kPlanEngineConfig, EXECUTION_PLAN_ENGINE_CONFIG, 401)                        \
    X(kPlanWorkspaceSize, EXECUTION_PLAN_WORKSPACE_SIZE, 402)                      \
    X(kForwardAlpha, OPERATION_CONVOLUTION_FORWARD_ALPHA, 700)                     \
    X(kForwardBeta, OPERATION_CONVOLUTION_FORWARD_BETA, 701)                       \
    X(kForwardConvolution, OPERATION_CONVOLUTION_FORWARD_CONV_DESC, 702)           \
    X(kForwardW, OPERATION_CONVOLUTION_FORWARD_W, 703)                             \
    X(kForwardX, OPERATION_CONVOLUTION_FORWARD_X, 704)                             \
    X(kForwardY, OPERATION_CONVOLUTION_FORWARD_Y, 705)                             \
    X(kBackwardDataAlpha, OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 706)               \
    X(kBackwardDataBeta, OPERATION_CONVOLUTION_BWD_DATA_BETA, 707)                 \
    X(kBackwardDataConvolution, OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, 708)     \
    X(kBackwardDataW, OPERATION_CONVOLUTION_BWD_DATA_W, 709)                       \
    X(kBackwardDataX, OPERATION_CONVOLUTION_BWD_DATA_DX, 710)                      \
    X(kBackwardDataY, OPERATION_CONVOLUTION_BWD_DATA_DY, 711)                      \
    X(kBackwardFilterAlpha, OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 712)           \
    X(kBackwardFilterBeta, OPERATION_CONVOLUTION_BWD_FILTER_BETA, 713)             \
    X(kBackwardFilterConvolution, OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, 714) \
    X(kBackwardFilterW, OPERATION_CONVOLUTION_BWD_FILTER_DW, 715)                  \
    X(kBackwardFilterX, OPERATION_CONVOLUTION_BWD_FILTER_X, 716)                   \
    X(kBackwardFilterY, OPERATION_CONVOLUTION_BWD_FILTER_DY, 717)                  \
    X(kGraphHandle, OPERATIONGRAPH_HANDLE, 800)                                    \
    X(kGraphOperations, OPERATIONGRAPH_OPS, 801)                                   \
    X(kTensorByteAlignment, TENSOR_BYTE_ALIGNMENT, 900)                            \
    X(kTensorDataType, TENSOR_DATA_TYPE, 901)                                      \
    X(kTensorDimensions, TENSOR_DIMENSIONS, 902)                                   \
    X(kTensorStrides, TENSOR_STRIDES, 903)                                         \
    X(kTensorUniqueId, TENSOR_UNIQUE_ID, 906)                                      \
    X(kVariantPackUniqueIds, VARIANT_PACK_UNIQUE_IDS, 1000)                        \
    X(kVariantPackDataPointers, VARIANT_PACK_DATA_POINTERS, 1001)                  \
    X(kVariantPackWorkspace, VARIANT_PACK_WORKSPACE, 1003)                         \
    X(kEngineNumericalNote, ENGINE_NUMERICAL_NOTE, 1303)                           \
    X(kEngineBehaviorNote, ENGINE_BEHAVIOR_NOTE, 1305)

#define CHAINERX_CUDNN_ENUMERATOR(ours, theirs, value) ours = value,
enum class DescriptorType : int { CHAINERX_CUDNN_DESCRIPTORS(CHAINERX_CUDNN_ENUMERATOR) };
enum class Attribute : int { CHAINERX_CUDNN_ATTRIBUTES(CHAINERX_CUDNN_ENUMERATOR) };
#undef CHAINERX_CUDNN_ENUMERATOR

enum class AttributeType : int {
    kHandle = 0,
    kDataType = 1,
    kInt64 = 3,
    kFloat = 4,
    kDouble = 5,
    kPointer = 6,
    kConvolutionMode = 7,
    kHeuristicMode = 8,
    kNumericalNote = 11,
    kDescriptor = 15,
    kBehaviorNote = 19,
};
enum class HeuristicMode : int { kFallback = 2, kA = 3 };
enum class NumericalNote : int { kTensorCore = 0, kDownConvertInputs = 1, kNondeterministic = 4 };
enum class BehaviorNote : int { kRuntimeCompilation = 0 };

}  // namespace chainerx::cuda::cudnn
