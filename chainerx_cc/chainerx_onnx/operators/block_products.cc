// Products with weights of few bits, which have a scale for each block.

#include "chainerx_onnx/operators/block_products.h"

#include "chainerx/ops/packed_blocks.h"
#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// The bits of a product's weights, and how they are laid out.
class NarrowWeights {
public:
    explicit NarrowWeights(const Node& node)
        : inner_{node.Int("K")},
          columns_{node.Int("N")},
          bits_{static_cast<int>(node.Int("bits"))},
          block_{node.Int("block_size")} {
        if (bits_ != 2 && bits_ != 4 && bits_ != 8)
            throw ModelError{"its attribute 'bits' is ", bits_, ", not 2, 4 or 8"};
        if (block_ < 16 || block_ > (1 << 30) || (block_ & (block_ - 1)) != 0) {
            throw ModelError{"its attribute 'block_size' is ", block_, ", not a power of two from 16 on"};
        }
        if (node.Flag("weight_prepacked")) throw ModelError{"weights in the layout of a device are not supported"};
        if (node.HasInput(4)) throw ModelError{"an order of the inputs (g_idx) is not supported"};
        epilogue_.use_relu = node.relu;
        epilogue_.rounds_x = node.Int("accuracy_level") == 4;
        blocks_ = (inner_ + block_ - 1) / block_;
    }

    PackedBlockMatrix Pack(const Array& b, const Array& scales, const std::optional<Array>& zeros,
                           const std::optional<Array>& bias) const {
        if (b.dtype() != Dtype::kUInt8) throw ModelError{"B has the dtype ", b.dtype(), ", not uint8"};
        int64_t bytes = block_ * bits_ / 8;
        CheckShape("B", b, Shape{columns_, blocks_, bytes});
        Array q = SliceAxis(UnpackIntegers(b, Shape{columns_, blocks_ * block_}, bits_), 1, 0, inner_);
        BlockEpilogue epilogue = epilogue_;
        if (bias) epilogue.bias = Cast(*bias, Dtype::kFloat32);
        Array s = Rows("scales", scales, blocks_);
        return PackedBlockMatrix{q, s, zeros ? Zeros(*zeros) : DefaultZeros(q.device()), block_, epilogue};
    }

private:
    static void CheckShape(const char* name, const Array& x, const Shape& shape) {
        if (x.shape() != shape) throw ModelError{name, " has the shape ", x.shape(), ", not ", shape};
    }

    // Parameters of the columns, which old files have as a vector.
    Array Rows(const char* name, const Array& x, int64_t width) const {
        CheckShape(name, x, x.ndim() == 1 ? Shape{columns_ * width} : Shape{columns_, width});
        return Reshape(x, Shape{columns_, width});
    }

    Array Zeros(const Array& zeros) const {
        if (zeros.dtype() != Dtype::kUInt8) return Rows("zero_points", zeros, blocks_);
        int64_t bytes = (blocks_ * bits_ + 7) / 8;
        Array packed = Rows("zero_points", zeros, bytes);
        return SliceAxis(UnpackIntegers(packed, Shape{columns_, bytes * 8 / bits_}, bits_), 1, 0, blocks_);
    }

    Array DefaultZeros(Device& device) const {
        return Full(Shape{columns_, blocks_}, Scalar{1 << (bits_ - 1)}, Dtype::kUInt8, device);
    }

    int64_t inner_;
    int64_t columns_;
    int bits_;
    int64_t block_;
    int64_t blocks_;
    BlockEpilogue epilogue_;
};

void ConsumeWeights(const Node& node) {
    for (int i = 1; i <= kBiasOfBlocks; ++i) node.Consume(i);
}

std::optional<Array> OptionalConstant(const Node& node, int i) {
    return node.HasInput(i) ? std::optional{node.Constant(i)} : std::nullopt;
}

Kernel MatMulNBits(const Node& node) {
    NarrowWeights weights{node};
    bool is_known = true;
    for (int i : {1, 2, 3, kBiasOfBlocks}) is_known = is_known && (!node.HasInput(i) || node.Constant(i));
    if (!is_known) {
        return [weights](const Inputs& in) {
            return weights.Pack(in[1], in[2], in.Optional(3), in.Optional(kBiasOfBlocks))(in[0]);
        };
    }
    PackedBlockMatrix matrix = weights.Pack(node.Constant(1), node.Constant(2), OptionalConstant(node, 3),
                                            OptionalConstant(node, kBiasOfBlocks));
    ConsumeWeights(node);
    return [matrix](const Inputs& in) { return matrix(in[0]); };
}

Kernel BlockProduct(const Node& node) {
    BlockEpilogue epilogue;
    if (node.HasInput(kBiasOfBlocks)) epilogue.bias = Cast(node.Constant(kBiasOfBlocks), Dtype::kFloat32);
    epilogue.use_relu = node.relu;
    PackedBlockMatrix matrix{node.Constant(1), node.Constant(2), OptionalConstant(node, 3),
                             ReadInts(node.Constant(4)).front(), epilogue};
    ConsumeWeights(node);
    return [matrix](const Inputs& in) { return matrix(in[0]); };
}

}  // namespace

const Operator kBlockProduct{"BlockProduct", BlockProduct};

bool IsBlockProduct(const Node& node) {
    return node.op == &kBlockProduct || (node.op != nullptr && node.op->make == &MatMulNBits);
}

const OperatorTable kBlockProductsOperators = {
        {"MatMulNBits", MatMulNBits, "", Purity::kPure, "com.microsoft"},
};

}  // namespace chainerx::onnx
