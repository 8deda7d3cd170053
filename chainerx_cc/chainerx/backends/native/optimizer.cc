// Parameter updates, each in one pass over memory.

#include "chainerx/ops/optimizer.h"

#include <cmath>

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/register.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx::native {
namespace {

constexpr int64_t kGrain = 32768;

template <class T>
struct SgdBody {
    CHAINERX_HOST_DEVICE static void Run(int64_t n, T* p, const T* g, double lr_) {
        using C = typename ComputeType<T>::type;
        auto lr = static_cast<C>(lr_);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) p[i] = static_cast<T>(static_cast<C>(p[i]) - lr * static_cast<C>(g[i]));
    }
};

template <class T>
struct MomentumSgdBody {
    CHAINERX_HOST_DEVICE static void Run(int64_t n, T* p, const T* g, T* v, double lr_, double momentum_) {
        using C = typename ComputeType<T>::type;
        auto lr = static_cast<C>(lr_);
        auto momentum = static_cast<C>(momentum_);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
            C step = momentum * static_cast<C>(v[i]) - lr * static_cast<C>(g[i]);
            v[i] = static_cast<T>(step);
            p[i] = static_cast<T>(static_cast<C>(p[i]) + step);
        }
    }
};

template <class T>
struct AdamBody {
    CHAINERX_HOST_DEVICE static void Run(int64_t n, T* p, const T* g, T* m, T* v, const AdamUpdate* update) {
        using C = typename ComputeType<T>::type;
        auto alpha = static_cast<C>(update->alpha_t);
        auto b1 = static_cast<C>(update->one_minus_beta1);
        auto b2 = static_cast<C>(update->one_minus_beta2);
        auto eps = static_cast<C>(update->eps);
        auto eta = static_cast<C>(update->eta);
        auto decay = static_cast<C>(update->weight_decay_rate);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
            C gi = static_cast<C>(g[i]);
            C mi = static_cast<C>(m[i]) + b1 * (gi - static_cast<C>(m[i]));
            C vi = static_cast<C>(v[i]) + b2 * (gi * gi - static_cast<C>(v[i]));
            C pi = static_cast<C>(p[i]);
            m[i] = static_cast<T>(mi);
            v[i] = static_cast<T>(vi);
            p[i] = static_cast<T>(pi - eta * (alpha * mi / (std::sqrt(vi) + eps) + decay * pi));
        }
    }
};

// Runs the body of the arrays' dtype over flat memory. Arrays that are not contiguous are copied out and back.
template <template <class> class Body, size_t N, class... Args>
void Run(const Array* const (&arrays)[N], const bool (&written)[N], Args... args) {
    Array flat[N];
    bool copied[N];
    for (size_t i = 0; i < N; ++i) {
        copied[i] = !arrays[i]->IsContiguous();
        flat[i] = copied[i] ? Copy(arrays[i]->AsDetached()) : *arrays[i];
    }
    VisitFloatDtype(flat[0].dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        int64_t n = flat[0].GetTotalSize();
        BlockingScope blocking{n > kGrain};
        ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
            T* p[N];
            for (size_t i = 0; i < N; ++i) p[i] = flat[i].template data<T>() + begin;
            if constexpr (N == 2) {
                static const auto f = MultiVersion<Body<T>, int64_t, T*, const T*, Args...>::Pick();
                f(end - begin, p[0], p[1], args...);
            } else if constexpr (N == 3) {
                static const auto f = MultiVersion<Body<T>, int64_t, T*, const T*, T*, Args...>::Pick();
                f(end - begin, p[0], p[1], p[2], args...);
            } else {
                static const auto f = MultiVersion<Body<T>, int64_t, T*, const T*, T*, T*, Args...>::Pick();
                f(end - begin, p[0], p[1], p[2], p[3], args...);
            }
        });
    });
    for (size_t i = 0; i < N; ++i) {
        if (copied[i] && written[i]) CopyData(flat[i], *arrays[i]);
    }
}

void Sgd(const Array& param, const Array& grad, double lr) { Run<SgdBody>({&param, &grad}, {true, false}, lr); }

void MomentumSgd(const Array& param, const Array& grad, const Array& v, double lr, double momentum) {
    Run<MomentumSgdBody>({&param, &grad, &v}, {true, false, true}, lr, momentum);
}

void Adam(const Array& param, const Array& grad, const Array& m, const Array& v, const AdamUpdate& update) {
    Run<AdamBody>({&param, &grad, &m, &v}, {true, false, true, true}, &update);
}

}  // namespace

void RegisterOptimizerKernels(Backend& backend) {
    kSgdKernel.Register(backend, &Sgd);
    kMomentumSgdKernel.Register(backend, &MomentumSgd);
    kAdamKernel.Register(backend, &Adam);
}

}  // namespace chainerx::native
