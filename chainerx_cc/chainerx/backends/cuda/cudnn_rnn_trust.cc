// Compares a small network of cuDNN with its layers.

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/cudnn_rnn.h"
#include "chainerx/backends/cuda/trust.h"
#include "chainerx/core/backprop_mode.h"
#include "chainerx/core/compute_mode.h"
#include "chainerx/core/dnn_settings.h"
#include "chainerx/core/kernel_watch.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/creation.h"

namespace chainerx::cuda {
namespace {

using internal::LayerOutputs;
using internal::NetworkInputs;

// Two layers in two directions over two sequences.
class SmallNetwork {
public:
    SmallNetwork(RnnKind kind, Dtype dtype, Device& device) : dtype_{dtype}, device_{device} {
        size_t gates = kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1;
        inputs_.kind = kind;
        inputs_.layers = 2;
        inputs_.directions = 2;
        inputs_.lengths = {2, 1};
        inputs_.x = Make({3, kInputs});
        inputs_.h0 = Make({kCells, 2, kUnits});
        if (kind == RnnKind::kLstm) inputs_.c0 = Make({kCells, 2, kUnits});
        for (int64_t cell = 0; cell < kCells; ++cell) {
            int64_t width = cell < 2 ? kInputs : 2 * kUnits;
            std::vector<Array>& ws = inputs_.ws.emplace_back();
            std::vector<Array>& bs = inputs_.bs.emplace_back();
            for (size_t i = 0; i < 2 * gates; ++i) {
                ws.push_back(Make({kUnits, i < gates ? width : kUnits}));
                bs.push_back(Make({kUnits}));
            }
        }
    }

    const NetworkInputs& inputs() const { return inputs_; }

    // The outputs and the gradients of all inputs.
    std::vector<double> Evaluate(const LayerOutputs& out) const {
        std::vector<Array> results{out.y, out.h};
        if (out.c) results.push_back(out.c);
        std::vector<Array> grads = Grad(results, arrays_);
        results.insert(results.end(), grads.begin(), grads.end());
        std::vector<double> values;
        for (const Array& a : results) Append(a, &values);
        return values;
    }

private:
    static constexpr int64_t kInputs = 3;
    static constexpr int64_t kUnits = 2;
    static constexpr int64_t kCells = 4;

    // Numbers between -1 and 1 that differ.
    Array Make(const Shape& shape) {
        constexpr double kStep = 0.618;
        int64_t n = shape.GetTotalSize();
        std::vector<double> values(static_cast<size_t>(n));
        for (double& value : values) value = 2 * std::fmod(kStep * ++count_, 1.0) - 1;
        Array a = Empty(shape, dtype_, device_);
        VisitComputeDtype(dtype_, [&](auto tag) {
            using T = typename decltype(tag)::type;
            std::vector<T> rounded(values.begin(), values.end());
            device_.CopyFromHost(a.raw_data(), rounded.data(), rounded.size() * sizeof(T));
        });
        a.RequireGrad();
        arrays_.push_back(a);
        return a;
    }

    void Append(const Array& a, std::vector<double>* values) const {
        VisitComputeDtype(dtype_, [&](auto tag) {
            using T = typename decltype(tag)::type;
            std::vector<T> elements(static_cast<size_t>(a.GetTotalSize()));
            Array contiguous = Contiguous(a.AsDetached());
            device_.CopyToHost(elements.data(), contiguous.raw_data(), elements.size() * sizeof(T));
            values->insert(values->end(), elements.begin(), elements.end());
        });
    }

    Dtype dtype_;
    Device& device_;
    NetworkInputs inputs_;
    std::vector<Array> arrays_;
    int64_t count_{0};
};

double GetTolerance(Dtype dtype) {
    if (dtype == Dtype::kFloat64) return 1e-10;
    return GetComputeMode() == ComputeMode::kFloat32 ? 1e-4 : 5e-2;
}

Verdict CompareWithLayers(RnnKind kind, Dtype dtype, Device& device, FusedRnnSizesKernel::Function* ask_for_sizes) {
    internal::UnwatchedScope unwatched;
    ForceBackpropModeScope records{device.context()};
    SmallNetwork network{kind, dtype, device};
    std::optional<FusedRnnSizes> sizes = ask_for_sizes(MakeFused(network.inputs()));
    if (!sizes) return Verdict::kUnsupported;
    std::vector<double> expected = network.Evaluate(RunLayers(network.inputs()));
    try {
        std::vector<double> values = network.Evaluate(RunFused(network.inputs(), *sizes));
        double tolerance = GetTolerance(dtype);
        bool is_same = std::equal(expected.begin(), expected.end(), values.begin(), values.end(),
                                  [tolerance](double a, double b) { return std::abs(a - b) <= tolerance; });
        return is_same ? Verdict::kSame : Verdict::kDifferent;
    } catch (const DeviceError&) {
        return Verdict::kDifferent;
    }
}

}  // namespace

bool IsRnnTrusted(const FusedRnn& network, FusedRnnSizesKernel::Function* ask_for_sizes) {
    using Key = std::tuple<int, RnnKind, Dtype, ComputeMode>;  // with the device
    static auto* trust = new Trust<Key>;
    Device& device = network.x.device();
    Dtype dtype = network.x.dtype();
    auto compare = [&] { return CompareWithLayers(network.kind, dtype, device, ask_for_sizes); };
    auto warn = [dtype] {
        if (g_warn_of_dnn == nullptr) return;
        g_warn_of_dnn(internal::Concat("cuDNN does not compute recurrent networks in ", GetDtypeName(dtype),
                                       " as the kernels of ChainerX do, which take its place"));
    };
    return trust->Ask(Key{device.index(), network.kind, dtype, GetComputeMode()}, device, compare, warn);
}

}  // namespace chainerx::cuda
