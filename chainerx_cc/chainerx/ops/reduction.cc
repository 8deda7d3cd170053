#include "chainerx/ops/reduction.h"

#include <algorithm>
#include <limits>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/statistics.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const ReduceKernel kSumKernel{"sum", kTakesComplex};
const ReduceKernel kNansumKernel{"nansum"};
const ReduceKernel kProdKernel{"prod", kTakesComplex};
const ReduceKernel kAmaxKernel{"amax"};
const ReduceKernel kAminKernel{"amin"};
const ReduceKernel kAllKernel{"all", kTakesComplex};
const ReduceKernel kAnyKernel{"any", kTakesComplex};
const ReduceKernel kArgmaxKernel{"argmax"};
const ReduceKernel kArgminKernel{"argmin"};
const ReduceKernel kLogSumExpKernel{"logsumexp"};

namespace {

Array Reduce(const ReduceKernel& kernel, const Array& a, const Axes& axes, bool keepdims, Dtype dtype) {
    Array in = a.dtype() == dtype || dtype == Dtype::kBool ||
                               (dtype == Dtype::kInt64 && &kernel != &kSumKernel && &kernel != &kProdKernel)
                       ? a
                       : AsType(a.AsDetached(), dtype);
    Array out = Empty(ReduceShape(a.shape(), axes, keepdims), dtype, a.device());
    kernel(a.device(), in, axes, out);
    return out;
}

// gy with the reduced axes back as axes of length one.
Array Restore(const Array& gy, const Shape& shape, const Axes& axes) {
    Shape kept = ReduceShape(shape, axes, true);
    return gy.shape() == kept ? gy : Reshape(gy, kept);
}

int64_t CountReduced(const Shape& shape, const Axes& axes) {
    int64_t n = 1;
    for (int8_t i : axes) n *= shape[i];
    return n;
}

void CheckNotEmpty(const char* name, const Array& a, const Axes& axes) {
    if (CountReduced(a.shape(), axes) == 0) {
        throw DimensionError{name, ": an array of shape ", a.shape(), " has no elements along the axes to reduce"};
    }
}

Array SumWith(const ReduceKernel& kernel, const Array& a, const OptionalAxes& axis, bool keepdims) {
    Axes axes = NormalizeAxes(axis, a.ndim());
    return Reduce(kernel, a, axes, keepdims, ToSumDtype(a.dtype()));
}

}  // namespace

CHAINERX_METHOD_ROUTINE(Sum, "sum", "a, axis=None, keepdims=False", "sum", R"(
Sum of elements over axes.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Sums. A floating point dtype and uint64 are kept; other integers and booleans are summed
    in int64.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 6.]])
>>> chainerx.sum(x, axis=0)
array([5., 7., 9.], shape=(3,), dtype=float64, device='native:0')
>>> x.sum(axis=1, keepdims=True).shape
(2, 1)
)");
Array Sum(const Array& a, const OptionalAxes& axis, bool keepdims) {
    Axes axes = NormalizeAxes(axis, a.ndim());
    Array out = Reduce(kSumKernel, a, axes, keepdims, ToSumDtype(a.dtype()));
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("sum", mask, {&a}, {&out}, [axes, s = a.shape()](BackwardContext& ctx) {
            ctx.SetGrad(0, BroadcastTo(Restore(ctx.grad(), s, axes), s));
        });
    }
    return out;
}

CHAINERX_ROUTINE(Nansum, "nansum", "a, axis=None, keepdims=False", "nansum", R"(
Sum of elements over axes, with NaN counted as zero.

Differentiable any number of times; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Sums. A floating point dtype and uint64 are kept; other integers and booleans are summed
    in int64.

Raises:
    @axis_error

>>> chainerx.nansum(chainerx.array([1., chainerx.nan, 3.]))
array(4., shape=(), dtype=float64, device='native:0')
)");
Array Nansum(const Array& a, const OptionalAxes& axis, bool keepdims) {
    if (!IsInexact(a.dtype())) return Sum(a, axis, keepdims);
    if (internal::GetRecordMask(a) != 0 || IsComplex(a.dtype()))
        return Sum(Where(IsNan(a), Scalar{0}, a), axis, keepdims);
    return SumWith(kNansumKernel, a, axis, keepdims);
}

CHAINERX_METHOD_ROUTINE(Prod, "prod", "a, axis=None, keepdims=False", "prod", R"(
Product of elements over axes.

Differentiable any number of times, also where elements are zero.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Products. A floating point dtype and uint64 are kept; other integers and booleans are
    multiplied in int64.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 6.]])
