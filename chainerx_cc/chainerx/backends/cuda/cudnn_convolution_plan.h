#pragma once

// Plans of convolutions, by cuDNN's graph API.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chainerx/backends/cuda/cudnn_graph.h"
#include "chainerx/core/dtype.h"
#include "chainerx/ops/window.h"

namespace chainerx::cuda::cudnn {

// Which of the arrays of y = w * x is computed from the others.
enum class Contraction { kY, kX, kW };

// What units for matrices may do to the factors.
enum class Rounding { kNone, kTensorCores, kSmallerRange };

struct ConvolutionTask {
    Contraction contraction;
    const WindowGeometry& g;
    Dtype dtype;
    Rounding rounding;
    bool is_deterministic;
    int64_t alignment;  // of the addresses of all arrays
    int64_t memory;     // at most, for the workspace
};

class ConvolutionPlan {
public:
    // Raises Failure if the engine cannot do it.
    ConvolutionPlan(Handle handle, GraphDescriptor config);

    int64_t memory() const { return memory_; }  // for the workspace
    // Starts the work in the stream of the handle.
    void Run(Handle handle, void* x, void* w, void* y, void* workspace) const;

private:
    GraphDescriptor config_;  // which the plan may refer to
    GraphDescriptor plan_;
    int64_t memory_{0};
};

// At most `count` plans that keep to the terms, from the one that cuDNN takes for the fastest. Raises Failure if there
// are none because of errors.
std::vector<ConvolutionPlan> FindPlans(Handle handle, const ConvolutionTask& task, size_t count);

}  // namespace chainerx::cuda::cudnn
