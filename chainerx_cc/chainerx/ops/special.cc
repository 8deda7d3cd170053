#include "chainerx/ops/special.h"

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise_impl.h"
#include "chainerx/ops/explog.h"

namespace chainerx::ops {

namespace {

constexpr double kRootTwoPi = 2.50662827463100050242;

}  // namespace

Array Erfc::Grad0(const Array& gy, In<0> x) const {
    return gy * Scalar{-math::kTwoOverRootPi} * chainerx::Exp(-chainerx::Square(x));
}
Array Erfcx::Grad0(const Array& gy, In<0> x, Out y) const {
    return gy * (x * y * Scalar{2} - Scalar{math::kTwoOverRootPi});
}
Array Erfinv::Grad0(const Array& gy, Out y) const {
    return gy * Scalar{1 / math::kTwoOverRootPi} * chainerx::Exp(chainerx::Square(y));
}
Array Erfcinv::Grad0(const Array& gy, Out y) const {
    return gy * Scalar{-1 / math::kTwoOverRootPi} * chainerx::Exp(chainerx::Square(y));
}
Array Ndtr::Grad0(const Array& gy, In<0> x) const {
    return gy * Scalar{1 / kRootTwoPi} * chainerx::Exp(chainerx::Square(x) * Scalar{-0.5});
}
Array LogNdtr::Grad0(const Array& gy, In<0> x, Out y) const {
    return gy * Scalar{1 / kRootTwoPi} * chainerx::Exp(chainerx::Square(x) * Scalar{-0.5} - y);
}
Array Ndtri::Grad0(const Array& gy, Out y) const {
    return gy * Scalar{kRootTwoPi} * chainerx::Exp(chainerx::Square(y) * Scalar{0.5});
}
Array Lgamma::Grad0(const Array& gy, In<0> x) const { return gy * chainerx::Digamma(x); }
Array Digamma::Grad0(const Array& gy, In<0> x) const { return gy * chainerx::Zeta(FullLike(x, Scalar{2.}), x); }
Array Zeta::Grad1(const Array& gy, In<0> x, In<1> q) const { return -(gy * x * chainerx::Zeta(x + Scalar{1}, q)); }

CHAINERX_SPECIAL_OPS(CHAINERX_INSTANTIATE_ELEMENTWISE)

}  // namespace chainerx::ops
