#pragma once

#include <cmath>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/macro.h"

// Steps of optimizers: updates of parameters in place, outside of graphs. A rule is a functor below and a line in the
// list at the end; the C++ constant `kSgdUpdate`, the kernels of the backends and the Python function `_sgd_update`
// come from the list.

namespace chainerx {
namespace update_rules {

// A rule is made of its scalars and computes the step of one element: the parameter, the gradient, the states. T is
// float or double. NumPy arrays come here too, as views. chainer.optimizers has the same step as array operations, for
// CuPy and for installs without ChainerX; it rounds alike, so the results are the same bit for bit as long as a
// compiler does not contract products and sums.

template <class T>
struct Sgd {
    T lr;
    explicit Sgd(const double* k) : lr(k[0]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g) const { p -= lr * g; }
};

template <class T>
struct MomentumSgd {
    T lr, momentum;
    explicit MomentumSgd(const double* k) : lr(k[0]), momentum(k[1]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& v) const {
        v = momentum * v - lr * g;
        p += v;
    }
};

template <class T>
struct CorrectedMomentumSgd {
    T lr, momentum;
    explicit CorrectedMomentumSgd(const double* k) : lr(k[0]), momentum(k[1]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& v) const {
        v = momentum * v - g;
        p += lr * v;
    }
};

template <class T>
struct NesterovAg {
    T lr, momentum, square, next;
    explicit NesterovAg(const double* k) : lr(k[0]), momentum(k[1]), square(k[1] * k[1]), next(1 + k[1]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& v) const {
        T step = lr * g;
        v = momentum * v - step;
        p = p + square * v - next * step;
    }
};

template <class T>
struct AdaGrad {
    T lr, eps;
    explicit AdaGrad(const double* k) : lr(k[0]), eps(k[1]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& h) const {
        h += g * g;
        p -= lr * g / (std::sqrt(h) + eps);
    }
};

template <class T>
struct AdaDelta {
    T rho, rate, eps;
    explicit AdaDelta(const double* k) : rho(k[0]), rate(1 - k[0]), eps(k[1]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& msg, T& msdx) const {
        msg = rho * msg + rate * g * g;
        T dx = std::sqrt((msdx + eps) / (msg + eps)) * g;
        msdx = rho * msdx + rate * dx * dx;
        p -= dx;
    }
};

template <class T>
struct RmsProp {
    T lr, alpha, rate, inside, outside;
    explicit RmsProp(const double* k)
        : lr(k[0]), alpha(k[1]), rate(1 - k[1]), inside(k[3] != 0 ? k[2] : 0), outside(k[3] != 0 ? 0 : k[2]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& ms) const {
        ms = alpha * ms + rate * g * g;
        p -= lr * g / (std::sqrt(ms + inside) + outside);
    }
};

template <class T>
struct RmsPropGraves {
    T lr, alpha, rate, momentum, eps;
    explicit RmsPropGraves(const double* k) : lr(k[0]), alpha(k[1]), rate(1 - k[1]), momentum(k[2]), eps(k[3]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& n, T& mean, T& delta) const {
        n = alpha * n + rate * g * g;
        mean = alpha * mean + rate * g;
        delta = momentum * delta - lr * g / std::sqrt(n - mean * mean + eps);
        p += delta;
    }
};

template <class T>
struct Smorms3 {
    T lr, eps;
    explicit Smorms3(const double* k) : lr(k[0]), eps(k[1]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& mem, T& mean, T& square) const {
        T r = 1 / (mem + 1);
        mean += r * (g - mean);
        square += r * (g * g - square);
        T x = mean * mean / (square + eps);
        p -= g * (lr < x ? lr : x) / (std::sqrt(square) + eps);
        mem = mem * (1 - x) + 1;
    }
};

// Adam, AdamW and AdaBound, and with a third state AMSGrad and AMSBound. Without bounds the last two scalars are
// minus and plus infinity.
template <class T>
struct Adam {
    T alpha, rate1, rate2, eps, eta, decay, lower, upper;
    explicit Adam(const double* k)
        : alpha(k[0]), rate1(k[1]), rate2(k[2]), eps(k[3]), eta(k[4]), decay(k[5]), lower(k[6]), upper(k[7]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& m, T& v) const {
        Average(g, m, v);
        Move(p, m, v);
    }

protected:
    CHAINERX_HOST_DEVICE void Average(T g, T& m, T& v) const {
        m += rate1 * (g - m);
        v += rate2 * (g * g - v);
    }
    CHAINERX_HOST_DEVICE void Move(T& p, T m, T v) const {
        T rate = alpha / (std::sqrt(v) + eps);
        rate = rate < lower ? lower : rate;
        rate = rate > upper ? upper : rate;
        p -= eta * (rate * m + decay * p);
    }
};

template <class T>
struct AmsGrad : Adam<T> {
    using Adam<T>::Adam;
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& m, T& v, T& vhat) const {
        this->Average(g, m, v);
        vhat = vhat >= v ? vhat : v;
        this->Move(p, m, vhat);
    }
};

template <class T>
struct Msvag {
    T lr, rate, fix, rho, rest, eta, decay;
    explicit Msvag(const double* k)
        : lr(k[0]),
          rate(k[1]),
          fix(k[2]),
          rho(k[3] < 1 ? k[3] : 0),  // the first step gives no estimate of the noise
          rest(k[3] < 1 ? 1 - k[3] : 1),
          eta(k[4]),
          decay(k[5]) {}
    CHAINERX_HOST_DEVICE void Step(T& p, T g, T& m, T& v) const {
        m += rate * (g - m);
        v += rate * (g * g - v);
        T mean = m / fix;
        T mean2 = mean * mean;
        T noise = (v / fix - mean2) / rest;
        T total = mean2 + rho * (noise > 0 ? noise : 0);
        T factor = mean2 / (total > 0 ? total : 1);
        p -= eta * (lr * factor * mean + decay * p);
    }
};

}  // namespace update_rules

