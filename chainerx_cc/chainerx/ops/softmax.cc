// Softmax and its logarithm.

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const SoftmaxKernel kSoftmaxKernel{"softmax"};
const SoftmaxKernel kLogSoftmaxKernel{"log_softmax"};
const SoftmaxGradKernel kSoftmaxGradKernel{"softmax_grad"};
const SoftmaxGradKernel kLogSoftmaxGradKernel{"log_softmax_grad"};

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

CHAINERX_ROUTINE(Softmax, "softmax", "x, axis=None", "softmax softmax_grad", R"(
Softmax :math:`y_i = e^{x_i} / \sum_j e^{x_j}`.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.
    axis (None, int or tuple of int): Axes along which the results sum to one; unless given, axis 1, or axis 0
        of an array of one dimension.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``. A floating point dtype is kept; integers and booleans give a
    floating point dtype.

Raises:
    @axis_error

>>> chainerx.softmax(chainerx.array([[0., 1., 2.]]))
array([[0.09003057, 0.24472847, 0.66524096]], shape=(1, 3), dtype=float64, device='native:0')
)");
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

CHAINERX_ROUTINE(LogSoftmax, "log_softmax", "x, axis=None", "log_softmax log_softmax_grad", R"(
Logarithm of the softmax, :math:`y_i = x_i - \log \sum_j e^{x_j}`.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.
    axis (None, int or tuple of int): Axes that are normalized; unless given, axis 1, or axis 0 of an array of
        one dimension.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``. A floating point dtype is kept; integers and booleans give a
    floating point dtype.

Raises:
    @axis_error

>>> chainerx.log_softmax(chainerx.array([[0., 1., 2.]]))
array([[-2.40760596, -1.40760596, -0.40760596]], shape=(1, 3), dtype=float64, device='native:0')
)");
Array LogSoftmax(const Array& a, const OptionalAxes& axis) {
    Array x = ToFloat(a);
    Axes axes = SoftmaxAxes(x, axis);
    if (axes.ndim() != 1) return x - LogSumExp(x, axes, true);
    return AlongAxis("log_softmax", kLogSoftmaxKernel, kLogSoftmaxGradKernel, x, axes[0],
                     [axes](const Array& y, const Array& gy) { return gy - Exp(y) * Sum(gy, axes, true); });
}

}  // namespace chainerx
