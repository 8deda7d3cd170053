#include "chainerx/ops/normalization.h"

#include <algorithm>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const BatchNormKernel kBatchNormKernel{"batch_norm"};
const BatchNormGradKernel kBatchNormGradKernel{"batch_norm_grad"};
const FixedBatchNormKernel kFixedBatchNormKernel{"fixed_batch_norm"};
const LayerNormKernel kLayerNormKernel{"layer_norm"};
const BatchNormGradKernel kLayerNormGradKernel{"layer_norm_grad"};

namespace {

// Sums and statistics are not taken in half precision.
Dtype GetStatisticsDtype(const Array& x, const Array& gamma) {
    return PromoteTypes(PromoteTypes(x.dtype(), gamma.dtype()), Dtype::kFloat32);
}

Array Cast(const Array& a, Dtype dtype) { return a.dtype() == dtype ? a : AsType(a, dtype); }

// ---------------------------------------------------------------- axes

// How x is seen as (batch, channels, spatial).
struct Layout {
    Axes order;   // axes of x in the order of the seen array, empty if they are in order
    Shape shape;  // of x with the axes in that order
    Shape channels;
    int64_t outer{1};
    int64_t inner{1};

    Array See(const Array& x) const {
        Shape seen{outer, channels.GetTotalSize(), inner};
        return Reshape(order.empty() ? x : Transpose(x, order), seen);
    }
    Array Restore(const Array& y) const {
        Array out = Reshape(y, shape);
        if (order.empty()) return out;
        Axes inverse(order.ndim(), 0);
        for (int8_t i = 0; i < order.ndim(); ++i) inverse[order[i]] = i;
        return Transpose(out, inverse);
    }
};

Layout MakeLayout(const char* op, const Array& x, const Array& gamma, const OptionalAxes& axis) {
    Axes reduced;
    if (axis.has_value()) {
        reduced = NormalizeAxes(axis, x.ndim());
    } else {
        for (int8_t i = 0; i < x.ndim(); ++i) {
            if (i == 0 || i > gamma.ndim()) reduced.push_back(i);
        }
    }
    Axes kept;
    Layout l;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (std::find(reduced.begin(), reduced.end(), i) == reduced.end()) {
            kept.push_back(i);
            l.channels.push_back(x.shape()[i]);
        }
    }
    if (reduced.empty()) throw DimensionError{op, ": there is no axis to normalize over, x has shape ", x.shape()};
    if (l.channels != gamma.shape()) {
        throw DimensionError{op,         ": gamma has shape ", gamma.shape(), ", expected ",
                             l.channels, " with x of shape ",  x.shape()};
    }
    // The channels' axes in one piece need no transposition.
    bool in_order = kept.empty() || kept[kept.ndim() - 1] - kept[0] + 1 == kept.ndim();
    int8_t split = in_order && !kept.empty() ? kept[0] : reduced.ndim();  // axes before the channels
    for (int8_t i = 0; i < reduced.ndim(); ++i) (i < split ? l.outer : l.inner) *= x.shape()[reduced[i]];
    l.shape = x.shape();
    if (!in_order) {
        l.order = reduced;
        for (int8_t i : kept) l.order.push_back(i);
        for (int8_t i = 0; i < x.ndim(); ++i) l.shape[i] = x.shape()[l.order[i]];
    }
    return l;
}

void CheckFloat(const char* op, const char* name, const Array& a) {
    if (!IsFloat(a.dtype())) throw DtypeError{op, ": ", name, " must be of a floating point dtype, not ", a.dtype()};
}

void CheckParameter(const char* op, const char* name, const Array& a, const Array& x, const Shape& shape) {
    CheckDevices(x, a);
    CheckFloat(op, name, a);
    if (a.shape() != shape) throw DimensionError{op, ": ", name, " has shape ", a.shape(), ", expected ", shape};
}

Array Flat(const Array& a) { return a.ndim() == 1 ? a : Reshape(a, Shape{a.GetTotalSize()}); }

// ---------------------------------------------------------------- normalization by own statistics

