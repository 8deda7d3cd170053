// Simplifications of a graph between its nodes and its steps.

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "chainerx/chainerx.h"
#include "chainerx_onnx/operators/block_products.h"
#include "chainerx_onnx/planner.h"
#include "chainerx_onnx/registry.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {

bool Is(const Node& node, const char* op_type) {
    return node.op != nullptr && node.message->domain.empty() && node.op->name == std::string_view{op_type};
}

bool IsLinear(const Node& node, const Array& bias, int64_t columns) {
    if (node.Flag("transA") || node.Float("alpha") != 1) return false;
    if (!node.HasInput(2)) return true;
    return bias && node.opset() >= 7 && node.Float("beta") == 1 && bias.ndim() > 0 && bias.GetTotalSize() == columns &&
           bias.shape().back() == columns;
}

namespace {

class Fuser {
public:
    explicit Fuser(Planner& planner) : planner_{planner} {}

    void Run() {
        for (Node& node : planner_.nodes()) places_[&node] = places_.size();
        for (Node& node : planner_.nodes()) {
            if (node.is_dead || node.op == nullptr) continue;
            if (Is(node, "BatchNormalization")) {
                FoldBatchNorm(&node);
            } else if (Is(node, "Add")) {
                if (!JoinBias(&node, 0, 1) && !JoinBias(&node, 1, 0) && !JoinSum(&node, 0)) JoinSum(&node, 1);
            } else if (Is(node, "Mul")) {
                if (!JoinScales(&node, 0)) JoinScales(&node, 1);
            } else if (Is(node, "Relu")) {
                JoinRelu(&node, std::numeric_limits<double>::infinity());
            } else if (Is(node, "Clip")) {
                JoinClip(&node);
            }
        }
    }

private:
    // The node that gives an input which nothing else uses, or null.
    Node* OnlyProducer(const Node& node, int input) {
        if (!node.HasInput(input)) return nullptr;
        const PlannedValue& value = planner_.value(node.inputs[input]);
        Node* producer = value.uses == 1 ? value.producer : nullptr;
        return producer == nullptr || producer->op == nullptr || producer->relu ? nullptr : producer;
    }

    // Lets a node give what the one behind it gave.
    void Absorb(Node* node, Node* next) {
        node->outputs[0] = next->outputs[0];
        planner_.value(node->outputs[0]).producer = node;
        next->is_dead = true;
    }

    // Replaces or adds an input.
    void SetConstant(Node* node, size_t input, const Array& array) {
        if (node->inputs.size() <= input) node->inputs.resize(input + 1, -1);
        int32_t old = node->inputs[input];
        if (old >= 0) planner_.DropUse(old);
        node->inputs[input] = planner_.AddConstant(old >= 0 ? planner_.value(old).name : "", array);
        planner_.value(node->inputs[input]).uses = 1;
    }

    // y = (w * x + b - mean) s + beta = (s w) * x + (b - mean) s + beta, s = gamma / sqrt(var + epsilon)
    void FoldBatchNorm(Node* node) {
        Node* conv = OnlyProducer(*node, 0);
        if (conv == nullptr || !Is(*conv, "Conv") || conv->HasInput(3) || node->Flag("training_mode") ||
            !node->Flag("spatial"))
            return;
        for (int i = 1; i < node->output_count(); ++i) {
            if (node->HasOutput(i)) return;
        }
        Array w = conv->Constant(1);
        Array b = conv->Constant(2);
        if (!w || !IsFloat(w.dtype()) || w.ndim() < 2 || (conv->HasInput(2) && !b)) return;
        Array p[4];
        for (int i = 0; i < 4; ++i) {
            p[i] = node->Constant(i + 1);
            if (!p[i] || p[i].shape() != Shape{w.shape()[0]}) return;
            p[i] = AsType(p[i], Dtype::kFloat64);
        }
        Array scale = p[0] / Sqrt(p[3] + Scalar{node->Float("epsilon")});
        Array bias = (b ? AsType(b, Dtype::kFloat64) - p[2] : Negative(p[2])) * scale + p[1];
        Shape column{w.shape()[0]};
        column.resize(w.ndim(), 1);
        SetConstant(conv, 1, AsType(AsType(w, Dtype::kFloat64) * Reshape(scale, column), w.dtype()));
        SetConstant(conv, 2, AsType(bias, w.dtype()));
        Absorb(conv, node);
    }

