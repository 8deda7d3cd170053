#include "chainerx/ops/reduction.h"

#include <limits>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const ReduceKernel kSumKernel{"sum"};
const ReduceKernel kNansumKernel{"nansum"};
const ReduceKernel kProdKernel{"prod"};
const ReduceKernel kAmaxKernel{"amax"};
const ReduceKernel kAminKernel{"amin"};
const ReduceKernel kAllKernel{"all"};
const ReduceKernel kAnyKernel{"any"};
const ReduceKernel kArgmaxKernel{"argmax"};
const ReduceKernel kArgminKernel{"argmin"};
const ReduceKernel kLogSumExpKernel{"logsumexp"};
const ScanKernel kCumsumKernel{"cumsum"};
const ScanKernel kCumprodKernel{"cumprod"};
const SoftmaxKernel kSoftmaxKernel{"softmax"};
const SoftmaxKernel kLogSoftmaxKernel{"log_softmax"};
const SoftmaxGradKernel kSoftmaxGradKernel{"softmax_grad"};
const SoftmaxGradKernel kLogSoftmaxGradKernel{"log_softmax_grad"};

namespace {

// Sums of small integers and booleans are computed in int64, as in NumPy.
Dtype SumDtype(Dtype d) { return IsFloat(d) ? d : Dtype::kInt64; }

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
    return Reduce(kernel, a, axes, keepdims, SumDtype(a.dtype()));
}

}  // namespace

Array Sum(const Array& a, const OptionalAxes& axis, bool keepdims) {
    Axes axes = NormalizeAxes(axis, a.ndim());
    Array out = Reduce(kSumKernel, a, axes, keepdims, SumDtype(a.dtype()));
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("sum", mask, {&a}, {&out}, [axes, s = a.shape()](BackwardContext& ctx) {
            ctx.SetGrad(0, BroadcastTo(Restore(ctx.grad(), s, axes), s));
        });
    }
    return out;
}

Array Nansum(const Array& a, const OptionalAxes& axis, bool keepdims) {
    if (!IsFloat(a.dtype())) return Sum(a, axis, keepdims);
    if (internal::GetRecordMask(a) != 0) return Sum(Where(IsNan(a), Scalar{0}, a), axis, keepdims);
    return SumWith(kNansumKernel, a, axis, keepdims);
}

Array Prod(const Array& a, const OptionalAxes& axis, bool keepdims) {
    Axes axes = NormalizeAxes(axis, a.ndim());
    if (internal::GetRecordMask(a) == 0) return Reduce(kProdKernel, a, axes, keepdims, SumDtype(a.dtype()));
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

Array Mean(const Array& a, const OptionalAxes& axis, bool keepdims) {
    // A sum of half precision may overflow where the mean does not.
    if (a.dtype() == Dtype::kFloat16) return AsType(Mean(AsType(a, Dtype::kFloat32), axis, keepdims), a.dtype());
    Axes axes = NormalizeAxes(axis, a.ndim());
    Dtype dtype = IsFloat(a.dtype()) ? a.dtype() : Dtype::kFloat64;
    Array sum = Sum(AsType(a, dtype, false), axes, keepdims);
    return sum * Scalar{1.0 / static_cast<double>(CountReduced(a.shape(), axes))};
}

Array Var(const Array& a, const OptionalAxes& axis, bool keepdims) {
    if (a.dtype() == Dtype::kFloat16) return AsType(Var(AsType(a, Dtype::kFloat32), axis, keepdims), a.dtype());
    Axes axes = NormalizeAxes(axis, a.ndim());
    return Mean(Square(a - Mean(a, axes, true)), axes, keepdims);
}

Array Std(const Array& a, const OptionalAxes& axis, bool keepdims) { return Sqrt(Var(a, axis, keepdims)); }

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

Array ReplaceNan(const Array& a, double value) {
    return IsFloat(a.dtype()) ? Where(IsNan(a.AsDetached()), Scalar{value}, a.AsDetached()) : a;
}

}  // namespace