// The differences between batch normalization (per channel) and layer normalization (per row).
struct Form {
    Axes over;        // axes of the statistics
    Axes parameters;  // axes over which gamma and beta are repeated
    Shape aligned;    // the shape with which gamma is broadcast
    const BatchNormGradKernel* grad_kernel;
};

struct Gradients {
    Array x;
    Array gamma;
    Array beta;
};

// The gradients in operations that have gradients themselves.
Gradients ComposeGradients(const Form& form, const Array& x_, const Array& gamma_, const Array& gy_, double eps) {
    Dtype dtype = GetStatisticsDtype(x_, gamma_);
    Array x = Cast(x_, dtype);
    Array gy = Cast(gy_, dtype);
    Array gamma = Reshape(Cast(gamma_, dtype), form.aligned);
    Array centred = x - Mean(x, form.over, true);
    Array inv_std = Reciprocal(Sqrt(Mean(Square(centred), form.over, true) + Scalar{eps}));
    Array normal = centred * inv_std;
    Array scaled = gy * gamma;
    Array gx = inv_std * (scaled - Mean(scaled, form.over, true) - normal * Mean(scaled * normal, form.over, true));
    Array ggamma = Sum(gy * normal, form.parameters);
    Array gbeta = Sum(gy, form.parameters);
    return {Cast(gx, x_.dtype()), Cast(ggamma, gamma_.dtype()), Cast(gbeta, gamma_.dtype())};
}

struct NormBackward {
    Form form;
    Saved x;
    Saved gamma;
    Array mean;
    Array inv_std;
    double eps;

    void operator()(BackwardContext& ctx) const {
        const Array& gy = ctx.grad();
        const Array& xs = x.Get();
        const Array& gammas = gamma.Get();
        Gradients g;
        if (internal::GetRecordMask({&xs, &gammas, &gy}) != 0) {
            g = ComposeGradients(form, xs, gammas, gy, eps);
        } else {
            g = {Empty(xs.shape(), xs.dtype(), xs.device()), EmptyLike(gammas), EmptyLike(gammas)};
            (*form.grad_kernel)(xs.device(), internal::KernelInput(xs), internal::KernelInput(gammas),
                                internal::KernelInput(gy), mean, inv_std, g.x, g.gamma, g.beta);
        }
        if (ctx.IsWanted(0)) ctx.SetGrad(0, g.x);
        if (ctx.IsWanted(1)) ctx.SetGrad(1, g.gamma);
        if (ctx.IsWanted(2)) ctx.SetGrad(2, g.beta);
    }
};

// Batch normalization of (batch, channels, spatial) with flat parameters.
Array Normalize3D(const Array& x, const Array& gamma, const Array& beta, const Array& running_mean,
                  const Array& running_var, const BatchNormOptions& options) {
    Array y = Empty(x.shape(), x.dtype(), x.device());
    Dtype dtype = GetStatisticsDtype(x, gamma);
    Array mean = Empty(gamma.shape(), dtype, x.device());
    Array inv_std = Empty(gamma.shape(), dtype, x.device());
    kBatchNormKernel(x.device(), internal::KernelInput(x), internal::KernelInput(gamma), internal::KernelInput(beta),
                     running_mean, running_var, options, y, mean, inv_std);
    if (GraphMask mask = internal::GetRecordMask({&x, &gamma, &beta})) {
        Form form{{0, 2}, {0, 2}, {1, gamma.shape()[0], 1}, &kBatchNormGradKernel};
        internal::Record("batch_norm", mask, {&x, &gamma, &beta}, {&y},
                         NormBackward{form, Saved{x}, Saved{gamma}, mean, inv_std, options.eps});
    }
    return y;
}

