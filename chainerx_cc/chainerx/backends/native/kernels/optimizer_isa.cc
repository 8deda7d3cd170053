#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/math_core.h"
#include "chainerx/backends/native/kernels/optimizer.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx {
namespace native {
namespace CHAINERX_ISA {
namespace {

using math::Sqrt;

// A rule: scalars as members, and its step on one element with kStates states.

template <class T>
struct Sgd {
    static constexpr int kStates = 0;
    T lr;
    explicit Sgd(const double* s) : lr{static_cast<T>(s[0])} {}
    CHAINERX_INLINE void Step(T& p, T g) const { p -= lr * g; }
};

template <class T>
struct MomentumSgd {
    static constexpr int kStates = 1;
    T lr, momentum;
    explicit MomentumSgd(const double* s) : lr{static_cast<T>(s[0])}, momentum{static_cast<T>(s[1])} {}
    CHAINERX_INLINE void Step(T& p, T g, T& v) const {
        v = momentum * v - lr * g;
        p += v;
    }
};

template <class T>
struct CorrectedMomentumSgd {
    static constexpr int kStates = 1;
    T lr, momentum;
    explicit CorrectedMomentumSgd(const double* s) : lr{static_cast<T>(s[0])}, momentum{static_cast<T>(s[1])} {}
    CHAINERX_INLINE void Step(T& p, T g, T& v) const {
        v = momentum * v - g;
        p += lr * v;
    }
};

template <class T>
struct NesterovAg {
    static constexpr int kStates = 1;
    T lr, momentum;
    explicit NesterovAg(const double* s) : lr{static_cast<T>(s[0])}, momentum{static_cast<T>(s[1])} {}
    CHAINERX_INLINE void Step(T& p, T g, T& v) const {
        v = momentum * v - lr * g;
        p += momentum * v - lr * g;
    }
};

template <class T>
struct AdamScalars {
    T alpha, rate1, rate2, eps, eta, decay, lower, upper;
    explicit AdamScalars(const double* s)
        : alpha{static_cast<T>(s[0])},
          rate1{static_cast<T>(s[1])},
          rate2{static_cast<T>(s[2])},
          eps{static_cast<T>(s[3])},
          eta{static_cast<T>(s[4])},
          decay{static_cast<T>(s[5])},
          lower{static_cast<T>(s[6])},
          upper{static_cast<T>(s[7])} {}

