#include "chainerx_onnx/operators/dense.h"

#include <limits>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

namespace {

// y = relu(y + b), in one pass
void Finish(float* y, int64_t rows, int64_t columns, const float* b, bool relu) {
    if (b == nullptr && !relu) return;
    float least = relu ? 0 : -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < rows; ++i, y += columns) {
        if (b == nullptr) {
            for (int64_t j = 0; j < columns; ++j) y[j] = y[j] < least ? least : y[j];
        } else {
            for (int64_t j = 0; j < columns; ++j) {
                float sum = y[j] + b[j];
                y[j] = sum < least ? least : sum;
            }
        }
    }
}

}  // namespace

Dense::Dense(const Array& w, const Array& b, bool relu)
    : w_{AsContiguous(w)}, b_{b ? AsContiguous(b) : b}, relu_{relu} {}

Array Dense::operator()(const Array& x) const {
    bool is_plain = x.ndim() >= 1 && x.dtype() == Dtype::kFloat32 && w_.dtype() == Dtype::kFloat32 &&
                    x.IsContiguous() && (!b_ || b_.dtype() == Dtype::kFloat32) && w_.device().HasHostMemory() &&
                    x.GetTotalSize() > 0;
    if (!is_plain) {
        Array y = Matmul(x, w_);
        if (b_) y = y + b_;
        return relu_ ? Relu(y) : y;
    }
    int64_t inner = w_.shape()[0];
    int64_t columns = w_.shape()[1];
    if (x.shape()[x.ndim() - 1] != inner)
        throw ModelError{"the shapes ", x.shape(), " and ", w_.shape(), " do not fit"};
    int64_t rows = x.GetTotalSize() / inner;
    Array y = Empty(Shape{rows, columns}, Dtype::kFloat32, x.device());
    kMatmulKernel(x.device(), x.ndim() == 2 ? x : Reshape(x, Shape{rows, inner}), w_, 0.0, y);
    Finish(y.data<float>(), rows, columns, b_ ? b_.data<float>() : nullptr, relu_);
    if (x.ndim() == 2) return y;
    Shape shape = x.shape();
    shape.back() = columns;
    return Reshape(y, shape);
}

}  // namespace chainerx::onnx