>>> chainerx.prod(x, axis=1)
array([  6., 120.], shape=(2,), dtype=float64, device='native:0')
>>> float(x.prod())
720.0
)");
Array Prod(const Array& a, const OptionalAxes& axis, bool keepdims) {
    Axes axes = NormalizeAxes(axis, a.ndim());
    if (internal::GetRecordMask(a) == 0) return Reduce(kProdKernel, a, axes, keepdims, ToSumDtype(a.dtype()));
    // Differentiable and right for zeros: the product of what is before an element and what is after it.
    Axes order;
    Shape kept = ReduceShape(a.shape(), axes, false);
    for (int8_t i = 0; i < a.ndim(); ++i) {
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
    }
    for (int8_t i : axes) order.push_back(i);
    int64_t n = CountReduced(a.shape(), axes);
    Array rows = Reshape(Transpose(a, order), Shape{kept.GetTotalSize(), n});
    // The product of nothing is one, and belongs to the graph all the same.
    if (n == 0) rows = Sum(rows, Axes{1}, true) + Scalar{1};
    // Halve until one column is left.
    while (rows.shape()[1] > 1) {
        int64_t half = rows.shape()[1] / 2;
        Array left = At(rows, {Slice{}, Slice{0, half, {}}});
        Array right = At(rows, {Slice{}, Slice{half, 2 * half, {}}});
        Array next = left * right;
        if (rows.shape()[1] % 2 != 0) next = Concatenate({next, At(rows, {Slice{}, Slice{2 * half, {}, {}}})}, 1);
        rows = next;
    }
    return Reshape(rows, ReduceShape(a.shape(), axes, keepdims));
}

CHAINERX_METHOD_ROUTINE(Mean, "mean", "a, axis=None, keepdims=False", "", R"(
Arithmetic mean :math:`\mu = \frac{1}{n} \sum_i a_i` over axes.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Means, not-a-number where there are no elements. A floating point dtype is kept; integers
    and booleans give float32.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 6.]])
>>> chainerx.mean(x, axis=1)
array([2., 5.], shape=(2,), dtype=float64, device='native:0')
>>> float(x.mean())
3.5
)");
Array Mean(const Array& a, const OptionalAxes& axis, bool keepdims) {
    if (Dtype wide = ToWideDtype(a.dtype()); wide != a.dtype()) {
        return AsType(Mean(AsType(a, wide), axis, keepdims), ToFloatDtype(a.dtype()));
    }
    Axes axes = NormalizeAxes(axis, a.ndim());
    return Sum(a, axes, keepdims) * Scalar{1.0 / static_cast<double>(CountReduced(a.shape(), axes))};
}

CHAINERX_METHOD_ROUTINE(Var, "var", "a, axis=None, keepdims=False, correction=0", "", R"(
Variance :math:`\frac{1}{n - c} \sum_i (a_i - \mu)^2` over axes; its bias has no correction :math:`c` unless given.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims
    correction (float): What is taken off the number :math:`n` of elements, by which the sum is divided.

Returns:
    ~chainerx.ndarray: Variances. A floating point dtype is kept; integers and booleans give float32.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 9.]])
>>> chainerx.var(x, axis=1)
array([0.66666667, 4.66666667], shape=(2,), dtype=float64, device='native:0')
>>> x.var(axis=1, keepdims=True).shape
(2, 1)
)");
Array Var(const Array& a, const OptionalAxes& axis, bool keepdims, double correction) {
    if (Dtype wide = ToWideDtype(a.dtype()); wide != a.dtype()) {
        return AsType(Var(AsType(a, wide), axis, keepdims, correction), ToFloatDtype(a.dtype()));
    }
    Axes axes = NormalizeAxes(axis, a.ndim());
    Array deviation = a - Mean(a, axes, true);
    Array squares = Square(IsComplex(a.dtype()) ? Absolute(deviation) : deviation);
    if (correction == 0) return Mean(squares, axes, keepdims);
    // As in NumPy, no degrees of freedom give infinity or not-a-number.
    double freedom = std::max(static_cast<double>(CountReduced(a.shape(), axes)) - correction, 0.0);
    return Sum(squares, axes, keepdims) / Scalar{freedom};
}

CHAINERX_METHOD_ROUTINE(Std, "std", "a, axis=None, keepdims=False, correction=0", "", R"(
Standard deviation over axes: the square root of the variance, without correction of its bias unless given.

Differentiable any number of times where it is not zero.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims
    correction (float): What is taken off the number :math:`n` of elements, by which the sum is divided.

Returns:
    ~chainerx.ndarray: Standard deviations. A floating point dtype is kept; integers and booleans give float32.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 9.]])
