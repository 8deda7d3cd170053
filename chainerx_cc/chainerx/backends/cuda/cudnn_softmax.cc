// Softmax by cuDNN.

#include <vector>

#include "chainerx/backends/cuda/cudnn.h"
#include "chainerx/backends/cuda/cudnn_kernels.h"

namespace chainerx::cuda {
namespace {

using cudnn::Functions;
using cudnn::SoftmaxAlgorithm;
using cudnn::TensorDescriptor;

constexpr auto kMode = cudnn::SoftmaxMode::kChannel;

// The axis as that of channels.
std::vector<int> GetShape(const Array& a, int axis) {
    std::vector<int> shape{1, static_cast<int>(a.shape()[axis]), 1, 1};
    for (int d = 0; d < a.ndim(); ++d) {
        if (d != axis) shape[d < axis ? 0 : 2] *= static_cast<int>(a.shape()[d]);
    }
    return shape;
}

SoftmaxAlgorithm GetAlgorithm(bool is_log) { return is_log ? SoftmaxAlgorithm::kLog : SoftmaxAlgorithm::kAccurate; }

}  // namespace

bool CudnnSoftmax(bool is_log, const Array& x, int axis, const Array& y) {
    return FitsDnn(x) && TryDnn("softmax", x.device(), [&](const Dnn& dnn) {
               TensorDescriptor desc{x.dtype(), GetShape(x, axis)};
               dnn.Call(&Functions::SoftmaxForward, GetAlgorithm(is_log), kMode, One(x.dtype()), desc.get(),
                        x.raw_data(), Zero(x.dtype()), desc.get(), y.raw_data());
           });
}

bool CudnnSoftmaxGrad(bool is_log, const Array& y, const Array& gy, int axis, const Array& gx) {
    return FitsDnn(y) && TryDnn("softmax", y.device(), [&](const Dnn& dnn) {
               TensorDescriptor desc{y.dtype(), GetShape(y, axis)};
               dnn.Call(&Functions::SoftmaxBackward, GetAlgorithm(is_log), kMode, One(y.dtype()), desc.get(),
                        y.raw_data(), desc.get(), gy.raw_data(), Zero(y.dtype()), desc.get(), gx.raw_data());
           });
}

}  // namespace chainerx::cuda
