#include "chainerx_onnx/domains.h"

#include <cstdint>
#include <string_view>

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/node.h"

namespace chainerx::onnx {
namespace {

constexpr int64_t kMost = INT32_MAX;  // sums and products of two sizes do not overflow

// The least and the largest value of an attribute of integers. `ops`: names of operators with a space around each.
struct Domain {
    std::string_view ops;
    std::string_view attribute;
    int64_t least;
    int64_t most;
    bool may_be_empty{true};
};

constexpr std::string_view kPoolings = " AveragePool LpPool MaxPool MaxUnpool ";
constexpr std::string_view kConvolutions = " Conv ConvInteger ConvTranspose DeformConv QLinearConv ";
constexpr std::string_view kImageOps = " Col2Im ";
constexpr std::string_view kRecurrent = " GRU LSTM RNN ";

// onnx_chainer/importing/_domains.py has the same table, and one test is for both.
constexpr Domain kDomains[] = {
        {kPoolings, "kernel_shape", 1, kMost, false},
        {kPoolings, "strides", 1, kMost},
        {kPoolings, "dilations", 1, kMost},
        {kPoolings, "pads", 0, kMost},
        {kConvolutions, "kernel_shape", 1, kMost},
        {kConvolutions, "strides", 1, kMost},
        {kConvolutions, "dilations", 1, kMost},
        {kConvolutions, "pads", 0, kMost},
        {kConvolutions, "group", 1, kMost},
        {kConvolutions, "offset_group", 1, kMost},
        {kConvolutions, "output_padding", 0, kMost},
        {kConvolutions, "output_shape", 1, kMost},
        {kImageOps, "strides", 1, kMost},
        {kImageOps, "dilations", 1, kMost},
        {kImageOps, "pads", 0, kMost},
        {" GlobalLpPool LpPool ", "p", 1, kMost},
        {" LpNormalization ", "p", 1, 2},
        {" MaxRoiPool ", "pooled_shape", 1, kMost},
        {" RoiAlign ", "output_height", 1, kMost},
        {" RoiAlign ", "output_width", 1, kMost},
        {" RoiAlign ", "sampling_ratio", 0, kMost},
        {" DepthToSpace SpaceToDepth ", "blocksize", 1, kMost},
        {" LRN ", "size", 1, kMost},
        {" GroupNormalization ", "num_groups", 1, kMost},
        {kRecurrent, "hidden_size", 1, kMost},
        {kRecurrent, "layout", 0, 1},
        {" Attention ", "q_num_heads", 1, kMost},
        {" Attention ", "kv_num_heads", 1, kMost},
        {" RotaryEmbedding ", "num_heads", 0, kMost},
        {" RotaryEmbedding ", "rotary_embedding_dim", 0, kMost},
        {" Split ", "num_outputs", 1, kMost},
        {" Split ", "split", 0, INT64_MAX},
        {" GatherND ", "batch_dims", 0, kMost},
        {" ReverseSequence ", "batch_axis", 0, 1},
        {" ReverseSequence ", "time_axis", 0, 1},
        {" DequantizeLinear QuantizeLinear ", "block_size", 0, kMost},
        {" Multinomial ", "sample_size", 1, kMost},
};

bool HasName(std::string_view ops, std::string_view name) {
    size_t at = ops.find(name);
    while (at != std::string_view::npos && (ops[at - 1] != ' ' || ops[at + name.size()] != ' ')) {
        at = ops.find(name, at + 1);
    }
    return at != std::string_view::npos;
}

}  // namespace

void CheckDomains(const Node& node) {
    for (const Domain& domain : kDomains) {
        if (!HasName(domain.ops, node.op_type())) continue;
        const AttributeMessage* attribute = node.Peek(std::string{domain.attribute});
        if (attribute == nullptr) continue;
        if (attribute->type == AttributeType::kInts && attribute->ints.empty() && !domain.may_be_empty) {
            throw ModelError{"its attribute '", domain.attribute, "' is empty"};
        }
        auto check = [&](int64_t value) {
            if (value < domain.least || value > domain.most) {
                throw ModelError{"its attribute '", domain.attribute, "' has the value ", value, ", not one from ",
                                 domain.least,      " to ",           domain.most};
            }
        };
        if (attribute->type == AttributeType::kInt) check(attribute->i);
        if (attribute->type == AttributeType::kInts) {
            for (int64_t value : attribute->ints) check(value);
        }
    }
}

}  // namespace chainerx::onnx
