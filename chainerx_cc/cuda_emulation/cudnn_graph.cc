// The graph API of the stand-in for cuDNN.

#include <algorithm>
#include <mutex>
#include <set>

#include "cudnn_graph_stand_in.h"

namespace chainerx::cuda::cudnn {
namespace {

struct Live {
    std::mutex mutex;
    std::set<const GraphStruct*> descriptors;
};

Live& GetLive() {
    static auto* live = new Live;
    return *live;
}

bool IsLive(const GraphStruct* desc) {
    Live& live = GetLive();
    std::lock_guard<std::mutex> lock{live.mutex};
    return live.descriptors.count(desc) != 0;
}

// The descriptor that an attribute names, or null if it is not of the type, not finalized or destroyed.
const GraphStruct* Follow(const GraphStruct& desc, Attribute attribute, DescriptorType type) {
    auto* named = desc.ReadOne<GraphHandle>(attribute);
    return IsLive(named) && named->is_final && named->type == type ? named : nullptr;
}

Sizes ReadSizes(const GraphStruct& desc, Attribute attribute) {
    auto values = desc.Read<int64_t>(attribute);
    return {values.begin(), values.end()};
}

bool AllAtLeast(int least, const Sizes& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [least](int size) { return size >= least; });
}

Status FinalizeTensor(const GraphStruct& desc) {
    Sizes shape = ReadSizes(desc, Attribute::kTensorDimensions);
    Sizes strides = ReadSizes(desc, Attribute::kTensorStrides);
    auto alignment = desc.ReadOne<int64_t>(Attribute::kTensorByteAlignment);
    if (shape.size() != strides.size() || shape.size() < 3 || !AllAtLeast(1, shape)) return Status::kBadParameter;
    if (alignment < 1 || (alignment & (alignment - 1)) != 0) return Status::kBadParameter;
    int step = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        if (strides[d] != step) return Status::kNotSupported;
        step *= shape[d];
    }
    return Status::kSuccess;
}

Status FinalizeConvolution(const GraphStruct& desc) {
    auto ndim = static_cast<size_t>(desc.ReadOne<int64_t>(Attribute::kConvolutionSpatialDims));
    Sizes pad = ReadSizes(desc, Attribute::kConvolutionPrePaddings);
    Sizes stride = ReadSizes(desc, Attribute::kConvolutionStrides);
    Sizes dilation = ReadSizes(desc, Attribute::kConvolutionDilations);
    bool is_valid = ndim >= 2 && pad.size() == ndim && stride.size() == ndim && dilation.size() == ndim &&
                    pad == ReadSizes(desc, Attribute::kConvolutionPostPaddings) && AllAtLeast(0, pad) &&
                    AllAtLeast(1, stride) && AllAtLeast(1, dilation) &&
                    desc.ReadOne<ConvolutionMode>(Attribute::kConvolutionMode) == ConvolutionMode::kCrossCorrelation;
    return is_valid ? Status::kSuccess : Status::kBadParameter;
}

GraphTensor ReadTensor(const GraphStruct& desc) {
    return {{desc.ReadOne<DataType>(Attribute::kTensorDataType), ReadSizes(desc, Attribute::kTensorDimensions)},
            desc.ReadOne<int64_t>(Attribute::kTensorUniqueId),
            desc.ReadOne<int64_t>(Attribute::kTensorByteAlignment)};
}

// The attributes of the three operations are in one order.
Attribute Shift(Attribute attribute, DescriptorType operation) {
    int step = operation == DescriptorType::kForward ? 0 : operation == DescriptorType::kBackwardData ? 6 : 12;
    return static_cast<Attribute>(static_cast<int>(attribute) + step);
}

bool HasFactor(const GraphStruct& desc, Attribute attribute, DataType type, double factor) {
    bool is_double = desc.values.at(attribute).type == AttributeType::kDouble;
    if (is_double != (type == DataType::kFloat64)) return false;
    return (is_double ? desc.ReadOne<double>(attribute) : desc.ReadOne<float>(attribute)) == factor;
}

