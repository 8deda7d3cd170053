// Cumulative sums and products.

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const ScanKernel kCumsumKernel{"cumsum"};
const ScanKernel kCumprodKernel{"cumprod"};

namespace {

Array Scan(const ScanKernel& kernel, const Array& a, int8_t axis) {
    // As in sums.
    Dtype dtype = IsFloat(a.dtype()) ? a.dtype() : Dtype::kInt64;
    Array out = Empty(a.shape(), dtype, a.device());
    kernel(a.device(), AsType(a.AsDetached(), dtype, false), axis, out);
    return out;
}

}  // namespace

CHAINERX_METHOD_ROUTINE(Cumsum, "cumsum", "a, axis=None", "cumsum", R"(
Cumulative sum :math:`y_i = a_0 + \dots + a_i` along an axis.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; the flattened array is summed unless given.

Returns:
    ~chainerx.ndarray: Sums, of the shape of ``a``, or one-dimensional without ``axis``. A floating point dtype is
    kept; integers and booleans are summed in int64.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.cumsum(x, axis=0)
array([[1., 2.],
       [4., 6.]], shape=(2, 2), dtype=float64, device='native:0')
>>> x.cumsum()
array([ 1.,  3.,  6., 10.], shape=(4,), dtype=float64, device='native:0')
)");
Array Cumsum(const Array& a, const std::optional<int64_t>& axis) {
    if (!axis.has_value()) return Cumsum(Ravel(a), 0);
    int8_t ax = NormalizeAxis(*axis, a.ndim());
    Array out = Scan(kCumsumKernel, a, ax);
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("cumsum", mask, {&a}, {&out}, [ax](BackwardContext& ctx) {
            ctx.SetGrad(0, Flip(Cumsum(Flip(ctx.grad(), Axes{ax}), ax), Axes{ax}));
        });
    }
    return out;
}

CHAINERX_METHOD_ROUTINE(Cumprod, "cumprod", "a, axis=None", "cumprod", R"(
Cumulative product :math:`y_i = a_0 \cdots a_i` along an axis.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; the flattened array is multiplied unless given.

Returns:
    ~chainerx.ndarray: Products, of the shape of ``a``, or one-dimensional without ``axis``. A floating point dtype
    is kept; integers and booleans are multiplied in int64.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> chainerx.cumprod(x, axis=0)
array([[1., 2.],
       [3., 8.]], shape=(2, 2), dtype=float64, device='native:0')
>>> x.cumprod()
array([ 1.,  2.,  6., 24.], shape=(4,), dtype=float64, device='native:0')
)");
Array Cumprod(const Array& a, const std::optional<int64_t>& axis) {
    if (!axis.has_value()) return Cumprod(Ravel(a), 0);
    int8_t ax = NormalizeAxis(*axis, a.ndim());
    Array out = Scan(kCumprodKernel, a, ax);
    if (GraphMask mask = internal::GetRecordMask(a)) {
        Saved kept{a};
        internal::Record("cumprod", mask, {&a}, {&out}, [ax, kept](BackwardContext& ctx) {
            // Of the elements that differ from zero; where products contain zeros the quotient is not defined.
            const Array& x = kept.Get();
            Array weighted = ctx.grad() * Cumprod(x, ax);
            ctx.SetGrad(0, Flip(Cumsum(Flip(weighted, Axes{ax}), ax), Axes{ax}) / x);
        });
    }
    return out;
}

}  // namespace chainerx
