#include "chainerx/ops/trigonometric.h"

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise_impl.h"
#include "chainerx/ops/explog.h"

namespace chainerx::ops {

Array Sin::Grad0(const Array& gy, In<0> x) const { return gy * chainerx::Cos(x); }
Array Cos::Grad0(const Array& gy, In<0> x) const { return -(gy * chainerx::Sin(x)); }
Array Tan::Grad0(const Array& gy, Out y) const { return gy * (chainerx::Square(y) + Scalar{1}); }
Array Arcsin::Grad0(const Array& gy, In<0> x) const { return gy / chainerx::Sqrt(Scalar{1} - chainerx::Square(x)); }
Array Arccos::Grad0(const Array& gy, In<0> x) const { return -(gy / chainerx::Sqrt(Scalar{1} - chainerx::Square(x))); }
Array Arctan::Grad0(const Array& gy, In<0> x) const { return gy / (chainerx::Square(x) + Scalar{1}); }
Array Arctan2::Grad0(const Array& gy, In<0> x1, In<1> x2) const {
    return gy * x2 / (chainerx::Square(x1) + chainerx::Square(x2));
}
Array Arctan2::Grad1(const Array& gy, In<0> x1, In<1> x2) const {
    return -(gy * x1 / (chainerx::Square(x1) + chainerx::Square(x2)));
}
Array Sinh::Grad0(const Array& gy, In<0> x) const { return gy * chainerx::Cosh(x); }
Array Cosh::Grad0(const Array& gy, In<0> x) const { return gy * chainerx::Sinh(x); }
Array Tanh::Grad0(const Array& gy, Out y) const { return gy * (Scalar{1} - chainerx::Square(y)); }
Array Arcsinh::Grad0(const Array& gy, In<0> x) const { return gy / chainerx::Sqrt(chainerx::Square(x) + Scalar{1}); }
Array Arccosh::Grad0(const Array& gy, In<0> x) const {
    // One root of the product would be of the other sign for complex numbers on the left.
    if (IsComplex(x.dtype())) return gy / (chainerx::Sqrt(x + Scalar{1}) * chainerx::Sqrt(x - Scalar{1}));
    return gy / chainerx::Sqrt(chainerx::Square(x) - Scalar{1});
}
Array Arctanh::Grad0(const Array& gy, In<0> x) const { return gy / (Scalar{1} - chainerx::Square(x)); }

CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_INSTANTIATE_ELEMENTWISE)

}  // namespace chainerx::ops
