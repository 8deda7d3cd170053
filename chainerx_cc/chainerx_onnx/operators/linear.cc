// Products of matrices.

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// A product with a matrix that no run changes, as (inner, columns), and a bias that is added to its rows.
Kernel MakeLinear(const Node& node, const Array& w, const Array& b) {
    PackedLinear linear{w, b ? std::optional{b} : std::nullopt, node.relu};
    node.Consume(1);
    node.Consume(2);
    return [linear](const Inputs& in) { return linear(in[0]); };
}

Kernel MatMul(const Node& node) {
    if (Array w = node.Constant(1); w && w.ndim() == 2 && IsFloat(w.dtype())) {
        // The third input is a bias that the planner has joined.
        return MakeLinear(node, w, node.Constant(2));
    }
    return [relu = node.relu](const Inputs& in) {
        Array y = Matmul(in[0], in[1]);
        return relu ? Relu(y) : y;
    };
}

Kernel Gemm(const Node& node) {
    double alpha = node.Float("alpha");
    double beta = node.Float("beta");
    bool trans_a = node.Flag("transA");
    bool trans_b = node.Flag("transB");
    LegacyBroadcast align{node};
    Array w = node.Constant(1);
    Array c = node.Constant(2);
    bool is_bias = !node.HasInput(2) ||
                   (c && w && w.ndim() == 2 && beta == 1 && c.GetTotalSize() == w.shape()[trans_b ? 0 : 1] &&
                    (c.ndim() == 0 || c.shape().back() == c.GetTotalSize()));
    if (w && w.ndim() == 2 && IsFloat(w.dtype()) && !trans_a && alpha == 1 && is_bias) {
        return MakeLinear(node, trans_b ? Transpose(w) : w, c ? Reshape(c, Shape{c.GetTotalSize()}) : c);
    }
    return [alpha, beta, trans_a, trans_b, align, relu = node.relu](const Inputs& in) {
        if (in[0].ndim() != 2 || in[1].ndim() != 2) throw ModelError{"the operands are no matrices"};
        Dtype dtype = in[0].dtype();
        bool is_float = IsFloat(dtype);
        Array a = is_float ? in[0] : Cast(in[0], Dtype::kFloat64);
        Array b = is_float ? in[1] : Cast(in[1], Dtype::kFloat64);
        Array y = Matmul(trans_a ? Transpose(a) : a, trans_b ? Transpose(b) : b);
        if (alpha != 1) y = Scalar{alpha} * y;
        if (in.Has(2) && beta != 0) {
            Array sum = align(y, in[2]);
            y = y + (beta == 1 ? sum : Scalar{beta} * sum);
        }
        return relu ? Relu(y) : Cast(y, dtype);
    };
}

Array EinsumOf(const Arrays& xs, const std::string& equation) { return Einsum(equation, xs); }

Array Det(const Array& x) { return Cast(chainerx::Det(Cast(x, Dtype::kFloat64)), x.dtype()); }

}  // namespace

const OperatorTable kLinearOperators = {
        {"Det", Call<Det>},
        {"Einsum", Call<EinsumOf>, "equation"},
        {"Gemm", Gemm},
        {"MatMul", MatMul},
};

}  // namespace chainerx::onnx
