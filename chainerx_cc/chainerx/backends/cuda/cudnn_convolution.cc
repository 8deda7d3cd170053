// Convolution by cuDNN.

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "chainerx/backends/cuda/cudnn.h"
#include "chainerx/backends/cuda/cudnn_kernels.h"
#include "chainerx/core/compute_mode.h"

namespace chainerx::cuda {
namespace {

using cudnn::Algorithm;
using cudnn::Check;
using cudnn::Functions;
using cudnn::MathType;
using cudnn::TensorDescriptor;

constexpr size_t kMaxPlans = 4096;
constexpr int kMaxAlgorithms = 16;

class FilterDescriptor
    : public cudnn::Descriptor<cudnn::Filter, &Functions::CreateFilterDescriptor, &Functions::DestroyFilterDescriptor> {
public:
    FilterDescriptor(Dtype dtype, const std::vector<int>& shape) {
        Check(cudnn::Find()->SetFilterNdDescriptor(get(), cudnn::GetType(dtype), cudnn::TensorFormat::kChannelsFirst,
                                                   static_cast<int>(shape.size()), shape.data()));
    }
};

class ConvolutionDescriptor : public cudnn::Descriptor<cudnn::Convolution, &Functions::CreateConvolutionDescriptor,
                                                       &Functions::DestroyConvolutionDescriptor> {
public:
    ConvolutionDescriptor(const WindowGeometry& g, Dtype dtype, MathType math) {
        std::vector<int> pad = SpatialForDnn(g, g.pad, 0);
        std::vector<int> stride = SpatialForDnn(g, g.stride, 1);
        std::vector<int> dilation = SpatialForDnn(g, g.dilation, 1);
        Dtype sums = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
        Check(cudnn::Find()->SetConvolutionNdDescriptor(get(), static_cast<int>(pad.size()), pad.data(), stride.data(),
                                                        dilation.data(), cudnn::ConvolutionMode::kCrossCorrelation,
                                                        cudnn::GetType(sums)));
        Check(cudnn::Find()->SetConvolutionGroupCount(get(), static_cast<int>(g.groups)));
        SetMath(math);
    }
    void SetMath(MathType math) { Check(cudnn::Find()->SetConvolutionMathType(get(), math)); }
};

MathType GetMath(Dtype dtype) {
    if (dtype == Dtype::kFloat16) return MathType::kTensor;
    if (dtype == Dtype::kFloat64) return MathType::kDefault;
    switch (GetComputeMode()) {
        case ComputeMode::kFloat32:
            return MathType::kFma;
        case ComputeMode::kFloat16:
            return MathType::kTensorAllowConversion;
        default:  // which has no mode for bfloat16; TF32 rounds less
            return MathType::kDefault;
    }
}

// What a convolution needs each time.
struct Plan {
    Plan(const WindowGeometry& g, Dtype dtype, MathType math)
        : x{dtype, ShapeForDnn(g, g.batch, g.in_channels, g.in)},
          w{dtype, ShapeForDnn(g, g.out_channels, g.in_channels / g.groups, g.kernel)},
          y{dtype, ShapeForDnn(g, g.batch, g.out_channels, g.out)},
          convolution{g, dtype, math} {}