>>> chainerx.std(x, axis=1)
array([0.81649658, 2.1602469 ], shape=(2,), dtype=float64, device='native:0')
>>> x.std(axis=1, keepdims=True).shape
(2, 1)
)");
Array Std(const Array& a, const OptionalAxes& axis, bool keepdims, double correction) {
    return Sqrt(Var(a, axis, keepdims, correction));
}

namespace {

Array Extreme(const char* name, const ReduceKernel& kernel, const Array& a, const OptionalAxes& axis, bool keepdims) {
    Axes axes = NormalizeAxes(axis, a.ndim());
    CheckNotEmpty(name, a, axes);
    Array out = Reduce(kernel, a, axes, keepdims, a.dtype());
    if (GraphMask mask = internal::GetRecordMask(a)) {
        // Every element that attains the extreme gets the gradient.
        Array at = Equal(a.AsDetached(), Restore(out.AsDetached(), a.shape(), axes));
        internal::Record(name, mask, {&a}, {&out}, [axes, at, s = a.shape()](BackwardContext& ctx) {
            ctx.SetGrad(0, Where(at, Restore(ctx.grad(), s, axes), Scalar{0}));
        });
    }
    return out;
}

Array ArgExtreme(const char* name, const ReduceKernel& kernel, const Array& a, const std::optional<int64_t>& axis) {
    Axes axes = axis.has_value() ? Axes{NormalizeAxis(*axis, a.ndim())} : NormalizeAxes(std::nullopt, a.ndim());
    CheckNotEmpty(name, a, axes);
    return Reduce(kernel, a, axes, false, Dtype::kInt64);
}

Array DataWithoutNan(const Array& a, double value) {
    return IsFloat(a.dtype()) ? Where(IsNan(a.AsDetached()), Scalar{value}, a.AsDetached()) : a;
}

}  // namespace

CHAINERX_ROUTINE(AMax, "amax", "a, axis=None, keepdims=False", "amax", R"(
Largest element over axes; not-a-number wins. Also called ``max``.

Differentiable any number of times. Every element that attains the maximum gets the whole gradient.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Largest elements, of the dtype of ``a``.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or an axis is out of range or given twice.

>>> x = chainerx.array([[1., 5., 3.], [4., 2., 6.]])
>>> chainerx.amax(x, axis=0)
array([4., 5., 6.], shape=(3,), dtype=float64, device='native:0')
)");
Array AMax(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Extreme("amax", kAmaxKernel, a, axis, keepdims);
}

CHAINERX_ROUTINE(AMin, "amin", "a, axis=None, keepdims=False", "amin", R"(
Smallest element over axes; not-a-number wins. Also called ``min``.

Differentiable any number of times. Every element that attains the minimum gets the whole gradient.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Smallest elements, of the dtype of ``a``.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or an axis is out of range or given twice.

>>> x = chainerx.array([[1., 5., 3.], [4., 2., 6.]])
>>> chainerx.amin(x, axis=0)
array([1., 2., 3.], shape=(3,), dtype=float64, device='native:0')
)");
Array AMin(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Extreme("amin", kAminKernel, a, axis, keepdims);
}

CHAINERX_METHOD_ROUTINE(ArgMax, "argmax", "a, axis=None", "argmax", R"(
Index of the largest element along an axis, the first one of several.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; the flattened array is searched unless given.

Returns:
    ~chainerx.ndarray: Indices, of dtype int64.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or the axis is out of range.

>>> x = chainerx.array([[1., 5., 3.], [4., 2., 6.]])
>>> chainerx.argmax(x, axis=1)
array([1, 2], shape=(2,), dtype=int64, device='native:0')
>>> int(x.argmax())
5
)");
Array ArgMax(const Array& a, const std::optional<int64_t>& axis) {
    return ArgExtreme("argmax", kArgmaxKernel, a, axis);
}

CHAINERX_METHOD_ROUTINE(ArgMin, "argmin", "a, axis=None", "argmin", R"(
Index of the smallest element along an axis, the first one of several.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; the flattened array is searched unless given.

Returns:
    ~chainerx.ndarray: Indices, of dtype int64.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or the axis is out of range.

>>> x = chainerx.array([[1., 5., 3.], [4., 2., 6.]])
>>> chainerx.argmin(x, axis=1)
array([0, 1], shape=(2,), dtype=int64, device='native:0')
>>> int(x.argmin())
0
)");
Array ArgMin(const Array& a, const std::optional<int64_t>& axis) {
    return ArgExtreme("argmin", kArgminKernel, a, axis);
}

