#include "chainerx_onnx/operators/dense.h"

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

Dense::Dense(const Array& w, const Array& b, bool relu) : w_{AsContiguous(w)}, b_{b}, relu_{relu} {}

Array Dense::operator()(const Array& x) const {
    Array y = Matmul(x, w_);
    if (b_) y = y + b_;
    return relu_ ? Relu(y) : y;
}

}  // namespace chainerx::onnx
