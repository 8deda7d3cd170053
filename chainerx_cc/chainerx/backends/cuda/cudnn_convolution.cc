// Convolution by cuDNN.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "chainerx/backends/cuda/choices.h"
#include "chainerx/backends/cuda/cudnn.h"
#include "chainerx/backends/cuda/cudnn_convolution_plan.h"
#include "chainerx/backends/cuda/cudnn_kernels.h"
#include "chainerx/backends/cuda/timer.h"
#include "chainerx/core/compute_mode.h"

namespace chainerx::cuda {
namespace {

using cudnn::Contraction;
using cudnn::ConvolutionPlan;
using cudnn::ConvolutionTask;
using cudnn::Rounding;

constexpr size_t kMaxMeasured = 16;
constexpr int kTimedRuns = 3;
constexpr int64_t kAlignment = 16;  // the most that kernels look for

// The arrays of y = w * x, of which one is computed.
struct Operands {
    const Array& x;
    const Array& w;
    const Array& y;

    const Array& Get(Contraction contraction) const {
        if (contraction == Contraction::kY) return y;
        return contraction == Contraction::kX ? x : w;
    }
    int64_t GetAlignment() const {
        for (const Array* a : {&x, &w, &y}) {
            if (reinterpret_cast<uintptr_t>(a->raw_data()) % kAlignment != 0) return GetItemSize(x.dtype());
        }
        return kAlignment;
    }
};

Rounding GetRounding(Dtype dtype) {
    if (dtype != Dtype::kFloat32) return Rounding::kSmallerRange;
    switch (GetComputeMode()) {
        case ComputeMode::kFloat32:
            return Rounding::kNone;
        case ComputeMode::kFloat16:
            return Rounding::kSmallerRange;
        default:  // which has no mode for bfloat16; TF32 rounds less
            return Rounding::kTensorCores;
    }
}

// How to compute a convolution; nothing: no plan will do.
using Choice = std::optional<ConvolutionPlan>;
using ConvolutionChoices = Choices<Choice, 27>;
using ChoicePtr = ConvolutionChoices::Ptr;
using Key = ConvolutionChoices::Key;

Key MakeKey(const Dnn& dnn, const ConvolutionTask& task) {
    const DnnSettings& s = dnn.settings();
    const WindowGeometry& g = task.g;
    Key key{static_cast<int64_t>(task.contraction),
            static_cast<int64_t>(task.dtype),
            static_cast<int64_t>(task.rounding),
            task.alignment,
            dnn.device(),
            s.autotune,
            s.deterministic,
            s.max_workspace,
            g.batch,
            g.groups,
            g.in_channels,
            g.out_channels};
    // At most three dimensions. The sizes of y follow.
    auto next = key.begin() + 12;
    for (int d = 0; d < g.ndim; ++d) {
        for (int64_t value : {g.in[d], g.kernel[d], g.stride[d], g.pad[d], g.dilation[d]}) *next++ = value;
    }
    return key;
}

ConvolutionChoices& GetChoices() {
    static auto* choices = new ConvolutionChoices;
    return *choices;
}

// A choice is made once, so this is said once.
void WarnOfPlainKernel(Dtype dtype, const Shape& a, const Shape& b, size_t workspace) {
    if (g_warn_of_dnn == nullptr) return;
    g_warn_of_dnn(internal::Concat("cuDNN has no algorithm for a convolution in ", GetDtypeName(dtype),
                                   " of arrays of the shapes ", a, " and ", b, " with a workspace of up to ", workspace,
                                   " bytes; a plain kernel computes it, which is slow"));
}

void RunPlan(const Dnn& dnn, const ConvolutionPlan& plan, const Operands& operands) {
    StoragePtr workspace;
    if (plan.memory() != 0) workspace = operands.y.device().Allocate(static_cast<size_t>(plan.memory()));
    dnn.Use([&](cudnn::Handle handle) {
        plan.Run(handle, operands.x.raw_data(), operands.w.raw_data(), operands.y.raw_data(),
                 workspace ? workspace->data() : nullptr);
    });
}

// The time of a plan in milliseconds, infinite if it fails.
float Measure(const Dnn& dnn, const ConvolutionPlan& plan, const Operands& operands) {
    try {
        RunPlan(dnn, plan, operands);
        return Timer{dnn.stream()}.Measure([&] {
            for (int i = 0; i < kTimedRuns; ++i) RunPlan(dnn, plan, operands);
        });
    } catch (const cudnn::Failure&) {
        return std::numeric_limits<float>::infinity();
    }
}

// The plan that keeps to the settings and is the fastest, or nothing.
std::optional<ConvolutionPlan> ChoosePlan(const Dnn& dnn, const ConvolutionTask& task, const Operands& operands) {
    bool measures = dnn.settings().autotune;
    std::vector<ConvolutionPlan> plans =
            dnn.Use([&](cudnn::Handle handle) { return FindPlans(handle, task, measures ? kMaxMeasured : size_t{1}); });
    if (plans.empty()) return std::nullopt;
    size_t best = 0;
    if (measures) {
        std::vector<float> times;
        for (const ConvolutionPlan& plan : plans) times.push_back(Measure(dnn, plan, operands));
        best = std::min_element(times.begin(), times.end()) - times.begin();
    }
    return std::move(plans[best]);
}

ChoicePtr Choose(const Dnn& dnn, ConvolutionTask task, const Operands& operands) {
    auto choice = std::make_shared<Choice>();
    task.memory = std::min(dnn.settings().max_workspace,
                           static_cast<int64_t>(GetCudaDevice(operands.y.device()).GetFreeBytes()));
    try {
        *choice = ChoosePlan(dnn, task, operands);
    } catch (const cudnn::Failure& failure) {
        if (!failure.IsNotSupported()) throw;
    }
    if (!choice->has_value()) {
        const Array& a = task.contraction == Contraction::kX ? operands.w : operands.x;
        const Array& b = task.contraction == Contraction::kY ? operands.w : operands.y;
        WarnOfPlainKernel(task.dtype, a.shape(), b.shape(), static_cast<size_t>(task.memory));
    }
    return choice;
}

bool Fits(const WindowGeometry& g, const Operands& operands) {
    return IsFloat(operands.x.dtype()) && FitsDnn(g) && FitsDnn(operands.x) && FitsDnn(operands.w) &&
           FitsDnn(operands.y);
}

bool Run(const char* what, Contraction contraction, const WindowGeometry& g, const Operands& operands) {
    if (!Fits(g, operands)) return false;
    const Array& out = operands.Get(contraction);
    return TryDnn(what, out.device(), [&](const Dnn& dnn) {
        Dtype dtype = out.dtype();
        ConvolutionTask task{
                contraction, g, dtype, GetRounding(dtype), dnn.settings().deterministic, operands.GetAlignment(), 0};
        Key key = MakeKey(dnn, task);
        ChoicePtr choice = GetChoices().Find(key);
        if (choice == nullptr) {
            choice = Choose(dnn, task, operands);
            GetChoices().Add(key, choice);
        }
        if (!choice->has_value()) throw cudnn::Failure{cudnn::Status::kNotSupported};
        RunPlan(dnn, **choice, operands);
    });
}

}  // namespace

bool CudnnConv(const WindowGeometry& g, const Array& x, const Array& w, const Array& y) {
    return Run("conv", Contraction::kY, g, {x, w, y});
}

bool CudnnConvData(const WindowGeometry& g, const Array& y, const Array& w, const Array& x) {
    return Run("conv_transpose", Contraction::kX, g, {x, w, y});
}

bool CudnnConvWeight(const WindowGeometry& g, const Array& x, const Array& y, const Array& w) {
    return Run("conv", Contraction::kW, g, {x, w, y});
}

}  // namespace chainerx::cuda