// Layer normalization of (rows, width).
Array NormalizeRows(const Array& x, const Array& gamma, const Array& beta, double eps) {
    Array y = Empty(x.shape(), x.dtype(), x.device());
    Dtype dtype = GetStatisticsDtype(x, gamma);
    Array mean = Empty({x.shape()[0]}, dtype, x.device());
    Array inv_std = Empty({x.shape()[0]}, dtype, x.device());
    kLayerNormKernel(x.device(), internal::KernelInput(x), internal::KernelInput(gamma), internal::KernelInput(beta),
                     eps, y, mean, inv_std);
    if (GraphMask mask = internal::GetRecordMask({&x, &gamma, &beta})) {
        Form form{{1}, {0}, {1, gamma.shape()[0]}, &kLayerNormGradKernel};
        internal::Record("layer_norm", mask, {&x, &gamma, &beta}, {&y},
                         NormBackward{form, Saved{x}, Saved{gamma}, mean, inv_std, eps});
    }
    return y;
}

// ---------------------------------------------------------------- normalization by given statistics

struct FixedBackward {
    Saved x;
    Saved gamma;
    Saved mean;
    Saved var;
    double eps;

    void operator()(BackwardContext& ctx) const {
        Dtype dtype = GetStatisticsDtype(x.Get(), gamma.Get());
        Shape aligned{1, gamma.Get().shape()[0], 1};
        auto align = [&](const Array& a) { return Reshape(Cast(a, dtype), aligned); };
        Array gy = Cast(ctx.grad(), dtype);
        Array inv_std = Reciprocal(Sqrt(align(var.Get()) + Scalar{eps}));
        Array scale = align(gamma.Get()) * inv_std;
        if (ctx.IsWanted(0)) ctx.SetGrad(0, Cast(gy * scale, x.Get().dtype()));
        if (!(ctx.IsWanted(1) || ctx.IsWanted(2) || ctx.IsWanted(3) || ctx.IsWanted(4))) return;
        Array total = Sum(gy, Axes{0, 2}, true);
        Array ggamma = Sum(gy * (Cast(x.Get(), dtype) - align(mean.Get())), Axes{0, 2}, true) * inv_std;
        auto set = [&](size_t i, const Array& g, const Saved& of) {
            if (ctx.IsWanted(i)) ctx.SetGrad(i, Cast(Flat(g), of.Get().dtype()));
        };
        set(1, ggamma, gamma);
        set(2, total, gamma);
        set(3, -(scale * total), mean);
        set(4, Scalar{-0.5} * (ggamma * scale * inv_std), var);
    }
};

Array ApplyStatistics(const Array& x, const Array& gamma, const Array& beta, const Array& mean, const Array& var,
                      double eps) {
    Array y = Empty(x.shape(), x.dtype(), x.device());
    kFixedBatchNormKernel(x.device(), internal::KernelInput(x), internal::KernelInput(gamma),
                          internal::KernelInput(beta), internal::KernelInput(mean), internal::KernelInput(var), eps, y);
    if (GraphMask mask = internal::GetRecordMask({&x, &gamma, &beta, &mean, &var})) {
        internal::Record("fixed_batch_norm", mask, {&x, &gamma, &beta, &mean, &var}, {&y},
                         FixedBackward{Saved{x}, Saved{gamma}, Saved{mean}, Saved{var}, eps});
    }
    return y;
}

}  // namespace