// A rule and its kernel. The kernel takes the scalars and the arrays for any number of parameters: the parameters, then
// their gradients, then their states of each kind. All are of one dtype and on one device.
struct UpdateRule : KernelSlot<void(const std::vector<double>& scalars, const std::vector<Array>& arrays)> {
    UpdateRule(const char* name, int n_states, int n_scalars)
        : KernelSlot{name}, n_states{n_states}, n_scalars{n_scalars} {}
    int width() const { return 2 + n_states; }  // arrays for a parameter

    const int n_states;
    const int n_scalars;
};

// X(Rule, name, number of states, number of scalars, states and scalars in their order)
#define CHAINERX_UPDATE_RULES(X)                                                                         \
    X(Sgd, "sgd", 0, 1, "Scalars: lr")                                                                   \
    X(MomentumSgd, "momentum_sgd", 1, 2, "State: v. Scalars: lr, momentum")                              \
    X(CorrectedMomentumSgd, "corrected_momentum_sgd", 1, 2, "State: v. Scalars: lr, momentum")           \
    X(NesterovAg, "nesterov_ag", 1, 2, "State: v. Scalars: lr, momentum")                                \
    X(AdaGrad, "ada_grad", 1, 2, "State: h. Scalars: lr, eps")                                           \
    X(AdaDelta, "ada_delta", 2, 2, "States: msg, msdx. Scalars: rho, eps")                               \
    X(RmsProp, "rmsprop", 1, 4, "State: ms. Scalars: lr, alpha, eps, eps_inside_sqrt")                   \
    X(RmsPropGraves, "rmsprop_graves", 3, 4, "States: n, g, delta. Scalars: lr, alpha, momentum, eps")   \
    X(Smorms3, "smorms3", 3, 2, "States: mem, g, g2. Scalars: lr, eps")                                  \
    X(Adam, "adam", 2, 8,                                                                                \
      "States: m, v. Scalars: alpha_t, 1 - beta1, 1 - beta2, eps, eta, weight_decay_rate, lower, upper") \
    X(AmsGrad, "amsgrad", 3, 8,                                                                          \
      "States: m, v, vhat. Scalars: alpha_t, 1 - beta1, 1 - beta2, eps, eta, weight_decay_rate, "        \
      "lower, upper")                                                                                    \
    X(Msvag, "msvag", 2, 6, "States: m, v. Scalars: lr, 1 - beta, 1 - beta^t, rho, eta, weight_decay_rate")

#define CHAINERX_DECLARE_UPDATE_RULE(Rule, name, n_states, n_scalars, doc) extern const UpdateRule k##Rule##Update;
CHAINERX_UPDATE_RULES(CHAINERX_DECLARE_UPDATE_RULE)
#undef CHAINERX_DECLARE_UPDATE_RULE

// Whether parameters, the first `count` arrays, lie in the same memory, so that one must be updated after the other.
bool ParametersOverlap(const std::vector<Array>& arrays, size_t count);

// One step on any number of parameters, with arrays as a kernel takes them. Changes nothing if an argument is wrong.
void UpdateParameters(const UpdateRule& rule, const std::vector<Array>& arrays, const std::vector<double>& scalars);

}  // namespace chainerx
