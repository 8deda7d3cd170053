#pragma once

// Kernels of cuDNN, of arrays that are contiguous. They return false if cuDNN is not there, is not to be used or cannot
// do it; the plain kernel then does. See the slots of the operations for the arguments.

#include <cstdint>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/ops/pooling.h"
#include "chainerx/ops/window.h"

namespace chainerx::cuda {

bool CudnnConv(const WindowGeometry& g, const Array& x, const Array& w, const Array& y);
bool CudnnConvData(const WindowGeometry& g, const Array& y, const Array& w, const Array& x);
bool CudnnConvWeight(const WindowGeometry& g, const Array& x, const Array& y, const Array& w);

// Parameters and statistics are of the dtype of `mean`. The running statistics may be null.
bool CudnnBatchNorm(const Array& x, const Array& gamma, const Array& beta, void* running_mean, void* running_var,
                    double eps, double decay, const Array& y, const Array& mean, const Array& inv_std);
bool CudnnBatchNormGrad(const Array& x, const void* gamma, const Array& gy, const Array& mean, const Array& inv_std,
                        const Array& gx, void* ggamma, void* gbeta);
bool CudnnFixedBatchNorm(const Array& x, const Array& gamma, const Array& beta, const Array& mean, const Array& var,
                         double eps, const Array& y);

// Not that of maxima: gradients take their places, which cuDNN does not tell.
bool CudnnAveragePool(const WindowGeometry& g, PoolPadding padding, const Array& x, const Array& y);
bool CudnnAveragePoolGrad(const WindowGeometry& g, PoolPadding padding, const Array& gy, const Array& gx);

// Whether cuDNN has windows like these, which lie at every step that fits in an image of one to three dimensions.
bool FitsDnn(const WindowGeometry& g);
// Values for the spatial dimensions as cuDNN expects them: at least two, of which the first may be `filler`.
std::vector<int> SpatialForDnn(const WindowGeometry& g, const int64_t* values, int filler);
// The shape of an array with such dimensions of these sizes.
std::vector<int> ShapeForDnn(const WindowGeometry& g, int64_t first, int64_t second, const int64_t* sizes);

}  // namespace chainerx::cuda