CHAINERX_ROUTINE(BatchNorm, "batch_norm", "x, gamma, beta, running_mean, running_var, eps=2e-5, decay=0.9, axis=None",
                 "batch_norm batch_norm_grad", R"(
Batch normalization by the mean and variance of the batch.

.. math:: y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta

The running statistics are updated in place: ``running_mean`` becomes
``decay * running_mean + (1 - decay) * mean``, and ``running_var`` likewise, with the unbiased variance.
Differentiable any number of times with respect to ``x``, ``gamma`` and ``beta``.

Args:
    x (~chainerx.ndarray): Inputs, of a floating point dtype.
    gamma, beta (~chainerx.ndarray): Scales and shifts, of the shape of the axes that are not normalized.
    running_mean, running_var (~chainerx.ndarray or None): Statistics to update, of the shape of ``gamma``.
    eps (float): The :math:`\epsilon`.
    decay (float): Rate of the update.
    axis (None, int or tuple of int): Axes over which mean and variance are taken; unless given, axis 0 and those
        after the axes of ``gamma``.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Ioffe and Szegedy, Batch normalization, ICML 2015.

>>> x = chainerx.array([[1., 10.], [3., 30.]])
>>> one, zero = chainerx.ones(2, 'float64'), chainerx.zeros(2, 'float64')
>>> mean, var = zero.copy(), one.copy()
>>> chainerx.batch_norm(x, one, zero, mean, var, eps=0.)
array([[-1., -1.],
       [ 1.,  1.]], shape=(2, 2), dtype=float64, device='native:0')
>>> mean
array([0.2, 2. ], shape=(2,), dtype=float64, device='native:0')
)");
Array BatchNorm(const Array& x, const Array& gamma, const Array& beta, const std::optional<Array>& running_mean,
                const std::optional<Array>& running_var, double eps, double decay, const OptionalAxes& axis) {
    constexpr const char* kName = "batch_norm";
    CheckFloat(kName, "x", x);
    Layout layout = MakeLayout(kName, x, gamma, axis);
    CheckParameter(kName, "gamma", gamma, x, layout.channels);
    CheckParameter(kName, "beta", beta, x, layout.channels);
    if (running_mean.has_value() != running_var.has_value()) {
        throw ChainerxError{kName, ": running_mean and running_var must be given together"};
    }
    if (running_mean.has_value()) {
        CheckParameter(kName, "running_mean", *running_mean, x, layout.channels);
        CheckParameter(kName, "running_var", *running_var, x, layout.channels);
        internal::CheckInPlace(*running_mean, "batch_norm (running_mean)");
        internal::CheckInPlace(*running_var, "batch_norm (running_var)");
    }
    Array y = layout.Restore(Normalize3D(layout.See(x), Flat(gamma), Flat(Cast(beta, gamma.dtype())),
                                         running_mean.value_or(Array{}), running_var.value_or(Array{}),
                                         BatchNormOptions{eps, decay}));
    if (running_mean.has_value()) {
        running_mean->body()->storage->BumpVersion();
        running_var->body()->storage->BumpVersion();
    }
    return y;
}

