// Batch normalization by cuDNN.

#include <vector>

#include "chainerx/backends/cuda/cudnn.h"
#include "chainerx/backends/cuda/cudnn_kernels.h"
#include "chainerx/core/operands.h"

namespace chainerx::cuda {
namespace {

using cudnn::BatchNormMode;
using cudnn::Functions;
using cudnn::TensorDescriptor;

constexpr int64_t kMaxBatch = 65535;  // blocks of a grid in one dimension

// x (batch, channels, spatial) and its parameters, as cuDNN sees them.
struct Shapes {
    explicit Shapes(const Array& x)
        : x{x.dtype(), {Size(x, 0), Size(x, 1), Size(x, 2), 1}},
          parameters{GetComputeDtype(x.dtype()), {1, Size(x, 1), 1, 1}} {}
    static int Size(const Array& x, int d) { return static_cast<int>(x.shape()[d]); }

    TensorDescriptor x;
    TensorDescriptor parameters;
};

// cuDNN computes and takes parameters in one dtype, which that of x determines. The unbiased variance of one element is
// not defined.
bool Fits(const Array& x, const Array& mean) {
    return mean.dtype() == GetComputeDtype(x.dtype()) && FitsDnn(x) && x.shape()[0] <= kMaxBatch &&
           x.shape()[0] * x.shape()[2] > 1;
}

BatchNormMode GetMode(const Dnn& dnn) {
    return dnn.settings().fast_batch_normalization ? BatchNormMode::kSpatialPersistent : BatchNormMode::kSpatial;
}

}  // namespace

bool CudnnBatchNorm(const Array& x, const Array& gamma, const Array& beta, void* running_mean, void* running_var,
                    double eps, double decay, const Array& y, const Array& mean, const Array& inv_std) {
    return Fits(x, mean) && TryDnn("batch_norm", x.device(), [&](const Dnn& dnn) {
               Shapes shapes{x};
               dnn.Call(&Functions::BatchNormalizationForwardTraining, GetMode(dnn), One(x.dtype()), Zero(x.dtype()),
                        shapes.x.get(), x.raw_data(), shapes.x.get(), y.raw_data(), shapes.parameters.get(),
                        gamma.raw_data(), beta.raw_data(), 1 - decay, running_mean, running_var, eps, mean.raw_data(),
                        inv_std.raw_data());
           });
}

bool CudnnBatchNormGrad(const Array& x, const void* gamma, const Array& gy, const Array& mean, const Array& inv_std,
                        const Array& gx, void* ggamma, void* gbeta) {
    // Not used, as the statistics are given.
    constexpr double kEps = 1e-5;
    return Fits(x, mean) && TryDnn("batch_norm", x.device(), [&](const Dnn& dnn) {
               Shapes shapes{x};
               const void* one = One(x.dtype());
               const void* zero = Zero(x.dtype());
               dnn.Call(&Functions::BatchNormalizationBackward, GetMode(dnn), one, zero, one, zero, shapes.x.get(),
                        x.raw_data(), shapes.x.get(), gy.raw_data(), shapes.x.get(), gx.raw_data(),
                        shapes.parameters.get(), gamma, ggamma, gbeta, kEps, mean.raw_data(), inv_std.raw_data());
           });
}

bool CudnnFixedBatchNorm(const Array& x, const Array& gamma, const Array& beta, const Array& mean, const Array& var,
                         double eps, const Array& y) {
    return Fits(x, mean) && TryDnn("fixed_batch_norm", x.device(), [&](const Dnn& dnn) {
               Shapes shapes{x};
               dnn.Call(&Functions::BatchNormalizationForwardInference, BatchNormMode::kSpatial, One(x.dtype()),
                        Zero(x.dtype()), shapes.x.get(), x.raw_data(), shapes.x.get(), y.raw_data(),
                        shapes.parameters.get(), gamma.raw_data(), beta.raw_data(), mean.raw_data(), var.raw_data(),
                        eps);
           });
}

}  // namespace chainerx::cuda