    CHAINERX_INLINE void Move(T& p, T m, T v) const {
        T rate = alpha / (Sqrt(v) + eps);
        rate = rate < lower ? lower : rate;
        rate = rate > upper ? upper : rate;
        p -= eta * (rate * m + decay * p);
    }
};

template <class T>
struct Adam : AdamScalars<T> {
    static constexpr int kStates = 2;
    using AdamScalars<T>::AdamScalars;
    CHAINERX_INLINE void Step(T& p, T g, T& m, T& v) const {
        m += this->rate1 * (g - m);
        v += this->rate2 * (g * g - v);
        this->Move(p, m, v);
    }
};

template <class T>
struct AmsGrad : AdamScalars<T> {
    static constexpr int kStates = 3;
    using AdamScalars<T>::AdamScalars;
    CHAINERX_INLINE void Step(T& p, T g, T& m, T& v, T& vhat) const {
        m += this->rate1 * (g - m);
        v += this->rate2 * (g * g - v);
        vhat = v > vhat ? v : vhat;
        this->Move(p, m, vhat);
    }
};

template <class T>
struct RmsProp {
    static constexpr int kStates = 1;
    T lr, alpha, inside, outside;
    explicit RmsProp(const double* s)
        : lr{static_cast<T>(s[0])},
          alpha{static_cast<T>(s[1])},
          inside{static_cast<T>(s[3] != 0 ? s[2] : 0.0)},
          outside{static_cast<T>(s[3] != 0 ? 0.0 : s[2])} {}
    CHAINERX_INLINE void Step(T& p, T g, T& ms) const {
        ms = alpha * ms + (T{1} - alpha) * g * g;
        p -= lr * g / (Sqrt(ms + inside) + outside);
    }
};

template <class T>
struct RmsPropGraves {
    static constexpr int kStates = 3;
    T lr, alpha, momentum, eps;
    explicit RmsPropGraves(const double* s)
        : lr{static_cast<T>(s[0])},
          alpha{static_cast<T>(s[1])},
          momentum{static_cast<T>(s[2])},
          eps{static_cast<T>(s[3])} {}
    CHAINERX_INLINE void Step(T& p, T g, T& n, T& mean, T& delta) const {
        n = alpha * n + (T{1} - alpha) * g * g;
        mean = alpha * mean + (T{1} - alpha) * g;
        delta = momentum * delta - lr * g / Sqrt(n - mean * mean + eps);
        p += delta;
    }
};

template <class T>
struct AdaGrad {
    static constexpr int kStates = 1;
    T lr, eps;
    explicit AdaGrad(const double* s) : lr{static_cast<T>(s[0])}, eps{static_cast<T>(s[1])} {}
    CHAINERX_INLINE void Step(T& p, T g, T& h) const {
        h += g * g;
        p -= lr * g / (Sqrt(h) + eps);
    }
};

template <class T>
struct AdaDelta {
    static constexpr int kStates = 2;
    T rho, eps;
    explicit AdaDelta(const double* s) : rho{static_cast<T>(s[0])}, eps{static_cast<T>(s[1])} {}
    CHAINERX_INLINE void Step(T& p, T g, T& msg, T& msdx) const {
        msg = rho * msg + (T{1} - rho) * g * g;
        T dx = Sqrt((msdx + eps) / (msg + eps)) * g;
        msdx = rho * msdx + (T{1} - rho) * dx * dx;
        p -= dx;
    }
};

template <class T>
struct Smorms3 {
    static constexpr int kStates = 3;
    T lr, eps;
    explicit Smorms3(const double* s) : lr{static_cast<T>(s[0])}, eps{static_cast<T>(s[1])} {}
    CHAINERX_INLINE void Step(T& p, T g, T& mem, T& mean, T& square) const {
        T r = T{1} / (mem + T{1});
        mean += r * (g - mean);
        square += r * (g * g - square);
        T x = mean * mean / (square + eps);
        p -= (x < lr ? x : lr) * g / (Sqrt(square) + eps);
        mem = T{1} + mem * (T{1} - x);
    }
};

template <class T>
struct Msvag {
    static constexpr int kStates = 2;
    T lr, rate, fix, rho, eta, decay, noise_scale;
    explicit Msvag(const double* s)
        : lr{static_cast<T>(s[0])},
          rate{static_cast<T>(s[1])},
          fix{static_cast<T>(s[2])},
          rho{static_cast<T>(s[3])},
          eta{static_cast<T>(s[4])},
          decay{static_cast<T>(s[5])},
          noise_scale{static_cast<T>(s[3] < 1 ? s[3] / (1 - s[3]) : 0.0)} {}
    CHAINERX_INLINE void Step(T& p, T g, T& m, T& v) const {
        m += rate * (g - m);
        v += rate * (g * g - v);
        T mean = m / fix;
        T mean2 = mean * mean;
        T noise = v / fix - mean2;
        T total = mean2 + (noise > T{0} ? noise * noise_scale : T{0});
        T factor = mean2 / (total > T{0} ? total : T{1});
        p -= eta * (lr * factor * mean + decay * p);
    }
};

template <class T, class Rule>
void Run(const Rule& rule, const UpdateTensor<T>& t, int64_t begin, int64_t end) {
    T* p = t.param;
    const T* g = t.grad;
    T* s0 = t.state[0];
    T* s1 = t.state[1];
    T* s2 = t.state[2];
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
        if constexpr (Rule::kStates == 0) {
            rule.Step(p[i], g[i]);
        } else if constexpr (Rule::kStates == 1) {
            rule.Step(p[i], g[i], s0[i]);
        } else if constexpr (Rule::kStates == 2) {
            rule.Step(p[i], g[i], s0[i], s1[i]);
        } else {
            rule.Step(p[i], g[i], s0[i], s1[i], s2[i]);
        }
    }
}

// All tensors, cut into blocks that are shared out together, so that many small ones cost no more than one.
template <class T, class Rule>
void RunAll(const Rule& rule, const UpdateTensor<T>* tensors, int64_t count) {
    constexpr int64_t kBlock = 16384;
    Scratch<int64_t> first_block{count + 1};  // of each tensor
    int64_t blocks = 0;
    for (int64_t i = 0; i < count; ++i) {
        first_block.data()[i] = blocks;
        blocks += (tensors[i].size + kBlock - 1) / kBlock;
    }
    first_block.data()[count] = blocks;
    ParallelFor(blocks, 2, [&](int64_t begin, int64_t end) {
        int64_t tensor = 0;
        for (int64_t block = begin; block < end; ++block) {
            while (first_block.data()[tensor + 1] <= block) {
                ++tensor;
            }
            const UpdateTensor<T>& t = tensors[tensor];
            int64_t from = (block - first_block.data()[tensor]) * kBlock;
            Run(rule, t, from, from + kBlock < t.size ? from + kBlock : t.size);
        }
    });
}

}  // namespace

template <class T>
void UpdateParameters(UpdateRule rule, const double* scalars, const UpdateTensor<T>* tensors, int64_t count) {
    switch (rule) {
#define CHAINERX_CASE(Rule)                          \
    case UpdateRule::k##Rule:                        \
        RunAll<T>(Rule<T>{scalars}, tensors, count); \
        return;
        CHAINERX_CASE(Sgd)
        CHAINERX_CASE(MomentumSgd)
        CHAINERX_CASE(CorrectedMomentumSgd)
        CHAINERX_CASE(NesterovAg)
        CHAINERX_CASE(Adam)
        CHAINERX_CASE(AmsGrad)
        CHAINERX_CASE(RmsProp)
        CHAINERX_CASE(RmsPropGraves)
        CHAINERX_CASE(AdaGrad)
        CHAINERX_CASE(AdaDelta)
        CHAINERX_CASE(Smorms3)
        CHAINERX_CASE(Msvag)
#undef CHAINERX_CASE
    }
}

template void UpdateParameters<float>(UpdateRule, const double*, const UpdateTensor<float>*, int64_t);
template void UpdateParameters<double>(UpdateRule, const double*, const UpdateTensor<double>*, int64_t);

}  // namespace CHAINERX_ISA
}  // namespace native
}  // namespace chainerx
