#include "chainerx/ops/optimizer.h"

#include "chainerx/autograd/graph.h"

namespace chainerx {

const SgdKernel kSgdKernel{"sgd"};
const MomentumSgdKernel kMomentumSgdKernel{"momentum_sgd"};
const AdamKernel kAdamKernel{"adam"};

namespace {

void Check(const char* name, const Array& param, std::initializer_list<const Array*> others) {
    if (!IsFloat(param.dtype()))
        throw DtypeError{name, ": parameters must be of a floating point dtype, not ", param.dtype()};
    for (const Array* a : others) {
        CheckDevices(param, *a);
        if (a->shape() != param.shape()) {
            throw DimensionError{name, ": an array has shape ", a->shape(), " but the parameter ", param.shape()};
        }
        if (a->dtype() != param.dtype()) {
            throw DtypeError{name, ": an array has dtype ", a->dtype(), " but the parameter ", param.dtype()};
        }
    }
}

}  // namespace

void SgdUpdate(const Array& param, const Array& grad, double lr) {
    Check("sgd", param, {&grad});
    kSgdKernel(param.device(), param, grad, lr);
    param.body()->storage->BumpVersion();
}

void MomentumSgdUpdate(const Array& param, const Array& grad, const Array& v, double lr, double momentum) {
    Check("momentum_sgd", param, {&grad, &v});
    kMomentumSgdKernel(param.device(), param, grad, v, lr, momentum);
    param.body()->storage->BumpVersion();
    v.body()->storage->BumpVersion();
}

void AdamUpdateStep(const Array& param, const Array& grad, const Array& m, const Array& v, const AdamUpdate& update) {
    Check("adam", param, {&grad, &m, &v});
    kAdamKernel(param.device(), param, grad, m, v, update);
    param.body()->storage->BumpVersion();
    m.body()->storage->BumpVersion();
    v.body()->storage->BumpVersion();
}

}  // namespace chainerx
