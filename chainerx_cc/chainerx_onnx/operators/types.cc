// Changes of element types.

#include <cmath>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

Kernel CastNode(const Node& node) {
    Dtype dtype = DtypeOf(static_cast<int32_t>(node.Int("to")));
    return [dtype](const Inputs& in) { return Cast(in[0], dtype); };
}

Kernel CastLike(const Node& /*node*/) {
    return [](const Inputs& in) { return Cast(in[0], in[1].dtype()); };
}

Kernel BitCast(const Node& node) {
    Dtype dtype = DtypeOf(static_cast<int32_t>(node.Int("to")));
    return [dtype](const Inputs& in) {
        Array x = AsContiguous(in[0]);
        if (GetItemSize(dtype) != x.GetItemSize() || dtype == Dtype::kBool) {
            throw ModelError{"numbers of ", x.dtype(), " cannot be read as ", dtype};
        }
        return internal::MakeArray(x.shape(), x.strides(), dtype, x.device(), x.body()->storage, x.offset());
    };
}

const Operator kOperators[] = {
        {"BitCast", BitCast},
        {"Cast", CastNode},
        {"CastLike", CastLike},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Types)

}  // namespace chainerx::onnx
