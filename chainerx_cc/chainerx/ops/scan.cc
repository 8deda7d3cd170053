// Cumulative sums and products, and differences.

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const ScanKernel kCumsumKernel{"cumsum", kTakesComplex};
const ScanKernel kCumprodKernel{"cumprod", kTakesComplex};

namespace {

Array Scan(const ScanKernel& kernel, const Array& a, int8_t axis) {
    Dtype dtype = ToSumDtype(a.dtype());
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
    ~chainerx.ndarray: Sums, of the shape of ``a``, or one-dimensional without ``axis``. A floating point dtype and
    uint64 are kept; other integers and booleans are summed in int64.

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

CHAINERX_ROUTINE(Diff, "diff", "a, n=1, axis=-1, prepend=None, append=None", "", R"(
Differences of neighbours :math:`y_i = a_{i+1} - a_i` along an axis.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    n (int): How often differences are taken.
    axis (int): Axis.
    prepend, append (~chainerx.ndarray or None): Arrays to join to the ends of ``a`` along the axis first.

Returns:
    ~chainerx.ndarray: Differences, of the dtype of ``a`` and by ``n`` shorter along the axis. Two booleans differ
    if they are not equal.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.
    ValueError: If ``n`` is negative.

>>> x = chainerx.array([1., 4., 9., 16.])
>>> chainerx.diff(x)
array([3., 5., 7.], shape=(3,), dtype=float64, device='native:0')
>>> chainerx.diff(x, n=2)
array([2., 2.], shape=(2,), dtype=float64, device='native:0')
)");
Array Diff(const Array& a, int64_t n, int64_t axis, const std::optional<Array>& prepend,
           const std::optional<Array>& append) {
    if (n < 0) throw ValueError{"diff: n must not be negative, but is ", n};
    if (n == 0) return a;
    int8_t ax = NormalizeAxis(axis, a.ndim());
    Array out = a;
    if (prepend.has_value()) out = Concatenate({*prepend, out}, ax);
    if (append.has_value()) out = Concatenate({out, *append}, ax);
    // Each step shortens the axis, so a large n ends early.
    for (; n > 0 && out.shape()[ax] > 0; --n) {
        ArrayIndices rest(ax + 1, Slice{});
        ArrayIndices first = rest;
        rest.back() = Slice{1, std::nullopt, std::nullopt};
        first.back() = Slice{std::nullopt, -1, std::nullopt};
        Array right = At(out, rest);
        Array left = At(out, first);
        out = out.dtype() == Dtype::kBool ? NotEqual(right, left) : right - left;
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
    and uint64 are kept; other integers and booleans are multiplied in int64.

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
            Array x = Conj(kept.Get());
            Array weighted = ctx.grad() * Cumprod(x, ax);
            ctx.SetGrad(0, Flip(Cumsum(Flip(weighted, Axes{ax}), ax), Axes{ax}) / x);
        });
    }
    return out;
}

}  // namespace chainerx
