// Softmax cross entropy in one pass over each row.

#include "chainerx/ops/loss.h"

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/register.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::native {
namespace {

constexpr int64_t kGrain = 8192;

void Forward(const Array& x, const Array& t, const Array& loss, const Array& log_prob) {
    int64_t n = x.shape()[0];
    int64_t classes = x.shape()[1];
    const auto* label = t.data<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
        if (label[i] >= classes) {
            throw IndexError{"softmax_cross_entropy: label ", label[i], " is not below the number of classes, ",
                             classes};
        }
    }
    kLogSoftmaxKernel(x.device(), x, log_prob);
    VisitFloatDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* p = log_prob.data<T>();
        T* out = loss.data<T>();
        for (int64_t i = 0; i < n; ++i) {
            // Rows with a negative label do not count.
            out[i] = label[i] < 0
                             ? T{0.0F}
                             : static_cast<T>(-static_cast<typename ComputeType<T>::type>(p[i * classes + label[i]]));
        }
    });
}

template <class T>
struct GradRow {
    CHAINERX_HOST_DEVICE static void Run(int64_t n, const T* log_prob, T* gx, double scale_) {
        using C = typename ComputeType<T>::type;
        auto scale = static_cast<C>(scale_);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i)
            gx[i] = static_cast<T>(chainerx::math::Exp(static_cast<C>(log_prob[i])) * scale);
    }
};

void Backward(const Array& log_prob, const Array& t, const Array& gy, const Array& gx) {
    int64_t n = log_prob.shape()[0];
    int64_t classes = log_prob.shape()[1];
    const auto* label = t.data<int64_t>();
    VisitFloatDtype(log_prob.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        static const auto row = MultiVersion<GradRow<T>, int64_t, const T*, T*, double>::Pick();
        BlockingScope blocking{n * classes > kGrain};
        ParallelFor(n, std::max<int64_t>(1, kGrain / std::max<int64_t>(classes, 1)), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                T* out = gx.data<T>() + i * classes;
                if (label[i] < 0) {
                    std::fill_n(out, classes, T{0.0F});
                    continue;
                }
                C g = static_cast<C>(gy.data<T>()[i]);
                row(classes, log_prob.data<T>() + i * classes, out, static_cast<double>(g));
                out[label[i]] = static_cast<T>(static_cast<C>(out[label[i]]) - g);
            }
        });
    });
}

}  // namespace

void RegisterLossKernels(Backend& backend) {
    kSoftmaxCrossEntropyKernel.Register(backend, &Forward);
    kSoftmaxCrossEntropyGradKernel.Register(backend, &Backward);
}

}  // namespace chainerx::native
