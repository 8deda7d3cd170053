#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Batch normalization of x (batch, channels, spatial) over batch and spatial, for each channel:
//   y = (x - mean) / sqrt(var + eps) * gamma + beta
// mean, var (biased), inv_std = 1 / sqrt(var + eps), gamma and beta are (channels).

// Writes y, and mean, var and inv_std for the running statistics and the backward pass.
CHAINERX_ISA_KERNEL(BatchNormForward,
                    (int64_t batch, int64_t channels, int64_t spatial, const T* x, const T* gamma, const T* beta, T eps,
                     T* y, T* mean, T* var, T* inv_std),
                    (batch, channels, spatial, x, gamma, beta, eps, y, mean, var, inv_std))

// y with the given statistics
CHAINERX_ISA_KERNEL(BatchNormApply,
                    (int64_t batch, int64_t channels, int64_t spatial, const T* x, const T* gamma, const T* beta,
                     const T* mean, const T* inv_std, T* y),
                    (batch, channels, spatial, x, gamma, beta, mean, inv_std, y))

// The gradients of BatchNormForward: gx as x; ggamma and gbeta (channels).
CHAINERX_ISA_KERNEL(BatchNormBackward,
                    (int64_t batch, int64_t channels, int64_t spatial, const T* x, const T* gamma, const T* gy,
                     const T* mean, const T* inv_std, T* gx, T* ggamma, T* gbeta),
                    (batch, channels, spatial, x, gamma, gy, mean, inv_std, gx, ggamma, gbeta))

// Layer normalization of the rows of x (rows, width): the same formula over each row, with gamma and beta
// (width), and mean and inv_std (rows).
CHAINERX_ISA_KERNEL(LayerNormForward,
                    (int64_t rows, int64_t width, const T* x, const T* gamma, const T* beta, T eps, T* y, T* mean,
                     T* inv_std),
                    (rows, width, x, gamma, beta, eps, y, mean, inv_std))

// The gradients of LayerNormForward: gx (rows, width); ggamma and gbeta (width).
CHAINERX_ISA_KERNEL(LayerNormBackward,
                    (int64_t rows, int64_t width, const T* x, const T* gamma, const T* gy, const T* mean,
                     const T* inv_std, T* gx, T* ggamma, T* gbeta),
                    (rows, width, x, gamma, gy, mean, inv_std, gx, ggamma, gbeta))

}  // namespace chainerx::native
