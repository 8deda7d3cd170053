#include "chainerx/ops/explog.h"

#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise_impl.h"

namespace chainerx::ops {

namespace {

constexpr double kLog2 = 0.69314718055994530942;
constexpr double kLog10 = 2.30258509299404568402;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

}  // namespace

Array Exp::Grad0(const Array& gy, Out y) const { return gy * y; }
Array Exp2::Grad0(const Array& gy, Out y) const { return gy * y * Scalar{kLog2}; }
Array Expm1::Grad0(const Array& gy, Out y) const { return gy * (y + Scalar{1}); }
Array Log::Grad0(const Array& gy, In<0> x) const { return gy / x; }
Array Log2::Grad0(const Array& gy, In<0> x) const { return gy / x * Scalar{1 / kLog2}; }
Array Log10::Grad0(const Array& gy, In<0> x) const { return gy / x * Scalar{1 / kLog10}; }
Array Log1p::Grad0(const Array& gy, In<0> x) const { return gy / (x + Scalar{1}); }
Array Sqrt::Grad0(const Array& gy, Out y) const { return gy / (y * Scalar{2}); }
Array Erf::Grad0(const Array& gy, In<0> x) const {
    return gy * Scalar{kTwoOverSqrtPi} * chainerx::Exp(-chainerx::Square(x));
}
Array Square::Grad0(const Array& gy, In<0> x) const { return gy * x * Scalar{2}; }
Array Absolute::Call(const Array& x) {
    return IsComplex(x.dtype()) ? AbsoluteOfComplex(x) : ElementwiseCaller<Absolute, 1>::Call(x);
}
Array Absolute::Grad0(const Array& gy, In<0> x) const { return gy * chainerx::Sign(x); }
Array Fabs::Grad0(const Array& gy, In<0> x) const { return gy * chainerx::Sign(x); }
Array Copysign::Grad0(const Array& gy, In<0> x1, In<1> x2) const {
    return gy * chainerx::Sign(x1) * chainerx::Copysign(chainerx::OnesLike(gy), x2.AsDetached());
}
Array Hypot::Grad0(const Array& gy, In<0> x1, Out y) const { return gy * x1 / y; }
Array Hypot::Grad1(const Array& gy, In<1> x2, Out y) const { return gy * x2 / y; }
Array Logaddexp::Grad0(const Array& gy, In<0> x1, In<1> x2) const { return gy * chainerx::Sigmoid(x1 - x2); }
Array Logaddexp::Grad1(const Array& gy, In<0> x1, In<1> x2) const { return gy * chainerx::Sigmoid(x2 - x1); }

CHAINERX_EXPLOG_OPS(CHAINERX_INSTANTIATE_ELEMENTWISE)

}  // namespace chainerx::ops
