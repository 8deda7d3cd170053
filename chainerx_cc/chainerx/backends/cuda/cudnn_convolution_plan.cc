#include "chainerx/backends/cuda/cudnn_convolution_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "chainerx/backends/cuda/cudnn_kernels.h"

namespace chainerx::cuda::cudnn {
namespace {

// The arrays in graphs and packs of pointers.
enum Id : int64_t { kX = 1, kW, kY };
using Numbers = std::vector<int64_t>;

// An operation and its attributes.
struct Operation {
    DescriptorType type;
    Attribute alpha, beta, convolution, x, w, y;
};

// By the contraction.
constexpr Operation kOperations[] = {
        {DescriptorType::kForward, Attribute::kForwardAlpha, Attribute::kForwardBeta, Attribute::kForwardConvolution,
         Attribute::kForwardX, Attribute::kForwardW, Attribute::kForwardY},
        {DescriptorType::kBackwardData, Attribute::kBackwardDataAlpha, Attribute::kBackwardDataBeta,
         Attribute::kBackwardDataConvolution, Attribute::kBackwardDataX, Attribute::kBackwardDataW,
         Attribute::kBackwardDataY},
        {DescriptorType::kBackwardFilter, Attribute::kBackwardFilterAlpha, Attribute::kBackwardFilterBeta,
         Attribute::kBackwardFilterConvolution, Attribute::kBackwardFilterX, Attribute::kBackwardFilterW,
         Attribute::kBackwardFilterY},
};

Numbers Widen(const std::vector<int>& values) { return {values.begin(), values.end()}; }

GraphDescriptor DescribeTensor(const ConvolutionTask& task, int64_t id, const std::vector<int>& shape) {
    Numbers strides(shape.size(), 1);
    for (size_t d = shape.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * shape[d];
    GraphDescriptor tensor{DescriptorType::kTensor};
    tensor.Set(Attribute::kTensorDataType, GetType(task.dtype));
    tensor.Set(Attribute::kTensorDimensions, Widen(shape));
    tensor.Set(Attribute::kTensorStrides, strides);
    tensor.Set(Attribute::kTensorUniqueId, id);
    tensor.Set(Attribute::kTensorByteAlignment, task.alignment);
    tensor.Finalize();
    return tensor;
}

GraphDescriptor DescribeConvolution(const ConvolutionTask& task) {
    const WindowGeometry& g = task.g;
    Numbers pad = Widen(SpatialForDnn(g, g.pad, 0));
    GraphDescriptor convolution{DescriptorType::kConvolution};
    convolution.Set(Attribute::kConvolutionComputeType,
                    GetType(task.dtype == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32));
    convolution.Set(Attribute::kConvolutionMode, ConvolutionMode::kCrossCorrelation);
    convolution.Set(Attribute::kConvolutionSpatialDims, static_cast<int64_t>(pad.size()));
    convolution.Set(Attribute::kConvolutionPrePaddings, pad);
    convolution.Set(Attribute::kConvolutionPostPaddings, pad);
    convolution.Set(Attribute::kConvolutionStrides, Widen(SpatialForDnn(g, g.stride, 1)));
    convolution.Set(Attribute::kConvolutionDilations, Widen(SpatialForDnn(g, g.dilation, 1)));
    convolution.Finalize();
    return convolution;
}

// A graph of one operation, with what it may refer to. The number of groups follows from the shapes.
class ConvolutionGraph {
public:
    ConvolutionGraph(Handle handle, const ConvolutionTask& task)
        : convolution_{DescribeConvolution(task)},
          x_{DescribeTensor(task, kX, ShapeForDnn(task.g, task.g.batch, task.g.in_channels, task.g.in))},
          w_{DescribeTensor(
                  task, kW,
                  ShapeForDnn(task.g, task.g.out_channels, task.g.in_channels / task.g.groups, task.g.kernel))},
          y_{DescribeTensor(task, kY, ShapeForDnn(task.g, task.g.batch, task.g.out_channels, task.g.out))},
          operation_{kOperations[static_cast<int>(task.contraction)].type} {
        const Operation& names = kOperations[static_cast<int>(task.contraction)];
        operation_.Set(names.convolution, convolution_);
        operation_.Set(names.x, x_);
        operation_.Set(names.w, w_);
        operation_.Set(names.y, y_);
        if (task.dtype == Dtype::kFloat64) {
            SetFactors<double>(names);
        } else {
            SetFactors<float>(names);
        }
        operation_.Finalize();
        graph_.Set(Attribute::kGraphHandle, handle);
        graph_.Set(Attribute::kGraphOperations, operation_);
        graph_.Finalize();
    }
    const GraphDescriptor& get() const { return graph_; }

private:
    template <class T>
    void SetFactors(const Operation& names) {
        operation_.Set(names.alpha, T{1});
        operation_.Set(names.beta, T{0});
    }

    GraphDescriptor convolution_;
    GraphDescriptor x_;
    GraphDescriptor w_;
    GraphDescriptor y_;
    GraphDescriptor operation_;
    GraphDescriptor graph_{DescriptorType::kGraph};
};

// How cuDNN would compute a graph, from what it takes for the fastest.
std::vector<GraphDescriptor> AskForConfigs(const GraphDescriptor& graph, HeuristicMode mode) {
    GraphDescriptor heuristics{DescriptorType::kHeuristics};
    heuristics.Set(Attribute::kHeuristicsGraph, graph);
    heuristics.Set(Attribute::kHeuristicsMode, mode);
    heuristics.Finalize();
    GraphHandle* none = nullptr;
    int64_t count = heuristics.Get(Attribute::kHeuristicsResults, none, 0);
    return heuristics.GetDescriptors(Attribute::kHeuristicsResults, DescriptorType::kEngineConfig, count);
}

// The notes of an engine on its numbers or its behaviour.
template <class Note>
class Notes {
public:
    Notes(const GraphDescriptor& engine, Attribute attribute) : count_{engine.Get(attribute, notes_, kMaxNotes)} {}
    bool Has(Note note) const { return std::find(notes_, notes_ + count_, note) != notes_ + count_; }

private:
    static constexpr int64_t kMaxNotes = 32;
    Note notes_[kMaxNotes];
    int64_t count_;
};

bool KeepsToTerms(const GraphDescriptor& config, const ConvolutionTask& task) {
    std::vector<GraphDescriptor> engines =
            config.GetDescriptors(Attribute::kEngineConfigEngine, DescriptorType::kEngine, 1);
    Notes<NumericalNote> numbers{engines.at(0), Attribute::kEngineNumericalNote};
    Notes<BehaviorNote> behavior{engines.at(0), Attribute::kEngineBehaviorNote};
    if (task.rounding == Rounding::kNone && numbers.Has(NumericalNote::kTensorCore)) return false;
    if (task.rounding != Rounding::kSmallerRange && numbers.Has(NumericalNote::kDownConvertInputs)) return false;
    if (task.is_deterministic && numbers.Has(NumericalNote::kNondeterministic)) return false;
    // Compilation would take seconds for each new shape.
    return !behavior.Has(BehaviorNote::kRuntimeCompilation);
}

// Tries of which some may fail.
class Tries {
public:
    template <class F>
    void Try(F&& f) {
        try {
            f();
        } catch (const Failure& failure) {
            if (!failure.IsNotSupported()) error_ = failure;
        }
    }
    void ThrowError() const {
        if (error_.has_value()) throw Failure{*error_};
    }

private:
    std::optional<Failure> error_;
};

}  // namespace

ConvolutionPlan::ConvolutionPlan(Handle handle, GraphDescriptor config)
    : config_{std::move(config)}, plan_{DescriptorType::kPlan} {
    plan_.Set(Attribute::kPlanHandle, handle);
    plan_.Set(Attribute::kPlanEngineConfig, config_);
    plan_.Finalize();
    plan_.Get(Attribute::kPlanWorkspaceSize, &memory_, 1);
}

void ConvolutionPlan::Run(Handle handle, void* x, void* w, void* y, void* workspace) const {
    static constexpr int64_t kIds[] = {kX, kW, kY};
    void* const pointers[] = {x, w, y};
    // One that is finalized takes no other pointers.
    GraphDescriptor pack{DescriptorType::kVariantPack};
    pack.Set(Attribute::kVariantPackUniqueIds, kIds, 3);
    pack.Set(Attribute::kVariantPackDataPointers, pointers, 3);
    pack.Set(Attribute::kVariantPackWorkspace, workspace);
    pack.Finalize();
    Check(Find()->BackendExecute(handle, plan_.get(), pack.get()));
}

std::vector<ConvolutionPlan> FindPlans(Handle handle, const ConvolutionTask& task, size_t count) {
    std::vector<ConvolutionPlan> plans;
    ConvolutionGraph graph{handle, task};
    Tries tries;
    for (HeuristicMode mode : {HeuristicMode::kA, HeuristicMode::kFallback}) {
        std::vector<GraphDescriptor> configs;
        tries.Try([&] { configs = AskForConfigs(graph.get(), mode); });
        for (GraphDescriptor& config : configs) {
            if (plans.size() == count) return plans;
            tries.Try([&] {
                if (!KeepsToTerms(config, task)) return;
                ConvolutionPlan plan{handle, std::move(config)};
                if (plan.memory() <= task.memory) plans.push_back(std::move(plan));
            });
        }
    }
    if (plans.empty()) tries.ThrowError();
    return plans;
}

}  // namespace chainerx::cuda::cudnn
