// Normalization of arrays.

#include "chainerx/ops/normalization.h"

#include <algorithm>
#include <cmath>

#include "chainerx/backends/native/kernels/norm.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"

namespace chainerx::native {
namespace {

// The number of elements above which the interpreter lock is released.
constexpr int64_t kNormalizationBlocking = 32768;

// running = decay * running + (1 - decay) * adjust * value, if there is a running statistic.
template <class T>
void Update(const Array& running, const Array& value, double decay, double adjust) {
    Output out{running, value.dtype()};
    Array now = Input(running, value.dtype());
    for (int64_t i = 0; i < value.GetTotalSize(); ++i) {
        double mixed = decay * static_cast<double>(now.data<T>()[i]) +
                       (1 - decay) * adjust * static_cast<double>(value.data<T>()[i]);
        out.data<T>()[i] = static_cast<T>(mixed);
    }
    out.Finish();
}

void BatchNorm(const Array& x_, const Array& gamma_, const Array& beta_, const Array& running_mean,
               const Array& running_var, const BatchNormOptions& options, const Array& y_, const Array& mean,
               const Array& inv_std) {
    int64_t batch = x_.shape()[0];
    int64_t channels = x_.shape()[1];
    int64_t spatial = x_.shape()[2];
    Dtype dtype = mean.dtype();
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if (batch * spatial == 0) {
            std::fill_n(mean.data<T>(), channels, T{0});
            std::fill_n(inv_std.data<T>(), channels, static_cast<T>(1 / std::sqrt(options.eps)));
            return;
        }
        Array x = Input(x_, dtype);
        Array gamma = Input(gamma_, dtype);
        Array beta = Input(beta_, dtype);
        Array var = Empty(mean.shape(), dtype, mean.device());
        Output y{y_, dtype};
        {
            BlockingScope blocking{x.GetTotalSize() > kNormalizationBlocking};
            BatchNormForward(batch, channels, spatial, x.data<T>(), gamma.data<T>(), beta.data<T>(),
                             static_cast<T>(options.eps), y.template data<T>(), mean.data<T>(), var.data<T>(),
                             inv_std.data<T>());
        }
        y.Finish();
        if (running_mean) {
            auto count = static_cast<double>(batch * spatial);
            Update<T>(running_mean, mean, options.decay, 1);
            Update<T>(running_var, var, options.decay, count / std::max(count - 1, 1.0));
        }
    });
}

// Both kernels with their sizes as arguments: (batch, channels, spatial) or (rows, width).
template <class Kernel>
void Backward(const Array& x_, const Array& gamma_, const Array& gy_, const Array& mean, const Array& gx_,
              const Array& ggamma_, const Array& gbeta_, Kernel&& kernel) {
    Dtype dtype = mean.dtype();
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        Array x = Input(x_, dtype);
        Array gamma = Input(gamma_, dtype);
        Array gy = Input(gy_, dtype);
        Output gx{gx_, dtype};
        Output ggamma{ggamma_, dtype};
        Output gbeta{gbeta_, dtype};
        if (x.GetTotalSize() == 0) {
            std::fill_n(ggamma.template data<T>(), gamma.GetTotalSize(), T{0});
            std::fill_n(gbeta.template data<T>(), gamma.GetTotalSize(), T{0});
        } else {
            BlockingScope blocking{x.GetTotalSize() > kNormalizationBlocking};
            kernel(x.data<T>(), gamma.data<T>(), gy.data<T>(), gx.template data<T>(), ggamma.template data<T>(),
                   gbeta.template data<T>());
        }
        gx.Finish();
        ggamma.Finish();
        gbeta.Finish();
    });
}

void BatchNormGrad(const Array& x, const Array& gamma, const Array& gy, const Array& mean, const Array& inv_std,
                   const Array& gx, const Array& ggamma, const Array& gbeta) {
    auto kernel = [&](auto* x_, auto* gamma_, auto* gy_, auto* gx_, auto* ggamma_, auto* gbeta_) {
        using T = std::remove_pointer_t<decltype(gx_)>;
        BatchNormBackward<T>(x.shape()[0], x.shape()[1], x.shape()[2], x_, gamma_, gy_, mean.data<T>(),
                             inv_std.data<T>(), gx_, ggamma_, gbeta_);
    };
    Backward(x, gamma, gy, mean, gx, ggamma, gbeta, kernel);
}

void FixedBatchNorm(const Array& x_, const Array& gamma_, const Array& beta_, const Array& mean_, const Array& var_,
                    double eps, const Array& y_) {
    Dtype dtype = GetComputeDtype(
            PromoteTypes(PromoteTypes(x_.dtype(), gamma_.dtype()), PromoteTypes(mean_.dtype(), var_.dtype())));
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        Array x = Input(x_, dtype);
        Array gamma = Input(gamma_, dtype);
        Array beta = Input(beta_, dtype);
        Array mean = Input(mean_, dtype);
        Array var = Input(var_, dtype);
        Array inv_std = Empty(var.shape(), dtype, var.device());
        for (int64_t i = 0; i < var.GetTotalSize(); ++i) {
            inv_std.data<T>()[i] = 1 / std::sqrt(var.data<T>()[i] + static_cast<T>(eps));
        }
        Output y{y_, dtype};
        if (x.GetTotalSize() != 0) {
            BlockingScope blocking{x.GetTotalSize() > kNormalizationBlocking};
            BatchNormApply(x.shape()[0], x.shape()[1], x.shape()[2], x.data<T>(), gamma.data<T>(), beta.data<T>(),
                           mean.data<T>(), inv_std.data<T>(), y.template data<T>());
        }
        y.Finish();
    });
}

void LayerNorm(const Array& x_, const Array& gamma_, const Array& beta_, double eps, const Array& y_, const Array& mean,
               const Array& inv_std) {
    Dtype dtype = mean.dtype();
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        Array x = Input(x_, dtype);
        Array gamma = Input(gamma_, dtype);
        Array beta = Input(beta_, dtype);
        Output y{y_, dtype};
        if (x.GetTotalSize() != 0) {
            BlockingScope blocking{x.GetTotalSize() > kNormalizationBlocking};
            LayerNormForward(x.shape()[0], x.shape()[1], x.data<T>(), gamma.data<T>(), beta.data<T>(),
                             static_cast<T>(eps), y.template data<T>(), mean.data<T>(), inv_std.data<T>());
        }
        y.Finish();
    });
}

void LayerNormGrad(const Array& x, const Array& gamma, const Array& gy, const Array& mean, const Array& inv_std,
                   const Array& gx, const Array& ggamma, const Array& gbeta) {
    auto kernel = [&](auto* x_, auto* gamma_, auto* gy_, auto* gx_, auto* ggamma_, auto* gbeta_) {
        using T = std::remove_pointer_t<decltype(gx_)>;
        LayerNormBackward<T>(x.shape()[0], x.shape()[1], x_, gamma_, gy_, mean.data<T>(), inv_std.data<T>(), gx_,
                             ggamma_, gbeta_);
    };
    Backward(x, gamma, gy, mean, gx, ggamma, gbeta, kernel);
}

}  // namespace

const NativeKernels g_normalization_kernels{[](Backend& backend) {
    kBatchNormKernel.Register(backend, &BatchNorm);
    kBatchNormGradKernel.Register(backend, &BatchNormGrad);
    kFixedBatchNormKernel.Register(backend, &FixedBatchNorm);
    kLayerNormKernel.Register(backend, &LayerNorm);
    kLayerNormGradKernel.Register(backend, &LayerNormGrad);
}};

}  // namespace chainerx::native
