#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

struct BatchNormOptions {
    double eps;
    double decay;
};
template <>
inline constexpr bool kIsKernelValue<BatchNormOptions> = true;

// Kernels on contiguous x (batch, channels, spatial); statistics and parameters are (channels). `mean` and `inv_std`
// are of the dtype in which the kernel computes, see BatchNorm. The running statistics may be no arrays; the
// variance that enters them is unbiased.
using BatchNormKernel = KernelSlot<void(
        const Array& x, const Array& gamma, const Array& beta, const Array& running_mean, const Array& running_var,
        const BatchNormOptions& options, const Array& y, const Array& mean, const Array& inv_std)>;
using BatchNormGradKernel =
        KernelSlot<void(const Array& x, const Array& gamma, const Array& gy, const Array& mean, const Array& inv_std,
                        const Array& gx, const Array& ggamma, const Array& gbeta)>;
using FixedBatchNormKernel = KernelSlot<void(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                             const Array& var, double eps, const Array& y)>;
// x (rows, width); gamma and beta are (width), mean and inv_std (rows).
using LayerNormKernel = KernelSlot<void(const Array& x, const Array& gamma, const Array& beta, double eps,
                                        const Array& y, const Array& mean, const Array& inv_std)>;
extern const BatchNormKernel kBatchNormKernel;
extern const BatchNormGradKernel kBatchNormGradKernel;
extern const FixedBatchNormKernel kFixedBatchNormKernel;
extern const LayerNormKernel kLayerNormKernel;
extern const BatchNormGradKernel kLayerNormGradKernel;

// Normalizes over `axis`: by default all axes but those of gamma, which follow the first. The other axes are the
// channels, in the shape of gamma, beta and the running statistics, which are updated in place if given.
Array BatchNorm(const Array& x, const Array& gamma, const Array& beta,
                const std::optional<Array>& running_mean = std::nullopt,
                const std::optional<Array>& running_var = std::nullopt, double eps = 2e-5, double decay = 0.9,
                const OptionalAxes& axis = std::nullopt);
Array FixedBatchNorm(const Array& x, const Array& gamma, const Array& beta, const Array& mean, const Array& var,
                     double eps = 2e-5, const OptionalAxes& axis = std::nullopt);
// Normalizes over the last axes, those of gamma and beta.
Array LayerNorm(const Array& x, const Array& gamma, const Array& beta, double eps = 1e-5);
// Normalizes over groups of channels of x (N, C, ...); gamma and beta are (C).
Array GroupNorm(const Array& x, int64_t groups, const Array& gamma, const Array& beta, double eps = 1e-5);

#define CHAINERX_NORMALIZATION_ROUTINES(X) \
    X(BatchNorm)                           \
    X(FixedBatchNorm)                      \
    X(LayerNorm)                           \
    X(GroupNorm)

CHAINERX_NORMALIZATION_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