Array AMax(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Extreme("amax", kAmaxKernel, a, axis, keepdims);
}
Array AMin(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Extreme("amin", kAminKernel, a, axis, keepdims);
}
Array ArgMax(const Array& a, const std::optional<int64_t>& axis) {
    return ArgExtreme("argmax", kArgmaxKernel, a, axis);
}
Array ArgMin(const Array& a, const std::optional<int64_t>& axis) {
    return ArgExtreme("argmin", kArgminKernel, a, axis);
}
Array NanArgMax(const Array& a, const std::optional<int64_t>& axis) {
    return ArgExtreme("nanargmax", kArgmaxKernel, ReplaceNan(a, -std::numeric_limits<double>::infinity()), axis);
}
Array NanArgMin(const Array& a, const std::optional<int64_t>& axis) {
    return ArgExtreme("nanargmin", kArgminKernel, ReplaceNan(a, std::numeric_limits<double>::infinity()), axis);
}

Array All(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Reduce(kAllKernel, a, NormalizeAxes(axis, a.ndim()), keepdims, Dtype::kBool);
}
Array Any(const Array& a, const OptionalAxes& axis, bool keepdims) {
    return Reduce(kAnyKernel, a, NormalizeAxes(axis, a.ndim()), keepdims, Dtype::kBool);
}

Array CountNonzero(const Array& a, const OptionalAxes& axis) {
    return Sum(NotEqual(a.AsDetached(), Scalar{false}), axis);
}

namespace {

Array Scan(const ScanKernel& kernel, const Array& a, int8_t axis) {
    Dtype dtype = SumDtype(a.dtype());
    Array out = Empty(a.shape(), dtype, a.device());
    kernel(a.device(), AsType(a.AsDetached(), dtype, false), axis, out);
    return out;
}

}  // namespace

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

namespace {

Array ToFloat(const Array& x) { return AsType(x, ToFloatDtype(x.dtype()), false); }

// The axes of softmax and its relatives: all but the first by default.
Axes SoftmaxAxes(const Array& x, const OptionalAxes& axis) {
    if (axis.has_value()) return NormalizeAxes(axis, x.ndim());
    if (x.ndim() < 2) return NormalizeAxes(std::nullopt, x.ndim());
    return Axes{1};
}

// The output of a kernel, and its gradient: by a kernel, or where that must have a gradient itself by `compose`, a
// function of the output and its gradient.
template <class Compose>
Array AlongAxis(const char* name, const SoftmaxKernel& kernel, const SoftmaxGradKernel& grad_kernel, const Array& x,
                int8_t axis, Compose&& compose) {
    Array out = Empty(x.shape(), x.dtype(), x.device());
    kernel(x.device(), AsContiguous(x.AsDetached()), axis, out);
    if (GraphMask mask = internal::GetRecordMask(x)) {
        Saved kept{out.AsDetached()};
        internal::Record(name, mask, {&x}, {&out}, [axis, kept, &grad_kernel, compose](BackwardContext& ctx) {
            Array y = ctx.RetainedOutput(kept, 0);
            const Array& gy = ctx.grad();
            if (internal::GetRecordMask({&y, &gy}) != 0) return ctx.SetGrad(0, compose(y, gy));
            Array gx = EmptyLike(y);
            grad_kernel(y.device(), AsContiguous(y.AsDetached()), AsContiguous(gy.AsDetached()), axis, gx);
            ctx.SetGrad(0, gx);
        });
    }
    return out;
}

}  // namespace

Array LogSumExp(const Array& a, const OptionalAxes& axis, bool keepdims) {
    Array x = ToFloat(a);
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

Array Softmax(const Array& a, const OptionalAxes& axis) {
    Array x = ToFloat(a);
    Axes axes = SoftmaxAxes(x, axis);
    if (axes.ndim() != 1) return Exp(LogSoftmax(x, axes));
    return AlongAxis("softmax", kSoftmaxKernel, kSoftmaxGradKernel, x, axes[0],
                     [axes](const Array& y, const Array& gy) {
                         Array weighted = gy * y;
                         return weighted - y * Sum(weighted, axes, true);
                     });
}

Array LogSoftmax(const Array& a, const OptionalAxes& axis) {
    Array x = ToFloat(a);
    Axes axes = SoftmaxAxes(x, axis);
    if (axes.ndim() != 1) return x - LogSumExp(x, axes, true);
    return AlongAxis("log_softmax", kLogSoftmaxKernel, kLogSoftmaxGradKernel, x, axes[0],
                     [axes](const Array& y, const Array& gy) { return gy - Exp(y) * Sum(gy, axes, true); });
}

}  // namespace chainerx