CHAINERX_ROUTINE(FixedBatchNorm, "fixed_batch_norm", "x, gamma, beta, mean, var, eps=2e-5, axis=None",
                 "fixed_batch_norm", R"(
Batch normalization by a given mean and variance; see :func:`chainerx.batch_norm`.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs, of a floating point dtype.
    gamma, beta (~chainerx.ndarray): Scales and shifts, of the shape of the axes that are not normalized.
    mean, var (~chainerx.ndarray): Means and variances, of the shape of ``gamma``.
    eps (float): Number added to the variance.
    axis (None, int or tuple of int): Axes that have one mean and variance; unless given, axis 0 and those after the
        axes of ``gamma``.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

>>> x = chainerx.array([[1., 10.], [3., 30.]])
>>> one, zero = chainerx.ones(2, 'float64'), chainerx.zeros(2, 'float64')
>>> chainerx.fixed_batch_norm(x, one, zero, mean=one, var=one, eps=0.)
array([[ 0.,  9.],
       [ 2., 29.]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array FixedBatchNorm(const Array& x, const Array& gamma, const Array& beta, const Array& mean, const Array& var,
                     double eps, const OptionalAxes& axis) {
    constexpr const char* kName = "fixed_batch_norm";
    CheckFloat(kName, "x", x);
    Layout layout = MakeLayout(kName, x, gamma, axis);
    CheckParameter(kName, "gamma", gamma, x, layout.channels);
    CheckParameter(kName, "beta", beta, x, layout.channels);
    CheckParameter(kName, "mean", mean, x, layout.channels);
    CheckParameter(kName, "var", var, x, layout.channels);
    return layout.Restore(
            ApplyStatistics(layout.See(x), Flat(gamma), Flat(Cast(beta, gamma.dtype())), Flat(mean), Flat(var), eps));
}

CHAINERX_ROUTINE(LayerNorm, "layer_norm", "x, gamma, beta, eps=1e-5", "layer_norm layer_norm_grad", R"(
Normalization of each sample by its mean and variance over the last axes.

.. math:: y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs, of a floating point dtype.
    gamma, beta (~chainerx.ndarray): Scales and shifts, of the shape of the last axes of ``x``.
    eps (float): The :math:`\epsilon`.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Ba et al., Layer normalization, 2016.

>>> x = chainerx.array([[1., 3.], [10., 30.]])
>>> chainerx.layer_norm(x, chainerx.ones(2, 'float64'), chainerx.zeros(2, 'float64'), eps=0.)
array([[-1.,  1.],
       [-1.,  1.]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array LayerNorm(const Array& x, const Array& gamma, const Array& beta, double eps) {
    constexpr const char* kName = "layer_norm";
    CheckFloat(kName, "x", x);
    int64_t width = gamma.GetTotalSize();
    bool fits = gamma.ndim() >= 1 && gamma.ndim() <= x.ndim() &&
                std::equal(gamma.shape().begin(), gamma.shape().end(), x.shape().end() - gamma.ndim());
    if (!fits) {
        throw DimensionError{kName, ": gamma of shape ", gamma.shape(), " is not shaped as the last axes of x, ",
                             x.shape()};
    }
    CheckParameter(kName, "gamma", gamma, x, gamma.shape());
    CheckParameter(kName, "beta", beta, x, gamma.shape());
    int64_t rows = Shape(x.shape().begin(), x.shape().end() - gamma.ndim()).GetTotalSize();
    Array y = NormalizeRows(Reshape(x, Shape{rows, width}), Flat(gamma), Flat(Cast(beta, gamma.dtype())), eps);
    return Reshape(y, x.shape());
}

CHAINERX_ROUTINE(GroupNorm, "group_norm", "x, groups, gamma, beta, eps=1e-5", "layer_norm layer_norm_grad", R"(
Normalization of each sample by the mean and variance of groups of its channels.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, ...)`, of a floating point dtype.
    groups (int): Number of groups, a divisor of :math:`C`.
    gamma, beta (~chainerx.ndarray): Scales and shifts of the channels, of shape :math:`(C,)`.
    eps (float): Number added to the variances.

Returns:
    ~chainerx.ndarray: Array of the shape of ``x``.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Wu and He, Group normalization, ECCV 2018.

>>> x = chainerx.array([[1., 3., 10., 30.]])
>>> chainerx.group_norm(x, 2, chainerx.ones(4, 'float64'), chainerx.zeros(4, 'float64'), eps=0.)
array([[-1.,  1., -1.,  1.]], shape=(1, 4), dtype=float64, device='native:0')
)");
Array GroupNorm(const Array& x, int64_t groups, const Array& gamma, const Array& beta, double eps) {
    constexpr const char* kName = "group_norm";
    CheckFloat(kName, "x", x);
    if (x.ndim() < 2) throw DimensionError{kName, ": x must have at least 2 dimensions, has shape ", x.shape()};
    int64_t channels = x.shape()[1];
    if (groups < 1 || channels % groups != 0) {
        throw DimensionError{kName, ": groups must be a positive divisor of the number of channels, ", channels,
                             ", was ", groups};
    }
    CheckParameter(kName, "gamma", gamma, x, Shape{channels});
    CheckParameter(kName, "beta", beta, x, Shape{channels});
    int64_t rows = x.shape()[0] * groups;
    int64_t width = channels / groups * Shape(x.shape().begin() + 2, x.shape().end()).GetTotalSize();
    Array y = NormalizeRows(Reshape(x, Shape{rows, width}), Ones({width}, gamma.dtype(), x.device()),
                            Zeros({width}, gamma.dtype(), x.device()), eps);
    Shape aligned{1, channels};
    for (int8_t i = 2; i < x.ndim(); ++i) aligned.push_back(1);
    return Cast(Reshape(y, x.shape()) * Reshape(gamma, aligned) + Reshape(beta, aligned), x.dtype());
}

}  // namespace chainerx
