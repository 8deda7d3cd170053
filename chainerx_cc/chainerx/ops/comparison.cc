#include "chainerx/ops/comparison.h"

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise_impl.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/statistics.h"

namespace chainerx::ops {

CHAINERX_COMPARISON_OPS(CHAINERX_INSTANTIATE_ELEMENTWISE)

}  // namespace chainerx::ops

namespace chainerx {
namespace {

Array BothNan(const Array& a, const Array& b) { return LogicalAnd(IsNan(a), IsNan(b)); }

}  // namespace

CHAINERX_ROUTINE(IsClose, "isclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False", "", R"(
Whether elements are nearly equal, :math:`|a - b| \le atol + rtol \, |b|`.

Infinite elements are close to themselves only. Differences are taken in float64, those of float16 and float32 in
float32. Not differentiable.

Args:
    a, b (~chainerx.ndarray or number): Arrays of any dtype whose shapes broadcast; one may be a number.
    rtol, atol (float): Tolerances, relative to ``b`` and absolute.
    equal_nan (bool): Whether not-a-number is close to itself.

Returns:
    ~chainerx.ndarray: Array of the broadcast shape, of booleans.

Raises:
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> chainerx.isclose(chainerx.array([1., 2.]), chainerx.array([1. + 1e-9, 2.1]))
array([ True, False], shape=(2,), dtype=bool, device='native:0')
)");
Array IsClose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
    const Operand inputs[] = {a, b};
    if (!a.is_array() && !b.is_array()) throw TypeError{"isclose needs at least one array among its arguments"};
    Device& device = (a.is_array() ? a : b).array().device();
    Dtype dtype = ToWideDtype(internal::ResolveElementwiseDtype(ops::Equal::Info(), inputs, 2));
    auto widen = [&](const Operand& x) {
        return x.is_array() ? AsType(x.array().AsDetached(), dtype, false) : FilledArray({}, x.scalar(), dtype, device);
    };
    Array x = widen(a);
    Array y = widen(b);
    Array within = LessEqual(Absolute(x - y), Absolute(y) * Scalar{rtol} + Scalar{atol});
    Array out = LogicalOr(LogicalAnd(within, IsFinite(y)), Equal(x, y));
    return equal_nan ? LogicalOr(out, BothNan(x, y)) : out;
}

CHAINERX_ROUTINE(AllClose, "allclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False", "", R"(
Whether all elements are nearly equal, as :func:`chainerx.isclose` says. Not differentiable.

Args:
    a, b (~chainerx.ndarray or number): Arrays of any dtype whose shapes broadcast; one may be a number.
    rtol, atol (float): Tolerances, relative to ``b`` and absolute.
    equal_nan (bool): Whether not-a-number is close to itself.

Returns:
    bool: Whether they are. Waits for the arrays.

Raises:
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> x = chainerx.array([1., 2.])
>>> chainerx.allclose(x, x + 1e-9)
True
)");
bool AllClose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
    return static_cast<bool>(AsScalar(All(IsClose(a, b, rtol, atol, equal_nan))));
}

CHAINERX_ROUTINE(ArrayEqual, "array_equal", "a1, a2, equal_nan=False", "", R"(
Whether two arrays have the same shape and elements. Not differentiable.

Args:
    a1, a2 (~chainerx.ndarray): Arrays of any dtype.
    equal_nan (bool): Whether not-a-number equals itself.

Returns:
    bool: Whether they are equal. Waits for the arrays.

>>> chainerx.array_equal(chainerx.array([1, 2]), chainerx.array([1., 2.]))
True
>>> chainerx.array_equal(chainerx.array([1, 2]), chainerx.array([[1, 2]]))
False
)");
bool ArrayEqual(const Array& a, const Array& b, bool equal_nan) {
    CheckDevices(a, b);
    if (a.shape() != b.shape()) return false;
    Array equal = Equal(a.AsDetached(), b.AsDetached());
    if (equal_nan) equal = LogicalOr(equal, BothNan(a.AsDetached(), b.AsDetached()));
    return static_cast<bool>(AsScalar(All(equal)));
}

}  // namespace chainerx