Status FinalizeOperation(GraphStruct* desc) {
    auto follow = [desc](Attribute attribute, DescriptorType type) {
        return Follow(*desc, Shift(attribute, desc->type), type);
    };
    const GraphStruct* convolution = follow(Attribute::kForwardConvolution, DescriptorType::kConvolution);
    const GraphStruct* x = follow(Attribute::kForwardX, DescriptorType::kTensor);
    const GraphStruct* w = follow(Attribute::kForwardW, DescriptorType::kTensor);
    const GraphStruct* y = follow(Attribute::kForwardY, DescriptorType::kTensor);
    if (convolution == nullptr || x == nullptr || w == nullptr || y == nullptr) return Status::kBadParameter;
    desc->convolution = {desc->type,
                         nullptr,
                         ReadTensor(*x),
                         ReadTensor(*w),
                         ReadTensor(*y),
                         convolution->ReadOne<DataType>(Attribute::kConvolutionComputeType),
                         ReadSizes(*convolution, Attribute::kConvolutionPrePaddings),
                         ReadSizes(*convolution, Attribute::kConvolutionStrides),
                         ReadSizes(*convolution, Attribute::kConvolutionDilations)};
    DataType type = desc->convolution->type;
    bool is_valid = desc->convolution->IsValid() &&
                    HasFactor(*desc, Shift(Attribute::kForwardAlpha, desc->type), type, 1) &&
                    HasFactor(*desc, Shift(Attribute::kForwardBeta, desc->type), type, 0);
    return is_valid ? Status::kSuccess : Status::kBadParameter;
}

Status FinalizeGraph(GraphStruct* desc) {
    auto* operation = desc->ReadOne<GraphHandle>(Attribute::kGraphOperations);
    if (!IsLive(operation) || !operation->is_final || !operation->convolution) return Status::kBadParameter;
    desc->convolution = operation->convolution;
    desc->convolution->handle = desc->ReadOne<Handle>(Attribute::kGraphHandle);
    return Status::kSuccess;
}

Status FinalizeHeuristics(GraphStruct* desc) {
    const GraphStruct* graph = Follow(*desc, Attribute::kHeuristicsGraph, DescriptorType::kGraph);
    if (graph == nullptr) return Status::kBadParameter;
    desc->convolution = graph->convolution;
    std::string name = std::string{"Heuristics"} + GetOperationName(graph->convolution->operation);
    return Note(name.c_str(), {{"mode", desc->ReadOne<int>(Attribute::kHeuristicsMode)}});
}

Status FinalizePlan(GraphStruct* desc) {
    const GraphStruct* config = Follow(*desc, Attribute::kPlanEngineConfig, DescriptorType::kEngineConfig);
    if (config == nullptr) return Status::kBadParameter;
    if (config->convolution->handle != desc->ReadOne<Handle>(Attribute::kPlanHandle)) return Status::kBadParameter;
    desc->convolution = config->convolution;
    desc->engine = config->engine;
    return desc->engine->exists ? Status::kSuccess : Status::kNotSupported;
}

Status FinalizeVariantPack(const GraphStruct& desc) {
    auto ids = desc.Read<int64_t>(Attribute::kVariantPackUniqueIds);
    auto pointers = desc.Read<void*>(Attribute::kVariantPackDataPointers);
    bool is_valid = ids.size() == pointers.size() && std::set<int64_t>(ids.begin(), ids.end()).size() == ids.size();
    return is_valid ? Status::kSuccess : Status::kBadParameter;
}

Status FinalizeByType(GraphStruct* desc) {
    switch (desc->type) {
        case DescriptorType::kTensor:
            return FinalizeTensor(*desc);
        case DescriptorType::kConvolution:
            return FinalizeConvolution(*desc);
        case DescriptorType::kForward:
        case DescriptorType::kBackwardData:
        case DescriptorType::kBackwardFilter:
            return FinalizeOperation(desc);
        case DescriptorType::kGraph:
            return FinalizeGraph(desc);
        case DescriptorType::kHeuristics:
            return FinalizeHeuristics(desc);
        case DescriptorType::kPlan:
            return FinalizePlan(desc);
        case DescriptorType::kVariantPack:
            return FinalizeVariantPack(*desc);
        default:  // the program finalizes no results
            return Status::kBadParameter;
    }
}

// Tells how many there are, of which it returns as many as there is room for.
template <class T>
Status Return(const std::vector<T>& found, int64_t size, int64_t* count, void* values) {
    *count = static_cast<int64_t>(found.size());
    if (values != nullptr) std::copy_n(found.begin(), std::min(*count, size), static_cast<T*>(values));
    return Status::kSuccess;
}

// Fills descriptors that the program made, one for each engine.
Status Return(const GraphStruct& from, DescriptorType type, const std::vector<const Engine*>& engines, int64_t size,
              int64_t* count, void* values) {
    *count = static_cast<int64_t>(engines.size());
    if (values == nullptr) return Status::kSuccess;
    for (int64_t i = 0; i < std::min(*count, size); ++i) {
        GraphHandle to = static_cast<GraphHandle*>(values)[i];
        if (!IsLive(to) || to->is_final || to->type != type) return Status::kBadParameter;
        to->convolution = from.convolution;
        to->engine = engines[i];
        to->is_final = true;
    }
    return Status::kSuccess;
}

