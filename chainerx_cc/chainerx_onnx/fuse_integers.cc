// Products and convolutions of numbers that are scaled integers (the QDQ form of ONNX), as those of the integers.

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "chainerx/chainerx.h"
#include "chainerx/ops/integer_convolution.h"
#include "chainerx/ops/packed_integers.h"
#include "chainerx_onnx/planner.h"
#include "chainerx_onnx/registry.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {
namespace {

class IntegerFuser {
public:
    explicit IntegerFuser(Planner& planner) : planner_{planner} {}

    void Run() {
        for (Node& node : planner_.nodes()) {
            // Those of constants are folded, but have their inputs still.
            if (Is(node, "DequantizeLinear") && node.HasOutput(0)) dequantizers_[node.outputs[0]] = &node;
            if (node.is_dead) continue;
            for (int32_t number : node.inputs) consumers_[number] = &node;
        }
        bool is_changed = false;
        for (Node& node : planner_.nodes()) {
            if (node.is_dead) continue;
            bool is_joined = Is(node, "Conv") ? JoinConvolution(&node) : JoinProduct(&node);
            is_changed = is_changed || is_joined;
        }
        if (is_changed) planner_.CountUses();
    }

private:
    // The node that makes an input of bytes with scales of float32, both known, or null.
    const Node* DequantizerOf(const Node& node, int input) const {
        auto it = node.HasInput(input) ? dequantizers_.find(node.inputs[input]) : dequantizers_.end();
        if (it == dequantizers_.end()) return nullptr;
        const Node& q = *it->second;
        Array scale = q.Constant(1);
        bool is_plain = q.OptionalInt("block_size").value_or(0) == 0 && q.OptionalInt("output_dtype").value_or(0) == 0;
        return is_plain && scale && scale.dtype() == Dtype::kFloat32 ? &q : nullptr;
    }

    // Operands that are bytes with known parameters, the second of them constant.
    struct Operands {
        const Node* x;
        const Node* w;
        Array weight;
    };
    std::optional<Operands> OperandsOf(const Node& node) const {
        Operands found{DequantizerOf(node, 0), DequantizerOf(node, 1), Array{}};
        if (found.x == nullptr || found.w == nullptr || found.x->Constant(1).GetTotalSize() != 1) return std::nullopt;
        // The dtype of the integers is known by it.
        Array x_zero = found.x->Constant(2);
        if (!x_zero || !IsByte(x_zero.dtype()) || x_zero.GetTotalSize() != 1) return std::nullopt;
        found.weight = found.w->Constant(0);
        if (!found.weight || !IsByte(found.weight.dtype()) || found.weight.GetTotalSize() == 0) return std::nullopt;
        return found;
    }

    // Whether the scales and zero points of a weight have one element, or one for each place on an axis.
    static bool FitsAxis(const Node& dequantizer, const Array& weight, int64_t axis) {
        auto fits = [&](const Array& parameter) {
            if (parameter.GetTotalSize() == 1) return true;
            if (parameter.shape() != Shape{weight.shape()[axis]} || dequantizer.opset() < 13) return false;
            int64_t at = dequantizer.Int("axis");
            return at == axis || at == axis - weight.ndim();
        };
        if (!fits(dequantizer.Constant(1))) return false;
        if (!dequantizer.HasInput(2)) return true;
        Array zero = dequantizer.Constant(2);
        return zero && zero.dtype() == weight.dtype() && fits(zero);
    }

    // Makes a node one of the integers: those, their zero points, and their scales.
    static void TakeIntegers(Node* node, const Operands& operands, const char* op) {
        const Node& x = *operands.x;
        const Node& w = *operands.w;
        node->inputs = {x.inputs[0], w.inputs[0], x.inputs[2], w.HasInput(2) ? w.inputs[2] : -1,
                        x.inputs[1], w.inputs[1]};
        node->op = FindOperator("", op);
    }

    bool JoinProduct(Node* node) {
        bool is_gemm = Is(*node, "Gemm");
        if (!is_gemm && !Is(*node, "MatMul")) return false;
        std::optional<Operands> operands = OperandsOf(*node);
        if (!operands || operands->weight.ndim() != 2) return false;
        const Array& weight = operands->weight;
        int64_t axis = is_gemm && node->Flag("transB") ? 0 : 1;
        int64_t columns = weight.shape()[axis];
        if (!FitsAxis(*operands->w, weight, axis)) return false;
        Array bias = node->Constant(2);
        if (is_gemm && (!IsLinear(*node, bias, columns) || (bias && bias.dtype() != Dtype::kFloat32))) return false;
        TakeIntegers(node, *operands, "MatMulInteger");
        if (axis == 0) node->inputs[1] = planner_.AddConstant("", AsContiguous(Transpose(weight)));
        if (bias) node->inputs.push_back(planner_.AddConstant("", Reshape(bias, Shape{columns})));
        return true;
    }

    // Inputs of a convolution of integers behind those of its operands
    enum { kScale = 5, kBias, kResultScale, kResultZero, kLeast, kMost };

