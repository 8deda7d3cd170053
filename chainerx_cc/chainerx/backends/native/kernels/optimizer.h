#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx {
namespace native {

// Steps of optimizers, in one pass over memory. g is the gradient, p the parameter; beside each rule are its state
// arrays, in the order of UpdateTensor::state, and its scalars, in the order of the argument `scalars`.
enum class UpdateRule {
    kSgd,                   // -; lr: p -= lr g
    kMomentumSgd,           // v; lr, momentum: v = momentum v - lr g, p += v
    kCorrectedMomentumSgd,  // v; lr, momentum: v = momentum v - g, p += lr v
    kNesterovAg,            // v; lr, momentum: v = momentum v - lr g, p += momentum v - lr g
    kAdam,                  // m, v; alpha_t, 1 - beta1, 1 - beta2, eps, eta, weight decay, lower, upper:
                            //   m += (1 - beta1) (g - m), v += (1 - beta2) (g^2 - v),
                            //   p -= eta (clip(alpha_t / (sqrt(v) + eps), lower, upper) m + decay p)
    kAmsGrad,               // m, v, vhat; as kAdam, with vhat = max(vhat, v) in the place of v in the step
    kRmsProp,               // ms; lr, alpha, eps, whether eps is inside the root:
                            //   ms = alpha ms + (1 - alpha) g^2, p -= lr g / (sqrt(ms) + eps)
    kRmsPropGraves,         // n, mean, delta; lr, alpha, momentum, eps: n and mean as averages of g^2 and g,
                            //   delta = momentum delta - lr g / sqrt(n - mean^2 + eps), p += delta
    kAdaGrad,               // h; lr, eps: h += g^2, p -= lr g / (sqrt(h) + eps)
    kAdaDelta,              // msg, msdx; rho, eps: msg = rho msg + (1 - rho) g^2,
                            //   dx = sqrt((msdx + eps) / (msg + eps)) g, msdx likewise, p -= dx
    kSmorms3,               // mem, mean, square; lr, eps: with r = 1 / (mem + 1), mean and square as averages of
                            //   g and g^2, x = mean^2 / (square + eps), p -= min(lr, x) g / (sqrt(square) + eps),
                            //   mem = 1 + mem (1 - x)
    kMsvag,                 // m, v; lr, 1 - beta, 1 - beta^t, rho, eta, weight decay: averages m and v of g and
             //   g^2; with e = m / (1 - beta^t) and the noise n = max((v / (1 - beta^t) - e^2) / (1 - rho), 0),
             //   0 where rho = 1: p -= eta (lr e e^2 / (e^2 + rho n) + decay p)
};

template <class T>
struct UpdateTensor {
    int64_t size;
    T* param;       // (size)
    const T* grad;  // (size)
    T* state[3];    // (size) each
};

CHAINERX_ISA_KERNEL(UpdateParameters,
                    (UpdateRule rule, const double* scalars, const UpdateTensor<T>* tensors, int64_t count),
                    (rule, scalars, tensors, count))

}  // namespace native
}  // namespace chainerx
