// What the attributes of the graph API take.

#include <algorithm>

#include "cudnn_graph_stand_in.h"

namespace chainerx::cuda::cudnn {
namespace {

using A = Attribute;
using D = DescriptorType;
using T = AttributeType;

constexpr Rule kRules[] = {
        {A::kConvolutionComputeType, D::kConvolution, T::kDataType, 1, false},
        {A::kConvolutionMode, D::kConvolution, T::kConvolutionMode, 1, false},
        {A::kConvolutionDilations, D::kConvolution, T::kInt64, 3, false},
        {A::kConvolutionStrides, D::kConvolution, T::kInt64, 3, false},
        {A::kConvolutionPostPaddings, D::kConvolution, T::kInt64, 3, false},
        {A::kConvolutionPrePaddings, D::kConvolution, T::kInt64, 3, false},
        {A::kConvolutionSpatialDims, D::kConvolution, T::kInt64, 1, false},
        {A::kHeuristicsMode, D::kHeuristics, T::kHeuristicMode, 1, false},
        {A::kHeuristicsGraph, D::kHeuristics, T::kDescriptor, 1, false},
        {A::kHeuristicsResults, D::kHeuristics, T::kDescriptor, 64, true},
        {A::kEngineConfigEngine, D::kEngineConfig, T::kDescriptor, 1, true},
        {A::kPlanHandle, D::kPlan, T::kHandle, 1, false},
        {A::kPlanEngineConfig, D::kPlan, T::kDescriptor, 1, false},
        {A::kPlanWorkspaceSize, D::kPlan, T::kInt64, 1, true},
        // The factors of operations are of float32 or, for float64, of that.
        {A::kForwardAlpha, D::kForward, T::kFloat, 1, false},
        {A::kForwardBeta, D::kForward, T::kFloat, 1, false},
        {A::kForwardConvolution, D::kForward, T::kDescriptor, 1, false},
        {A::kForwardW, D::kForward, T::kDescriptor, 1, false},
        {A::kForwardX, D::kForward, T::kDescriptor, 1, false},
        {A::kForwardY, D::kForward, T::kDescriptor, 1, false},
        {A::kBackwardDataAlpha, D::kBackwardData, T::kFloat, 1, false},
        {A::kBackwardDataBeta, D::kBackwardData, T::kFloat, 1, false},
        {A::kBackwardDataConvolution, D::kBackwardData, T::kDescriptor, 1, false},
        {A::kBackwardDataW, D::kBackwardData, T::kDescriptor, 1, false},
        {A::kBackwardDataX, D::kBackwardData, T::kDescriptor, 1, false},
        {A::kBackwardDataY, D::kBackwardData, T::kDescriptor, 1, false},
        {A::kBackwardFilterAlpha, D::kBackwardFilter, T::kFloat, 1, false},
        {A::kBackwardFilterBeta, D::kBackwardFilter, T::kFloat, 1, false},
        {A::kBackwardFilterConvolution, D::kBackwardFilter, T::kDescriptor, 1, false},
        {A::kBackwardFilterW, D::kBackwardFilter, T::kDescriptor, 1, false},
        {A::kBackwardFilterX, D::kBackwardFilter, T::kDescriptor, 1, false},
        {A::kBackwardFilterY, D::kBackwardFilter, T::kDescriptor, 1, false},
        {A::kGraphHandle, D::kGraph, T::kHandle, 1, false},
        {A::kGraphOperations, D::kGraph, T::kDescriptor, 1, false},
        {A::kTensorByteAlignment, D::kTensor, T::kInt64, 1, false},
        {A::kTensorDataType, D::kTensor, T::kDataType, 1, false},
        {A::kTensorDimensions, D::kTensor, T::kInt64, 8, false},
        {A::kTensorStrides, D::kTensor, T::kInt64, 8, false},
        {A::kTensorUniqueId, D::kTensor, T::kInt64, 1, false},
        {A::kVariantPackUniqueIds, D::kVariantPack, T::kInt64, 3, false},
        {A::kVariantPackDataPointers, D::kVariantPack, T::kPointer, 3, false},
        {A::kVariantPackWorkspace, D::kVariantPack, T::kPointer, 1, false},
        {A::kEngineNumericalNote, D::kEngine, T::kNumericalNote, 64, true},
        {A::kEngineBehaviorNote, D::kEngine, T::kBehaviorNote, 64, true},
};

}  // namespace

const Rule* FindRule(Attribute attribute) {
    const Rule* rule = std::find_if(std::begin(kRules), std::end(kRules),
                                    [attribute](const Rule& r) { return r.attribute == attribute; });
    return rule == std::end(kRules) ? nullptr : rule;
}

int64_t GetSize(AttributeType type) {
    switch (type) {
        case AttributeType::kHandle:
        case AttributeType::kPointer:
        case AttributeType::kDescriptor:
            return sizeof(void*);
        case AttributeType::kInt64:
        case AttributeType::kDouble:
            return 8;
        default:
            return 4;
    }
}

bool IsComplete(const GraphStruct& desc) {
    return std::all_of(std::begin(kRules), std::end(kRules), [&desc](const Rule& rule) {
        return rule.owner != desc.type || rule.is_result || desc.Has(rule.attribute);
    });
}

}  // namespace chainerx::cuda::cudnn