std::vector<const Engine*> Suggest(HeuristicMode mode) {
    std::vector<const Engine*> engines;
    for (const Engine& engine : GetEngines()) {
        if (engine.mode == mode) engines.push_back(&engine);
    }
    return engines;
}

}  // namespace

extern "C" {

Status cudnnBackendCreateDescriptor(DescriptorType type, GraphHandle* desc) {
    Status status = Note("BackendCreateDescriptor");
    if (status != Status::kSuccess) return status;
    *desc = new GraphStruct{type};
    Live& live = GetLive();
    std::lock_guard<std::mutex> lock{live.mutex};
    live.descriptors.insert(*desc);
    return Status::kSuccess;
}

Status cudnnBackendDestroyDescriptor(GraphHandle desc) {
    Live& live = GetLive();
    std::lock_guard<std::mutex> lock{live.mutex};
    if (live.descriptors.erase(desc) == 0) return Status::kBadParameter;
    delete desc;
    return Status::kSuccess;
}

Status cudnnBackendSetAttribute(GraphHandle desc, Attribute name, AttributeType type, int64_t count,
                                const void* values) {
    Status status = Note("BackendSetAttribute");
    if (status != Status::kSuccess) return status;
    const Rule* rule = FindRule(name);
    if (!IsLive(desc) || desc->is_final || rule == nullptr || rule->owner != desc->type || rule->is_result) {
        return Status::kBadParameter;
    }
    bool is_known = type == rule->type || (rule->type == AttributeType::kFloat && type == AttributeType::kDouble);
    if (!is_known || count < 1 || count > rule->max_count || values == nullptr) return Status::kBadParameter;
    const char* bytes = static_cast<const char*>(values);
    desc->values[name] = {type, count, {bytes, bytes + count * GetSize(type)}};
    return Status::kSuccess;
}

Status cudnnBackendFinalize(GraphHandle desc) {
    Status status = Note("BackendFinalize");
    if (status != Status::kSuccess) return status;
    if (!IsLive(desc) || desc->is_final || !IsComplete(*desc)) return Status::kBadParameter;
    status = FinalizeByType(desc);
    desc->is_final = status == Status::kSuccess;
    return status;
}

Status cudnnBackendGetAttribute(GraphHandle desc, Attribute name, AttributeType type, int64_t size, int64_t* count,
                                void* values) {
    Status status = Note("BackendGetAttribute");
    if (status != Status::kSuccess) return status;
    const Rule* rule = FindRule(name);
    if (!IsLive(desc) || !desc->is_final || rule == nullptr || rule->owner != desc->type || rule->type != type ||
        !rule->is_result || (values == nullptr) != (size == 0)) {
        return Status::kBadParameter;
    }
    switch (name) {
        case Attribute::kHeuristicsResults:
            return Return(*desc, DescriptorType::kEngineConfig,
                          Suggest(desc->ReadOne<HeuristicMode>(Attribute::kHeuristicsMode)), size, count, values);
        case Attribute::kEngineConfigEngine:
            return Return(*desc, DescriptorType::kEngine, {desc->engine}, size, count, values);
        case Attribute::kEngineNumericalNote:
            return Return(desc->engine->numbers, size, count, values);
        case Attribute::kEngineBehaviorNote:
            return Return(desc->engine->behavior, size, count, values);
        default:
            return Return(std::vector<int64_t>{desc->engine->memory}, size, count, values);
    }
}

Status cudnnBackendExecute(Handle handle, GraphHandle plan, GraphHandle pack) {
    bool is_valid = IsLive(plan) && plan->is_final && plan->type == DescriptorType::kPlan && IsLive(pack) &&
                    pack->is_final && pack->type == DescriptorType::kVariantPack;
    if (!is_valid) return Status::kBadParameter;
    auto ids = pack->Read<int64_t>(Attribute::kVariantPackUniqueIds);
    auto pointers = pack->Read<void*>(Attribute::kVariantPackDataPointers);
    std::map<int64_t, void*> places;
    for (size_t i = 0; i < ids.size(); ++i) places[ids[i]] = pointers[i];
    bool is_same = plan->convolution->handle == handle;
    return Convolve(handle, *plan->engine, *plan->convolution, is_same, places,
                    pack->ReadOne<void*>(Attribute::kVariantPackWorkspace));
}

}  // extern "C"

}  // namespace chainerx::cuda::cudnn
