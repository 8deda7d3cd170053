// Windows of signals.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// a[0] - a[1] cos(2 pi i / n) + a[2] cos(4 pi i / n)
struct CosineWindow {
    double a[3];
};
constexpr CosineWindow kBlackman{{0.42, 0.5, 0.08}};
constexpr CosineWindow kHamming{{25.0 / 46, 1 - 25.0 / 46, 0}};
constexpr CosineWindow kHann{{0.5, 0.5, 0}};

template <const CosineWindow& kWindow>
Kernel Window(const Node& node) {
    Dtype dtype = DtypeOf(static_cast<int32_t>(node.Int("output_datatype", 1)));
    bool periodic = node.Int("periodic", 1) != 0;
    IntsParameter size{node, nullptr, 0};
    Device* device = &node.device();
    return [dtype, periodic, size, device](const Inputs& in) {
        int64_t n = size.ReadOne(in);
        Array out = Empty(CheckedShape({n}, 8), Dtype::kFloat64, HostDevice());
        double turn = 2 * std::acos(-1.0) / static_cast<double>(periodic ? n : std::max<int64_t>(n - 1, 1));
        for (int64_t i = 0; i < n; ++i) {
            double phase = turn * static_cast<double>(i);
            out.data<double>()[i] = kWindow.a[0] - kWindow.a[1] * std::cos(phase) + kWindow.a[2] * std::cos(2 * phase);
        }
        return ToDevice(Cast(out, dtype), *device);
    };
}

const Operator kOperators[] = {
        {"BlackmanWindow", 1, 1, Window<kBlackman>},
        {"HammingWindow", 1, 1, Window<kHamming>},
        {"HannWindow", 1, 1, Window<kHann>},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Signals)

}  // namespace chainerx::onnx