    TensorDescriptor x;
    FilterDescriptor w;
    TensorDescriptor y;
    ConvolutionDescriptor convolution;
    std::optional<Algorithm> algorithm;  // nothing: none will do
};
using PlanPtr = std::shared_ptr<Plan>;
using Key = std::vector<int64_t>;

// Choosing an algorithm takes far longer than asking for the last choice.
class Plans {
public:
    PlanPtr Find(const Key& key) {
        std::lock_guard<std::mutex> lock{mutex_};
        auto found = plans_.find(key);
        return found == plans_.end() ? nullptr : found->second;
    }
    void Add(const Key& key, PlanPtr plan) {
        std::lock_guard<std::mutex> lock{mutex_};
        if (plans_.size() >= kMaxPlans) plans_.clear();
        plans_[key] = std::move(plan);
    }

private:
    std::mutex mutex_;
    std::map<Key, PlanPtr> plans_;
};

Plans& GetPlans() {
    static auto* plans = new Plans;
    return *plans;
}

// Everything on which the choice depends.
Key MakeKey(int contraction, const Dnn& dnn, const WindowGeometry& g, Dtype dtype, MathType math) {
    const DnnSettings& s = dnn.settings();
    Key key{contraction,
            dnn.device(),
            static_cast<int64_t>(dtype),
            static_cast<int64_t>(math),
            s.autotune,
            s.deterministic,
            s.max_workspace,
            g.ndim,
            g.batch,
            g.groups,
            g.in_channels,
            g.out_channels};
    for (int d = 0; d < g.ndim; ++d) {
        key.insert(key.end(), {g.in[d], g.kernel[d], g.out[d], g.stride[d], g.pad[d], g.dilation[d]});
    }
    return key;
}

// A plan asks once, so this is said once.
void WarnOfPlainKernel(Dtype dtype, const Shape& a, const Shape& b, size_t workspace) {
    if (g_warn_of_dnn == nullptr) return;
    g_warn_of_dnn(internal::Concat("cuDNN has no algorithm for a convolution in ", GetDtypeName(dtype),
                                   " of arrays of the shapes ", a, " and ", b, " with a workspace of up to ", workspace,
                                   " bytes; a plain kernel computes it, which is slow"));
}

// The three contractions have functions that take the two inputs and the output in the same places.
template <int kId, auto kGuess, auto kMeasure, auto kRun>
struct Contraction {
    // visit(plan, f) calls f with the descriptors and arrays of the inputs and of the output.
    template <class Visit>
    static bool Run(const char* what, const WindowGeometry& g, const Array& b, const Array& out, Visit&& visit) {
        return TryDnn(what, out.device(), [&](const Dnn& dnn) {
            Dtype dtype = out.dtype();
            MathType math = GetMath(dtype);
            Key key = MakeKey(kId, dnn, g, dtype, math);
            PlanPtr plan = GetPlans().Find(key);
            if (plan == nullptr) {
                plan = std::make_shared<Plan>(g, dtype, math);
                visit(*plan, [&](const auto&... operands) { Choose(dnn, plan.get(), operands...); });
                if (plan->algorithm.has_value() && math != MathType::kFma) {
                    plan->convolution.SetMath(plan->algorithm->math);
                }
                GetPlans().Add(key, plan);
            }
            if (!plan->algorithm.has_value()) throw cudnn::Failure{cudnn::Status::kNotSupported};
            visit(*plan, [&](const auto&... operands) { Compute(dnn, *plan, b, operands...); });
        });
    }

private:
    // The first algorithm, from the fastest, that keeps to the settings.
    template <class A, class B, class C>
    static void Choose(const Dnn& dnn, Plan* plan, const A& a_desc, const Array& a, const B& b_desc, const Array& b,
                       const C& out_desc, const Array& out) {
        const DnnSettings& settings = dnn.settings();
        size_t limit =
                std::min(static_cast<size_t>(settings.max_workspace), GetCudaDevice(out.device()).GetFreeBytes());
        Algorithm found[kMaxAlgorithms];
        int count = 0;
        try {
            if (settings.autotune) {
                StoragePtr workspace = out.device().Allocate(limit);
                dnn.Call(kMeasure, a_desc.get(), a.raw_data(), b_desc.get(), b.raw_data(), plan->convolution.get(),
                         out_desc.get(), out.raw_data(), kMaxAlgorithms, &count, found, workspace->data(), limit);
            } else {
                dnn.Call(kGuess, a_desc.get(), b_desc.get(), plan->convolution.get(), out_desc.get(), kMaxAlgorithms,
                         &count, found);
            }
        } catch (const cudnn::Failure& failure) {
            if (!failure.IsNotSupported()) throw;
        }
        for (int i = 0; i < count; ++i) {
            bool is_usable = found[i].status == cudnn::Status::kSuccess && found[i].memory <= limit;
            bool is_deterministic = found[i].determinism == cudnn::Determinism::kYes;
            if (!is_usable || (settings.deterministic && !is_deterministic)) continue;
            plan->algorithm = found[i];
            return;
        }
        WarnOfPlainKernel(out.dtype(), a.shape(), b.shape(), limit);
    }

    template <class A, class B, class C>
    static void Compute(const Dnn& dnn, const Plan& plan, const Array& bias, const A& a_desc, const Array& a,
                        const B& b_desc, const Array& b, const C& out_desc, const Array& out) {
        const Algorithm& algorithm = *plan.algorithm;
        const void* one = One(out.dtype());
        StoragePtr workspace;
        if (algorithm.memory != 0) workspace = out.device().Allocate(algorithm.memory);
        dnn.Call(kRun, one, a_desc.get(), a.raw_data(), b_desc.get(), b.raw_data(), plan.convolution.get(),
                 algorithm.number, workspace ? workspace->data() : nullptr, algorithm.memory, Zero(out.dtype()),
                 out_desc.get(), out.raw_data());
        if constexpr (std::is_same_v<C, TensorDescriptor>) {
            if (!bias) return;
            std::vector<int> shape(std::max<int>(out.ndim(), 4), 1);
            shape[1] = static_cast<int>(bias.GetTotalSize());
            TensorDescriptor bias_desc{out.dtype(), shape};
            dnn.Call(&Functions::AddTensor, one, bias_desc.get(), bias.raw_data(), one, out_desc.get(), out.raw_data());
        }
    }
};

using Forward = Contraction<0, &Functions::GetConvolutionForwardAlgorithm_v7,
                            &Functions::FindConvolutionForwardAlgorithmEx, &Functions::ConvolutionForward>;
using BackwardData =
        Contraction<1, &Functions::GetConvolutionBackwardDataAlgorithm_v7,
                    &Functions::FindConvolutionBackwardDataAlgorithmEx, &Functions::ConvolutionBackwardData>;
using BackwardFilter =
        Contraction<2, &Functions::GetConvolutionBackwardFilterAlgorithm_v7,
                    &Functions::FindConvolutionBackwardFilterAlgorithmEx, &Functions::ConvolutionBackwardFilter>;

bool Fits(const WindowGeometry& g, const Array& x, const Array& w, const Array& y) {
    return IsFloat(x.dtype()) && FitsDnn(g) && FitsDnn(x) && FitsDnn(w) && FitsDnn(y);
}

}  // namespace

bool CudnnConv(const WindowGeometry& g, const Array& x, const Array& w, const Array& b, const Array& y) {
    return Fits(g, x, w, y) &&
           Forward::Run("conv", g, b, y, [&](const Plan& plan, auto&& f) { f(plan.x, x, plan.w, w, plan.y, y); });
}

bool CudnnConvData(const WindowGeometry& g, const Array& y, const Array& w, const Array& b, const Array& x) {
    return Fits(g, x, w, y) && BackwardData::Run("conv_transpose", g, b, x, [&](const Plan& plan, auto&& f) {
               f(plan.w, w, plan.y, y, plan.x, x);
           });
}

bool CudnnConvWeight(const WindowGeometry& g, const Array& x, const Array& y, const Array& w) {
    return Fits(g, x, w, y) && BackwardFilter::Run("conv", g, Array{}, w, [&](const Plan& plan, auto&& f) {
               f(plan.x, x, plan.y, y, plan.w, w);
           });
}

}  // namespace chainerx::cuda
