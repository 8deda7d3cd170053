#include "chainerx/ops/rnn_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/core/backprop_mode.h"
#include "chainerx/core/compute_mode.h"
#include "chainerx/core/kernel_watch.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/creation.h"

namespace chainerx::internal {
namespace {

// Two layers in two directions over two sequences.
class SmallNetwork {
public:
    SmallNetwork(RnnKind kind, Dtype dtype, Device& device) : dtype_{dtype}, device_{device} {
        size_t gates = CountGates(kind);
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

}  // namespace

bool IsFusedRnnRight(RnnKind kind, Dtype dtype, Device& device, const FusedRnnSizesKernel::Function& find_sizes) {
    UnwatchedScope unwatched;
    ForceBackpropModeScope records{device.context()};
    SmallNetwork small{kind, dtype, device};
    std::vector<double> expected = small.Evaluate(RunLayers(small.inputs()));
    try {
        FusedRnn network = MakeFused(small.inputs());
        std::optional<FusedRnnSizes> sizes = find_sizes(network);
        if (!sizes) return false;
        std::vector<double> values = small.Evaluate(RunFused(small.inputs(), network, *sizes));
        double tolerance = GetTolerance(dtype);
        return std::equal(expected.begin(), expected.end(), values.begin(), values.end(),
                          [tolerance](double a, double b) { return std::abs(a - b) <= tolerance; });
    } catch (const DeviceError&) {
        return false;
    }
}

}  // namespace chainerx::internal