    // Makes a constant that is added to the last axis of a product, or to the channels of a convolution, its bias.
    bool JoinBias(Node* node, int input, int constant) {
        Node* product = OnlyProducer(*node, input);
        Array b = node->Constant(constant);
        if (product == nullptr || !b || node->opset() < 7) return false;
        if (IsScaled(*product)) {
            return b.shape() == Shape{product->Constant(1).shape()[1]} && JoinBiasAt(6, node, product, b);
        }
        if (IsBlockProduct(*product)) {
            Array q = product->Constant(1);
            return q && b.shape() == Shape{q.shape()[0]} && JoinBiasAt(kBiasOfBlocks, node, product, b);
        }
        if (product->HasInput(2)) return false;
        Array w = product->Constant(1);
        if (!w || w.dtype() != b.dtype() || !IsFloat(w.dtype())) return false;
        int64_t size = b.GetTotalSize();
        int axis = 0;  // of b that is not one
        if (Is(*product, "MatMul") && w.ndim() == 2 && w.shape()[1] == size) {
            axis = b.ndim() - 1;
            if (b.ndim() > 1) return false;  // more axes than the product may have
        } else if (Is(*product, "Conv") && w.ndim() >= 2 && w.shape()[0] == size) {
            axis = b.ndim() - (w.ndim() - 1);
            if (b.ndim() > w.ndim()) return false;
        } else {
            return false;
        }
        if (axis < 0 || b.shape()[axis] != size) return false;
        SetConstant(product, 2, Reshape(b, Shape{size}));
        Absorb(product, node);
        return true;
    }

    // Whether a node is a product of integers with scales.
    static bool IsScaled(const Node& node) { return Is(node, "MatMulInteger") && node.HasInput(5); }

    bool JoinBiasAt(int input, Node* node, Node* product, const Array& b) {
        if (b.dtype() != Dtype::kFloat32 || product->HasInput(input)) return false;
        SetConstant(product, input, b);
        Absorb(product, node);
        return true;
    }

    // Makes scales of both operands, with which a product of integers is multiplied as float32, its inputs. That of the
    // left operand is computed with it, that of the constant on the right is known.
    bool JoinScales(Node* node, int input) {
        Node* cast = OnlyProducer(*node, input);
        if (cast == nullptr || !Is(*cast, "Cast") || cast->opset() < 6 || node->opset() < 7) return false;
        Node* product = OnlyProducer(*cast, 0);
        if (product == nullptr || !Is(*product, "MatMulInteger") || product->input_count() > 4) return false;
        Array b = product->Constant(1);
        const Node* scales = planner_.value(node->inputs[1 - input]).producer;
        if (!b || b.ndim() != 2 || (product->HasInput(3) && !product->Constant(3)) || scales == nullptr ||
            scales->op == nullptr || !Is(*scales, "Mul") || cast->Int("to") != ElementTypeOf(Dtype::kFloat32)) {
            return false;
        }
        for (int i = 0; i < 2; ++i) {
            const Node* left = planner_.value(scales->inputs[i]).producer;
            Array right = scales->Constant(1 - i);
            if (left == nullptr || left->op == nullptr || !Is(*left, "DynamicQuantizeLinear") ||
                left->outputs.size() < 2 || left->outputs[1] != scales->inputs[i] ||
                places_[left] >= places_[product] || !right || right.dtype() != Dtype::kFloat32 || right.ndim() > 1 ||
                (right.GetTotalSize() != 1 && right.GetTotalSize() != b.shape()[1])) {
                continue;
            }
            product->inputs.resize(4, -1);
            for (int32_t number : {scales->inputs[i], scales->inputs[1 - i]}) {
                product->inputs.push_back(number);
                ++planner_.value(number).uses;
            }
            Absorb(product, cast);
            Absorb(product, node);
            return true;
        }
        return false;
    }

    // Makes the other operand of a sum, which must be there by then, a fourth input of a convolution.
    bool JoinSum(Node* node, int input) {
        Node* conv = OnlyProducer(*node, input);
        if (conv == nullptr || !Is(*conv, "Conv") || conv->HasInput(3) || node->opset() < 7) return false;
        Array w = conv->Constant(1);
        int32_t other = node->inputs[1 - input];
        const Node* producer = planner_.value(other).producer;
        if (!w || !IsFloat(w.dtype()) || (producer != nullptr && places_[producer] >= places_[conv])) return false;
        conv->inputs.resize(3, -1);
        conv->inputs.push_back(other);
        Absorb(conv, node);
        return true;
    }

    // Joins a Clip from zero on, such as Relu6 is written.
    void JoinClip(Node* node) {
        double limits[2] = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        for (int i = 0; i < 2; ++i) {
            if (node->opset() < 11) {
                limits[i] = node->Float(i == 0 ? "min" : "max");
            } else if (node->HasInput(i + 1)) {
                Array limit = node->Constant(i + 1);
                if (!limit || limit.GetTotalSize() != 1) return;
                limits[i] = static_cast<double>(AsScalar(limit));
            }
        }
        if (node->opset() >= 6 && limits[0] == 0 && limits[1] >= 0) JoinRelu(node, limits[1]);
    }

    void JoinRelu(Node* node, double most) {
        Node* before = OnlyProducer(*node, 0);
        if (before == nullptr) return;
        bool is_product = Is(*before, "Conv") || Is(*before, "Gemm") || Is(*before, "MatMul");
        Array w = before->Constant(1);
        if (!IsScaled(*before) && !IsBlockProduct(*before) && (!is_product || !w || !IsFloat(w.dtype()))) return;
        if (!Is(*before, "Conv") && !std::isinf(most)) return;
        before->relu = true;
        before->most = most;
        Absorb(before, node);
    }

    Planner& planner_;
    std::unordered_map<const Node*, size_t> places_;
};

}  // namespace

void Fuse(Planner& planner) { Fuser{planner}.Run(); }

}  // namespace chainerx::onnx
