#include "chainerx_onnx/operators/dense.h"

#include <algorithm>
#include <cstring>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

Dense::Dense(const Array& w, const Array& b, bool relu)
    : w_{AsContiguous(w)}, b_{b ? AsContiguous(b) : b}, relu_{relu} {}

Array Dense::operator()(const Array& x) const {
    bool is_plain = x.ndim() >= 1 && x.dtype() == Dtype::kFloat32 && w_.dtype() == Dtype::kFloat32 && x.IsContiguous() &&
                    (!b_ || b_.dtype() == Dtype::kFloat32) && w_.device().HasHostMemory() && x.GetTotalSize() > 0;
    if (!is_plain) {
        Array y = Matmul(x, w_);
        if (b_) y = y + b_;
        return relu_ ? Relu(y) : y;
    }
    int64_t inner = w_.shape()[0];
    int64_t columns = w_.shape()[1];
    if (x.shape()[x.ndim() - 1] != inner) throw ModelError{"the shapes ", x.shape(), " and ", w_.shape(), " do not fit"};
    int64_t rows = x.GetTotalSize() / inner;
    // One product, to which the rows of the output bring the bias.
    Array y = Empty(Shape{rows, columns}, Dtype::kFloat32, x.device());
    auto* p = y.data<float>();
    if (b_) {
        for (int64_t i = 0; i < rows; ++i) std::memcpy(p + i * columns, b_.raw_data(), columns * sizeof(float));
    }
    kMatmulKernel(x.device(), x.ndim() == 2 ? x : Reshape(x, Shape{rows, inner}), w_, b_ ? 1.0 : 0.0, y);
    if (relu_) {
        for (int64_t i = 0; i < rows * columns; ++i) p[i] = p[i] < 0 ? 0 : p[i];
    }
    if (x.ndim() == 2) return y;
    Shape shape = x.shape();
    shape.back() = columns;
    return Reshape(y, shape);
}

}  // namespace chainerx::onnx
