#include "chainerx/ops/activation.h"

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise_impl.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/manipulation.h"

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

namespace chainerx {

CHAINERX_ROUTINE(Crelu, "crelu", "x, axis=1", "", R"(
Concatenated rectified linear unit: :math:`\max(0, x)` and :math:`\max(0, -x)`, joined along an axis.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.
    axis (int): Axis.

Returns:
    ~chainerx.ndarray: Array that is twice as long along the axis. A floating point dtype is kept; integers and booleans
    become float32.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.crelu(chainerx.array([[1., -2.]]))
array([[1., 0., 0., 2.]], shape=(1, 4), dtype=float64, device='native:0')
)");
Array Crelu(const Array& x, int64_t axis) {
    Array wide = AsType(x, ToFloatDtype(x.dtype()), false);
    return Concatenate({Relu(wide), Relu(-wide)}, axis);
}

}  // namespace chainerx
