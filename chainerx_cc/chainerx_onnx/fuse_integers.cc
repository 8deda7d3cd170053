// Products of numbers that are scaled integers (the QDQ form of ONNX), as products of the integers.

#include <cstdint>
#include <unordered_map>

#include "chainerx/chainerx.h"
#include "chainerx/ops/packed_integers.h"
#include "chainerx_onnx/planner.h"
#include "chainerx_onnx/registry.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {
namespace {

bool IsByte(Dtype dtype) { return dtype == Dtype::kInt8 || dtype == Dtype::kUInt8; }

class IntegerFuser {
public:
    explicit IntegerFuser(Planner& planner) : planner_{planner} {}

    void Run() {
        for (Node& node : planner_.nodes()) {
            // Those of constants are folded, but have their inputs still.
            if (Is(node, "DequantizeLinear") && node.HasOutput(0)) dequantizers_[node.outputs[0]] = &node;
        }
        bool is_changed = false;
        for (Node& node : planner_.nodes()) {
            if (!node.is_dead && Join(&node)) is_changed = true;
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

    // Whether a parameter has one element, or one for each column, which are along an axis of the weight.
    static bool Fits(const Array& parameter, const Node& dequantizer, int64_t axis, int64_t columns) {
        if (parameter.GetTotalSize() == 1) return true;
        if (parameter.shape() != Shape{columns} || dequantizer.opset() < 13) return false;
        int64_t at = dequantizer.Int("axis");
        return at == axis || at == axis - 2;
    }

    bool Join(Node* node) {
        bool is_gemm = Is(*node, "Gemm");
        if (!is_gemm && !Is(*node, "MatMul")) return false;
        const Node* x = DequantizerOf(*node, 0);
        const Node* w = DequantizerOf(*node, 1);
        if (x == nullptr || w == nullptr || x->Constant(1).GetTotalSize() != 1) return false;
        Array x_zero = x->Constant(2);
        // The dtype of the integers is known by it.
        if (!x_zero || !IsByte(x_zero.dtype()) || x_zero.GetTotalSize() != 1) return false;
        Array weight = w->Constant(0);
        Array w_zero = w->Constant(2);
        if (!weight || !IsByte(weight.dtype()) || weight.ndim() != 2 || weight.GetTotalSize() == 0) return false;
        int64_t axis = is_gemm && node->Flag("transB") ? 0 : 1;
        int64_t columns = weight.shape()[axis];
        if (!Fits(w->Constant(1), *w, axis, columns)) return false;
        if (w->HasInput(2) && (!w_zero || w_zero.dtype() != weight.dtype() || !Fits(w_zero, *w, axis, columns))) {
            return false;
        }
        Array bias = node->Constant(2);
        if (is_gemm && !IsLinear(*node, bias, columns)) return false;

        std::vector<int32_t> inputs{x->inputs[0], w->inputs[0], x->inputs[2], w_zero ? w->inputs[2] : -1,
                                    x->inputs[1], w->inputs[1]};
        if (axis == 0) inputs[1] = planner_.AddConstant("", AsContiguous(Transpose(weight)));
        if (bias) inputs.push_back(planner_.AddConstant("", Reshape(bias, Shape{columns})));
        node->inputs = inputs;
        node->op = FindOperator("", "MatMulInteger");
        return true;
    }

    // Whether a Gemm is a product and a bias for each column.
    static bool IsLinear(const Node& node, const Array& bias, int64_t columns) {
        if (node.Flag("transA") || node.Float("alpha") != 1) return false;
        if (!node.HasInput(2)) return true;
        return bias && node.opset() >= 7 && node.Float("beta") == 1 && bias.dtype() == Dtype::kFloat32 &&
               bias.ndim() > 0 && bias.GetTotalSize() == columns && bias.shape().back() == columns;
    }

    Planner& planner_;
    std::unordered_map<int32_t, const Node*> dequantizers_;  // by what they give
};

}  // namespace

void FuseIntegers(Planner& planner) {
    if (planner.device().backend().FindKernel(kPackIntegersKernel) != nullptr) IntegerFuser{planner}.Run();
}

}  // namespace chainerx::onnx
