// Changes of element types.

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

Array CastLike(const Array& x, const Array& target) { return Cast(x, target.dtype()); }

Array BitCast(const Array& input, Dtype to) {
    Array x = AsContiguous(input);
    if (GetItemSize(to) != x.GetItemSize() || to == Dtype::kBool) {
        throw ModelError{"numbers of ", x.dtype(), " cannot be read as ", to};
    }
    return internal::MakeArray(x.shape(), x.strides(), to, x.device(), x.body()->storage, x.offset());
}

const Operator kOperators[] = {
        {"BitCast", Call<BitCast>, "to"},
        {"Cast", Call<Cast>, "to"},
        {"CastLike", Call<CastLike>},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Types)

}  // namespace chainerx::onnx
