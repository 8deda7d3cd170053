#include "chainerx/ops/activation.h"

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise_impl.h"
#include "chainerx/ops/explog.h"

namespace chainerx::ops {

Array Relu::Grad0(const Array& gy, Out y) const { return chainerx::ReluGrad(gy, y); }
Array ReluGrad::Grad0(const Array& gy, In<1> y) const { return chainerx::ReluGrad(gy, y); }
Array Sigmoid::Grad0(const Array& gy, Out y) const { return chainerx::SigmoidGrad(gy, y); }
Array SigmoidGrad::Grad0(const Array& gy, In<1> y) const { return chainerx::SigmoidGrad(gy, y); }
Array SigmoidGrad::Grad1(const Array& gy, In<0> g, In<1> y) const { return gy * g * (Scalar{1} - y * Scalar{2}); }
Array LeakyRelu::Grad0(const Array& gy, In<0> x) const {
    return gy * chainerx::Where(chainerx::GreaterEqual(x, Scalar{0}), chainerx::OnesLike(gy), Scalar{slope});
}
Array Elu::Grad0(const Array& gy, In<0> x, Out y) const {
    return gy * chainerx::Where(chainerx::Greater(x, Scalar{0}), chainerx::OnesLike(gy), y + Scalar{alpha});
}
Array Softplus::Grad0(const Array& gy, In<0> x) const { return gy * chainerx::Sigmoid(x * Scalar{beta}); }
Array ClippedRelu::Grad0(const Array& gy, In<0> x) const {
    return chainerx::Where(chainerx::LogicalAnd(chainerx::Greater(x, Scalar{0}), chainerx::Less(x, Scalar{z})), gy,
                           Scalar{0});
}
Array Silu::Grad0(const Array& gy, In<0> x) const {
    Array s = chainerx::Sigmoid(x);
    return gy * s * (x * (Scalar{1} - s) + Scalar{1});
}
Array Gelu::Grad0(const Array& gy, In<0> x) const {
    Array cdf = chainerx::Erf(x * Scalar{0.70710678118654752440}) * Scalar{0.5} + Scalar{0.5};
    Array density = chainerx::Exp(chainerx::Square(x) * Scalar{-0.5}) * Scalar{0.39894228040143267794};
    return gy * (cdf + x * density);
}

CHAINERX_ACTIVATION_OPS(CHAINERX_INSTANTIATE_ELEMENTWISE)

}  // namespace chainerx::ops
