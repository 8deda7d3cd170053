// Products with weights of few bits that DequantizeLinear makes numbers: the weights stay as they are.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "chainerx/chainerx.h"
#include "chainerx/ops/packed_blocks.h"
#include "chainerx_onnx/operators/block_products.h"
#include "chainerx_onnx/planner.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {
namespace {

// Shorter blocks would mostly consist of what is added to fill words.
constexpr int64_t kLeastBlock = 8;

// A matrix (columns, inner) of integers
struct Blocks {
    Array q;
    Array scales;
    Array zeros;  // or no array
    int64_t block;
};

// What DequantizeLinear has as inputs. `axis`: the axis of the columns.
std::optional<Blocks> BlocksOf(const Node& node, int axis) {
    Blocks found{node.Constant(0), node.Constant(1), node.Constant(2), node.OptionalInt("block_size").value_or(0)};
    int64_t columns = found.q.shape()[axis];
    int64_t inner = found.q.shape()[1 - axis];
    bool is_whole = found.block == 0;
    if (is_whole) found.block = inner;
    if (found.block < kLeastBlock) return std::nullopt;
    int64_t at = node.opset() < 13 ? 1 : node.Int("axis");
    if (at < 0) at += 2;
    auto align = [&](Array* parameter) {
        if (is_whole && parameter->GetTotalSize() == 1) {
            *parameter = AsContiguous(BroadcastTo(Reshape(*parameter, Shape{1, 1}), Shape{columns, 1}));
            return true;
        }
        if (is_whole) {
            if (at != axis || node.opset() < 13 || parameter->shape() != Shape{columns}) return false;
            *parameter = Reshape(*parameter, Shape{columns, 1});
            return true;
        }
        if (at != 1 - axis || parameter->ndim() != 2) return false;
        if (axis == 1) *parameter = Transpose(*parameter);
        return parameter->shape() == Shape{columns, (inner + found.block - 1) / found.block};
    };
    if (!align(&found.scales) || (found.zeros && !align(&found.zeros))) return std::nullopt;
    if (axis == 1) found.q = Transpose(found.q);
    return found;
}

class BlockFuser {
public:
    explicit BlockFuser(Planner& planner) : planner_{planner} {}

    void Run() {
        bool is_changed = false;
        for (Node& node : planner_.nodes()) {
            bool is_gemm = Is(node, "Gemm");
            if (node.is_dead || (!is_gemm && !Is(node, "MatMul"))) continue;
            is_changed = JoinProduct(&node, is_gemm) || is_changed;
        }
        if (is_changed) planner_.CountUses();
    }

private:
    // The node that gives a value which nothing else uses, or null.
    const Node* OnlyProducer(int32_t number) {
        const PlannedValue& value = planner_.value(number);
        return value.uses == 1 ? value.producer : nullptr;
    }

    bool JoinProduct(Node* node, bool is_gemm) {
        if (!node->HasInput(1)) return false;
        int axis = is_gemm && node->Flag("transB") ? 0 : 1;
        const Node* from = OnlyProducer(node->inputs[1]);
        if (from != nullptr && Is(*from, "Transpose") && from->HasInput(0)) {
            // Of a matrix, whose axes the default reverses, too.
            if (from->IntsOrNone("perm") == std::vector<int64_t>{0, 1}) return false;
            from = OnlyProducer(from->inputs[0]);
            axis = 1 - axis;
        }
        if (from == nullptr || !IsWeightInBlocks(*from)) return false;
        std::optional<Blocks> blocks = BlocksOf(*from, axis);
        if (!blocks) return false;
        int64_t columns = blocks->q.shape()[0];
        Array bias = node->Constant(2);
        if (is_gemm && (!IsLinear(*node, bias, columns) || (bias && !IsFloat(bias.dtype())))) return false;
        auto add = [&](const Array& array) { return array ? planner_.AddConstant("", array) : -1; };
        node->inputs = {node->inputs[0],
                        add(blocks->q),
                        add(blocks->scales),
                        add(blocks->zeros),
                        add(IntsArray({blocks->block})),
                        add(bias ? Reshape(bias, Shape{columns}) : bias)};
        node->op = &kBlockProduct;
        return true;
    }

    Planner& planner_;
};

}  // namespace

bool IsWeightInBlocks(const Node& node) {
    if (!Is(node, "DequantizeLinear") || node.device().backend().FindKernel(kPackBlocksKernel) == nullptr) return false;
    for (int i = 0; i < node.input_count(); ++i) {
        if (node.HasInput(i) && !node.Constant(i)) return false;
    }
    Array q = node.Constant(0);
    Array zeros = node.Constant(2);
    bool is_plain = node.OptionalInt("output_dtype").value_or(0) == 0;
    return is_plain && q.ndim() == 2 && (q.dtype() == Dtype::kInt8 || q.dtype() == Dtype::kUInt8) &&
           q.GetTotalSize() > 0 && IsFloat(node.Constant(1).dtype()) && (!zeros || zeros.dtype() == q.dtype());
}

void FuseBlocks(Planner& planner) { BlockFuser{planner}.Run(); }

}  // namespace chainerx::onnx