CHAINERX_ROUTINE(NanArgMax, "nanargmax", "a, axis=None", "argmax", R"(
Index of the largest element along an axis, ignoring NaN.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; the flattened array is searched unless given.

Returns:
    ~chainerx.ndarray: Indices, of dtype int64.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or the axis is out of range.

>>> chainerx.nanargmax(chainerx.array([1., chainerx.nan, 3.]))
array(2, shape=(), dtype=int64, device='native:0')
)");
Array NanArgMax(const Array& a, const std::optional<int64_t>& axis) {
    return ArgExtreme("nanargmax", kArgmaxKernel, DataWithoutNan(a, -std::numeric_limits<double>::infinity()), axis);
}

CHAINERX_ROUTINE(NanArgMin, "nanargmin", "a, axis=None", "argmin", R"(
Index of the smallest element along an axis, ignoring NaN.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; the flattened array is searched unless given.

Returns:
    ~chainerx.ndarray: Indices, of dtype int64.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or the axis is out of range.

>>> chainerx.nanargmin(chainerx.array([chainerx.nan, 2., 1.]))
array(2, shape=(), dtype=int64, device='native:0')
)");
Array NanArgMin(const Array& a, const std::optional<int64_t>& axis) {
    return ArgExtreme("nanargmin", kArgminKernel, DataWithoutNan(a, std::numeric_limits<double>::infinity()), axis);
}

CHAINERX_METHOD_ROUTINE(All, "all", "x|a, axis=None, keepdims=False", "all", R"(
Whether all elements over axes are nonzero.

Not differentiable.

Args:
    x (~chainerx.ndarray): Array of any dtype. May also be given as the keyword ``a``.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Booleans; true where there are no elements.

Raises:
    @axis_error

>>> x = chainerx.array([[True, True], [True, False]])
>>> chainerx.all(x, axis=0)
array([ True, False], shape=(2,), dtype=bool, device='native:0')
>>> x.all().item()
False
)");
Array All(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Reduce(kAllKernel, a, NormalizeAxes(axis, a.ndim()), keepdims, Dtype::kBool);
}

CHAINERX_METHOD_ROUTINE(Any, "any", "x|a, axis=None, keepdims=False", "any", R"(
Whether any element over axes is nonzero.

Not differentiable.

Args:
    x (~chainerx.ndarray): Array of any dtype. May also be given as the keyword ``a``.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Booleans; false where there are no elements.

Raises:
    @axis_error

>>> x = chainerx.array([[False, True], [False, False]])
>>> chainerx.any(x, axis=0)
array([False,  True], shape=(2,), dtype=bool, device='native:0')
>>> x.any().item()
True
)");
Array Any(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Reduce(kAnyKernel, a, NormalizeAxes(axis, a.ndim()), keepdims, Dtype::kBool);
}

CHAINERX_ROUTINE(CountNonzero, "count_nonzero", "a, axis=None", "", R"(
Number of nonzero elements over axes.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes

Returns:
    ~chainerx.ndarray: Counts, of dtype int64.

Raises:
    @axis_error

>>> chainerx.count_nonzero(chainerx.array([[0, 1], [2, 3]]), axis=0)
array([1, 2], shape=(2,), dtype=int64, device='native:0')
)");
Array CountNonzero(const Array& a, const OptionalAxes& axis) {
    return Sum(NotEqual(a.AsDetached(), Scalar{false}), axis);
}

CHAINERX_ROUTINE(LogSumExp, "logsumexp", "x, axis=None, keepdims=False", "logsumexp", R"(
Logarithm of the sum of exponentials :math:`\log \sum_i e^{x_i}` over axes, without overflow.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Results. A floating point dtype is kept; integers and booleans give float32.

Raises:
    @axis_error

>>> chainerx.logsumexp(chainerx.array([[1., 2.], [1000., 1000.]]), axis=1)
array([   2.31326169, 1000.69314718], shape=(2,), dtype=float64, device='native:0')
)");
Array LogSumExp(const Array& a, const OptionalAxes& axis, bool keepdims) {
    Array x = AsType(a, ToFloatDtype(a.dtype()), false);
    Axes axes = NormalizeAxes(axis, x.ndim());
    Array out = Reduce(kLogSumExpKernel, x, axes, keepdims, x.dtype());
    if (GraphMask mask = internal::GetRecordMask(x)) {
        Saved kept{x};
        Saved kept_out{out.AsDetached()};
        internal::Record("logsumexp", mask, {&x}, {&out}, [axes, kept, kept_out](BackwardContext& ctx) {
            const Array& in = kept.Get();
            Array y = Restore(ctx.RetainedOutput(kept_out, 0), in.shape(), axes);
            ctx.SetGrad(0, Restore(ctx.grad(), in.shape(), axes) * Exp(in - y));
        });
    }
    return out;
}

}  // namespace chainerx
