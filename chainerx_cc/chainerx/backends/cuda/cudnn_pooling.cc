// Pooling by cuDNN, and what windows have in common there.

#include <algorithm>
#include <vector>

#include "chainerx/backends/cuda/cudnn.h"
#include "chainerx/backends/cuda/cudnn_kernels.h"

namespace chainerx::cuda {
namespace {

using cudnn::Functions;
using cudnn::PoolingMode;
using cudnn::TensorDescriptor;

class PoolingDescriptor : public cudnn::Descriptor<cudnn::Pooling, &Functions::CreatePoolingDescriptor,
                                                   &Functions::DestroyPoolingDescriptor> {
public:
    PoolingDescriptor(const WindowGeometry& g, PoolPadding padding) {
        PoolingMode mode =
                padding == PoolPadding::kZero ? PoolingMode::kAverageWithPadding : PoolingMode::kAverageWithoutPadding;
        std::vector<int> kernel = SpatialForDnn(g, g.kernel, 1);
        std::vector<int> pad = SpatialForDnn(g, g.pad, 0);
        std::vector<int> stride = SpatialForDnn(g, g.stride, 1);
        cudnn::Check(cudnn::Find()->SetPoolingNdDescriptor(get(), mode, cudnn::NanPropagation::kYes,
                                                           static_cast<int>(kernel.size()), kernel.data(), pad.data(),
                                                           stride.data()));
    }
};

// cuDNN has no windows that lie in the padding.
bool Fits(const WindowGeometry& g, const Array& x, const Array& y) {
    for (int d = 0; d < g.ndim; ++d) {
        if (g.pad[d] >= g.kernel[d]) return false;
    }
    return FitsDnn(g) && FitsDnn(x) && FitsDnn(y);
}

}  // namespace

bool FitsDnn(const WindowGeometry& g) {
    if (g.ndim < 1 || g.ndim > 3) return false;
    for (int d = 0; d < g.ndim; ++d) {
        int64_t room = g.in[d] + 2 * g.pad[d] - (g.kernel[d] - 1) * g.dilation[d] - 1;
        if (g.out[d] != WindowGeometry::CountWindows(room, g.stride[d], false)) return false;
    }
    return true;
}

std::vector<int> SpatialForDnn(const WindowGeometry& g, const int64_t* values, int filler) {
    std::vector<int> all(std::max(0, 2 - g.ndim), filler);
    for (int d = 0; d < g.ndim; ++d) all.push_back(static_cast<int>(values[d]));
    return all;
}

std::vector<int> ShapeForDnn(const WindowGeometry& g, int64_t first, int64_t second, const int64_t* sizes) {
    std::vector<int> shape = SpatialForDnn(g, sizes, 1);
    shape.insert(shape.begin(), {static_cast<int>(first), static_cast<int>(second)});
    return shape;
}

bool CudnnAveragePool(const WindowGeometry& g, PoolPadding padding, const Array& x, const Array& y) {
    return Fits(g, x, y) && TryDnn("average_pool", y.device(), [&](const Dnn& dnn) {
               Dtype dtype = y.dtype();
               PoolingDescriptor desc{g, padding};
               TensorDescriptor x_desc{dtype, ShapeForDnn(g, g.batch, g.in_channels, g.in)};
               TensorDescriptor y_desc{dtype, ShapeForDnn(g, g.batch, g.in_channels, g.out)};
               dnn.Call(&Functions::PoolingForward, desc.get(), One(dtype), x_desc.get(), x.raw_data(), Zero(dtype),
                        y_desc.get(), y.raw_data());
           });
}

bool CudnnAveragePoolGrad(const WindowGeometry& g, PoolPadding padding, const Array& gy, const Array& gx) {
    return Fits(g, gx, gy) && TryDnn("average_pool", gx.device(), [&](const Dnn& dnn) {
               Dtype dtype = gx.dtype();
               PoolingDescriptor desc{g, padding};
               TensorDescriptor x_desc{dtype, ShapeForDnn(g, g.batch, g.in_channels, g.in)};
               TensorDescriptor y_desc{dtype, ShapeForDnn(g, g.batch, g.in_channels, g.out)};
               // The gradient of an average depends on neither x nor y, for which other arrays of the shape stand.
               dnn.Call(&Functions::PoolingBackward, desc.get(), One(dtype), y_desc.get(), gy.raw_data(), y_desc.get(),
                        gy.raw_data(), x_desc.get(), gx.raw_data(), Zero(dtype), x_desc.get(), gx.raw_data());
           });
}

}  // namespace chainerx::cuda