    bool JoinConvolution(Node* node) {
        if (planner_.device().backend().FindKernel(kPackIntegerFiltersKernel) == nullptr) return false;
        std::optional<Operands> operands = OperandsOf(*node);
        if (!operands || operands->weight.ndim() < 2 || !FitsAxis(*operands->w, operands->weight, 0)) return false;
        Array bias = node->Constant(2);
        int64_t channels = operands->weight.shape()[0];
        if (node->HasInput(2) && (!bias || bias.dtype() != Dtype::kFloat32 || bias.shape() != Shape{channels})) {
            return false;
        }
        int32_t number = node->HasInput(2) ? node->inputs[2] : -1;
        TakeIntegers(node, *operands, "ConvInteger");
        node->inputs.resize(kMost + 1, -1);
        node->inputs[kBias] = number;
        while (JoinNext(node, channels)) {
        }
        return true;
    }

    // Makes what follows a convolution a part of it.
    bool JoinNext(Node* node, int64_t channels) {
        int32_t number = node->outputs[0];
        auto it = consumers_.find(number);
        if (node->HasInput(kResultScale) || it == consumers_.end() || planner_.value(number).uses != 1) return false;
        Node* next = it->second;
        if (next->inputs[0] != number || !next->HasOutput(0)) return false;
        bool is_limited = node->HasInput(kLeast) || node->HasInput(kMost);
        bool is_joined = Is(*next, "BatchNormalization") ? !is_limited && JoinBatchNorm(node, *next, channels)
                         : Is(*next, "Relu")             ? !is_limited && JoinRelu(node)
                         : Is(*next, "Clip")             ? !is_limited && JoinClip(node, *next)
                         : Is(*next, "QuantizeLinear")   ? JoinQuantizer(node, *next)
                                                         : false;
        if (!is_joined) return false;
        node->outputs[0] = next->outputs[0];
        planner_.value(node->outputs[0]).producer = node;
        next->is_dead = true;
        return true;
    }

    // (s y + b - mean) g + beta, g = gamma / sqrt(var + epsilon)
    bool JoinBatchNorm(Node* node, const Node& norm, int64_t channels) {
        if (norm.Flag("training_mode") || !norm.Flag("spatial")) return false;
        for (int i = 1; i < norm.output_count(); ++i) {
            if (norm.HasOutput(i)) return false;
        }
        Array p[4];
        for (int i = 0; i < 4; ++i) {
            p[i] = norm.Constant(i + 1);
            if (!p[i] || p[i].shape() != Shape{channels}) return false;
            p[i] = AsType(p[i], Dtype::kFloat64);
        }
        Array gain = p[0] / Sqrt(p[3] + Scalar{norm.Float("epsilon")});
        Array bias = node->Constant(kBias);
        Array shifted = bias ? AsType(bias, Dtype::kFloat64) - p[2] : Negative(p[2]);
        SetInput(node, kScale, AsType(node->Constant(kScale), Dtype::kFloat64) * gain);
        SetInput(node, kBias, shifted * gain + p[1]);
        return true;
    }

    bool JoinRelu(Node* node) {
        SetInput(node, kLeast, Zeros(Shape{}, Dtype::kFloat32, planner_.device()));
        return true;
    }

    bool JoinClip(Node* node, const Node& clip) {
        if (clip.opset() < 6) return false;
        Array limits[2];
        for (int i = 0; i < 2; ++i) {
            if (clip.opset() < 11) {
                double limit = clip.Float(i == 0 ? "min" : "max");
                limits[i] = Full(Shape{}, Scalar{limit}, Dtype::kFloat32, planner_.device());
            } else if (clip.HasInput(i + 1)) {
                limits[i] = clip.Constant(i + 1);
                if (!limits[i] || limits[i].GetTotalSize() != 1) return false;
            }
        }
        for (int i = 0; i < 2; ++i) {
            if (limits[i]) SetInput(node, kLeast + i, limits[i]);
        }
        return true;
    }

    bool JoinQuantizer(Node* node, const Node& quantizer) {
        Array scale = quantizer.Constant(1);
        Array zero = quantizer.Constant(2);
        bool is_plain = quantizer.OptionalInt("block_size").value_or(0) == 0 &&
                        quantizer.OptionalInt("precision").value_or(0) == 0;
        if (!is_plain || !scale || scale.dtype() != Dtype::kFloat32 || scale.GetTotalSize() != 1) return false;
        if (quantizer.HasInput(2)) {
            if (!zero || !IsByte(zero.dtype()) || zero.GetTotalSize() != 1) return false;
        } else if (quantizer.OptionalInt("output_dtype").value_or(0) != 0) {
            return false;
        }
        node->inputs[kResultScale] = quantizer.inputs[1];
        node->inputs[kResultZero] =
                zero ? quantizer.inputs[2] : planner_.AddConstant("", Zeros(Shape{}, Dtype::kUInt8, planner_.device()));
        return true;
    }

    void SetInput(Node* node, int input, const Array& array) {
        node->inputs[input] = planner_.AddConstant("", AsType(array, Dtype::kFloat32));
    }

    Planner& planner_;
    std::unordered_map<int32_t, const Node*> dequantizers_;  // by what they give
    std::unordered_map<int32_t, Node*> consumers_;           // one of those that take a value
};

}  // namespace

void FuseIntegers(Planner& planner) {
    if (planner.device().backend().FindKernel(kPackIntegersKernel) != nullptr) IntegerFuser{planner}.Run();
}

}  // namespace chainerx::onnx
