#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"

namespace chainerx {

// In-place parameter updates outside graphs. All arrays of one update have the parameter's shape and dtype.

struct AdamUpdate {
    double alpha_t;
    double one_minus_beta1;
    double one_minus_beta2;
    double eps;
    double eta;
    double weight_decay_rate;
};

using SgdKernel = KernelSlot<void(const Array& param, const Array& grad, double lr)>;
using MomentumSgdKernel =
        KernelSlot<void(const Array& param, const Array& grad, const Array& v, double lr, double momentum)>;
using AdamKernel = KernelSlot<void(const Array& param, const Array& grad, const Array& m, const Array& v,
                                   const AdamUpdate& update)>;
extern const SgdKernel kSgdKernel;
extern const MomentumSgdKernel kMomentumSgdKernel;
extern const AdamKernel kAdamKernel;

// param -= lr * grad
void SgdUpdate(const Array& param, const Array& grad, double lr);
// v = momentum * v - lr * grad; param += v
void MomentumSgdUpdate(const Array& param, const Array& grad, const Array& v, double lr, double momentum);
// m += (1 - beta1) (grad - m); v += (1 - beta2) (grad^2 - v);
// param -= eta * (alpha_t * m / (sqrt(v) + eps) + weight_decay_rate * param)
void AdamUpdateStep(const Array& param, const Array& grad, const Array& m, const Array& v, const AdamUpdate& update);

}  // namespace chainerx
