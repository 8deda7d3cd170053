#include "chainerx/ops/loss.h"

#include <algorithm>

#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const SoftmaxCrossEntropyKernel kSoftmaxCrossEntropyKernel{"softmax_cross_entropy"};
const SoftmaxCrossEntropyGradKernel kSoftmaxCrossEntropyGradKernel{"softmax_cross_entropy_grad"};

namespace {

void CheckSameShape(const char* name, const Array& x1, const Array& x2) {
    if (x1.shape() != x2.shape()) {
        throw DimensionError{name, ": x1 has shape ", x1.shape(), " but x2 has shape ", x2.shape()};
    }
}

Array Difference(const char* name, const Array& x1, const Array& x2) {
    Array difference = x1 - x2;
    if (GetKind(difference.dtype()) == DtypeKind::kUInt) {
        throw DtypeError{name, ": x1 and x2 must not both be of dtype ", difference.dtype(),
                         ", which has no negative differences"};
    }
    return difference;
}

}  // namespace

CHAINERX_ROUTINE(AbsoluteError, "absolute_error", "x1, x2", "", R"(
Elementwise absolute error :math:`|x_1 - x_2|`.

Differentiable any number of times.

Args:
    x1, x2 (~chainerx.ndarray): Arrays whose shapes broadcast.

Returns:
    ~chainerx.ndarray: Errors, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> chainerx.absolute_error(chainerx.array([1., 2.]), chainerx.array([3., 2.]))
array([2., 0.], shape=(2,), dtype=float64, device='native:0')
)");
Array AbsoluteError(const Array& x1, const Array& x2) { return Absolute(Difference("absolute_error", x1, x2)); }

CHAINERX_ROUTINE(SquaredError, "squared_error", "x1, x2", "", R"(
Elementwise squared error :math:`(x_1 - x_2)^2`.

Differentiable any number of times.

Args:
    x1, x2 (~chainerx.ndarray): Arrays whose shapes broadcast.

Returns:
    ~chainerx.ndarray: Errors, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> chainerx.squared_error(chainerx.array([1., 2.]), chainerx.array([3., 2.]))
array([4., 0.], shape=(2,), dtype=float64, device='native:0')
)");
Array SquaredError(const Array& x1, const Array& x2) { return Square(x1 - x2); }

CHAINERX_ROUTINE(GaussianKLDivergence, "gaussian_kl_divergence", "mean, ln_var", "", R"(
Elementwise Kullback-Leibler divergence of a Gaussian from the standard one.

.. math:: \frac{1}{2} (\mu^2 + \sigma^2 - \log \sigma^2 - 1)

Differentiable any number of times.

Args:
    mean (~chainerx.ndarray): Means :math:`\mu`.
    ln_var (~chainerx.ndarray): Logarithms of variances, :math:`\log \sigma^2`, of a shape that broadcasts.

Returns:
    ~chainerx.ndarray: Divergences, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> chainerx.gaussian_kl_divergence(chainerx.array([0., 1.]), chainerx.array([0., 0.]))
array([0. , 0.5], shape=(2,), dtype=float64, device='native:0')
)");
Array GaussianKLDivergence(const Array& mean, const Array& ln_var) {
    return Scalar{0.5} * (Square(mean) + Exp(ln_var) - ln_var - Scalar{1});
}

CHAINERX_ROUTINE(HuberLoss, "huber_loss", "x1, x2, delta", "", R"(
Elementwise Huber loss: quadratic near zero, linear beyond ``delta``.

.. math::
    \frac{1}{2} (x_1 - x_2)^2 \text{ where } |x_1 - x_2| < \delta, \quad
    \delta (|x_1 - x_2| - \frac{\delta}{2}) \text{ elsewhere}

Differentiable any number of times.

Args:
    x1, x2 (~chainerx.ndarray): Arrays whose shapes broadcast.
    delta (float): Where the loss becomes linear.

Returns:
    ~chainerx.ndarray: Losses, in the promoted dtype.

Raises:
    ~chainerx.DimensionError: If the shapes do not broadcast.

>>> chainerx.huber_loss(chainerx.array([0., 3.]), chainerx.array([0.5, 0.]), 1.)
array([0.125, 2.5  ], shape=(2,), dtype=float64, device='native:0')
)");
Array HuberLoss(const Array& x1, const Array& x2, double delta) {
    Array a = Difference("huber_loss", x1, x2);
    Array size = Absolute(a);
    return Where(Less(size, Scalar{delta}), Scalar{0.5} * Square(a), Scalar{delta} * (size - Scalar{0.5 * delta}));
}

CHAINERX_ROUTINE(SigmoidCrossEntropy, "sigmoid_cross_entropy", "x1, x2", "", R"(
Elementwise cross entropy of the sigmoid of scores with labels.

.. math:: -t \log \sigma(x) - (1 - t) \log(1 - \sigma(x))

The loss of a label that is -1 is zero. Differentiable any number of times with respect to ``x1``.

Args:
    x1 (~chainerx.ndarray): Scores :math:`x`, of a floating point dtype.
    x2 (~chainerx.ndarray): Labels :math:`t` 0 and 1, or -1 to leave an element out; of the shape of ``x1`` and of
        an integer dtype.

Returns:
    ~chainerx.ndarray: Losses, of the shape and dtype of ``x1``.

Raises:
    ~chainerx.DtypeError: If the labels are no integers.
    ~chainerx.DimensionError: If the shapes differ.

>>> chainerx.sigmoid_cross_entropy(chainerx.array([0., 2., 5.]), chainerx.array([1, 1, -1]))
array([0.69314718, 0.12692801, 0.        ], shape=(3,), dtype=float64, device='native:0')
)");
Array SigmoidCrossEntropy(const Array& x1, const Array& x2) {
    CheckSameShape("sigmoid_cross_entropy", x1, x2);
    if (!IsInteger(x2.dtype()))
        throw DtypeError{"sigmoid_cross_entropy: x2 must be of an integer dtype, not ", x2.dtype()};
    // Negative labels are ignored.
    Array t = x2.AsDetached();
    Array target = AsType(Greater(t, Scalar{0}), x1.dtype());
    Array counted = AsType(GreaterEqual(t, Scalar{0}), x1.dtype());
    return counted * (Softplus(x1) - x1 * target);
}

CHAINERX_ROUTINE(Hinge, "hinge", "x1, x2, norm=1.0", "", R"(
Hinge loss of scores and classes.

.. math:: L_{nc} = \max(0, 1 + s_{nc} x_{nc})^p

Here :math:`s_{nc}` is -1 for the class of a sample, 1 for the others. Differentiable any number of times with respect
to ``x1``.

Args:
    x1 (~chainerx.ndarray): Scores :math:`x` of shape :math:`(N, C)`.
    x2 (~chainerx.ndarray): Classes of shape :math:`(N,)`, of an integer dtype.
    norm (float): Exponent :math:`p`: 1 or 2.

Returns:
    ~chainerx.ndarray: Losses of shape :math:`(N, C)`.

Raises:
    ~chainerx.NotImplementedError: If ``norm`` is neither 1 nor 2.
    ~chainerx.DimensionError: If the shapes do not fit.

>>> x = chainerx.array([[2., 0., -3.]])
>>> chainerx.hinge(x, chainerx.array([0]))
array([[0., 1., 0.]], shape=(1, 3), dtype=float64, device='native:0')
)");
Array Hinge(const Array& x1, const Array& x2, double norm) {
    if (x1.ndim() != 2 || x2.ndim() != 1 || x2.shape()[0] != x1.shape()[0]) {
        throw DimensionError{"hinge: x1 of shape ", x1.shape(), " and x2 of shape ", x2.shape(),
                             " do not match (N, C) and (N,)"};
    }
    if (!IsInteger(x2.dtype())) throw DtypeError{"hinge: x2 must be of an integer dtype, not ", x2.dtype()};
    CheckDevices(x1, x2);
    Array classes = Arange(Scalar{0}, Scalar{x1.shape()[1]}, Scalar{1}, Dtype::kInt64, x1.device());
    Array labels;
    try {
        labels = Take(classes, x2.AsDetached(), 0);  // negative ones count from the end
    } catch (const IndexError& e) {
        throw IndexError{"hinge: x2: ", e.what()};
    }
    Array hit = Equal(ExpandDims(labels, 1), classes);
    Array margin = Relu(Scalar{1} + Where(hit, -x1, x1));
    if (norm == 1.0) return margin;
    if (norm == 2.0) return Square(margin);
    throw NotImplementedError{"hinge: norm must be 1 or 2, was ", norm};
}

namespace {

struct CrossEntropy {
    Array t;  // int64
    int64_t ignore_label;
    Array log_sum;
};

// The gradient of the cross entropy as an operation, so that it can be differentiated again.
Array CrossEntropyGrad(const Array& x, const CrossEntropy& e, const Array& gy) {
    Array gx = Empty(x.shape(), x.dtype(), x.device());
    kSoftmaxCrossEntropyGradKernel(x.device(), AsContiguous(x.AsDetached()), e.t, e.ignore_label, e.log_sum,
                                   AsContiguous(gy.AsDetached()), gx);
    if (GraphMask mask = internal::GetRecordMask({&x, &gy})) {
        internal::Record("softmax_cross_entropy_grad", mask, {&x, &gy}, {&gx},
                         [x = Saved{x}, gy = Saved{gy}, e](BackwardContext& ctx) {
                             const Array& ggx = ctx.grad();
                             Array p = Softmax(x.Get(), Axes{1});
                             Array t = ExpandDims(e.t, 1);
                             Array valid = AsType(NotEqual(t, Scalar{e.ignore_label}), p.dtype());
                             if (ctx.IsWanted(0)) {
                                 Array weighted = p * ggx;
                                 Array centred = weighted - p * Sum(weighted, Axes{1}, true);
                                 ctx.SetGrad(0, centred * (ExpandDims(gy.Get(), 1) * valid));
                             }
                             if (ctx.IsWanted(1)) {
                                 Shape aligned{1, p.shape()[1]};
                                 for (int i = 2; i < p.ndim(); ++i) aligned.push_back(1);
                                 Array classes = Reshape(
                                         Arange(Scalar{0}, Scalar{p.shape()[1]}, Scalar{1}, Dtype::kInt64, p.device()),
                                         aligned);
                                 Array hit = AsType(Equal(t, classes), p.dtype());
                                 ctx.SetGrad(1, Sum(ggx * ((p - hit) * valid), Axes{1}));
                             }
                         });
    }
    return gx;
}

Array CrossEntropyOf(const Array& x, const Array& t, int64_t ignore_label) {
    Array loss = Empty(t.shape(), x.dtype(), x.device());
    Array log_sum = Empty(t.shape(), x.dtype() == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32, x.device());
    kSoftmaxCrossEntropyKernel(x.device(), AsContiguous(x.AsDetached()), t, ignore_label, loss, log_sum);
    if (GraphMask mask = internal::GetRecordMask(x)) {
        internal::Record("softmax_cross_entropy", mask, {&x}, {&loss},
                         [x = Saved{x}, e = CrossEntropy{t, ignore_label, log_sum}](BackwardContext& ctx) {
                             ctx.SetGrad(0, CrossEntropyGrad(x.Get(), e, ctx.grad()));
                         });
    }
    return loss;
}

}  // namespace

CHAINERX_ROUTINE(SoftmaxCrossEntropy, "softmax_cross_entropy",
                 "x1, x2, ignore_label=-1, class_weight=None, reduce='no', normalize=True",
                 "softmax_cross_entropy softmax_cross_entropy_grad", R"(
Cross entropy of the softmax of scores with classes.

.. math:: L_n = -w_{t_n} \log \frac{e^{x_{n, t_n}}}{\sum_c e^{x_{nc}}}

Differentiable any number of times with respect to ``x1``.

Args:
    x1 (~chainerx.ndarray): Scores :math:`x` of shape :math:`(N, C, ...)`, of a floating point dtype.
    x2 (~chainerx.ndarray): Classes :math:`t` of shape :math:`(N, ...)`, of an integer dtype.
    ignore_label (int): Class whose losses are zero.
    class_weight (~chainerx.ndarray or None): Weights :math:`w` of the classes, of shape :math:`(C,)`.
    reduce (str): ``'no'``: the losses; ``'sum'``: their sum; ``'mean'``: their sum divided by the number of
        classes that are not ignored, or by :math:`N` unless ``normalize``.
    normalize (bool): See ``reduce``.

Returns:
    ~chainerx.ndarray: Losses of shape :math:`(N, ...)`, or an array without dimensions.

Raises:
    ~chainerx.DtypeError: If the classes are no integers.
    ~chainerx.DimensionError: If the shapes do not fit.
    ~chainerx.IndexError: If a class is out of range.
    ~chainerx.ChainerxError: If ``reduce`` has no meaning.

>>> x = chainerx.array([[1., 2., 3.], [3., 0., 0.]])
>>> chainerx.softmax_cross_entropy(x, chainerx.array([2, -1]))
array([0.40760596, 0.        ], shape=(2,), dtype=float64, device='native:0')
>>> float(chainerx.softmax_cross_entropy(x, chainerx.array([2, -1]), reduce='mean'))
0.4076059644443804
)");
Array SoftmaxCrossEntropy(const Array& x1, const Array& x2, int64_t ignore_label,
                          const std::optional<Array>& class_weight, const std::string& reduce, bool normalize) {
    constexpr const char* kName = "softmax_cross_entropy";
    if (!IsFloat(x1.dtype())) throw DtypeError{kName, ": x1 must be of a floating point dtype, not ", x1.dtype()};
    if (!IsInteger(x2.dtype())) throw DtypeError{kName, ": x2 must be of an integer dtype, not ", x2.dtype()};
    CheckDevices(x1, x2);
    bool fits = x1.ndim() >= 2 && x2.ndim() == x1.ndim() - 1;
    for (int i = 0; fits && i < x2.ndim(); ++i) fits = x2.shape()[i] == x1.shape()[i == 0 ? 0 : i + 1];
    if (!fits) {
        throw DimensionError{kName,      ": x1 of shape ",
                             x1.shape(), " and x2 of shape ",
                             x2.shape(), " do not match (N, C, ...) and (N, ...)"};
    }
    if (reduce != "no" && reduce != "sum" && reduce != "mean") {
        throw ChainerxError{kName, ": reduce must be 'no', 'sum' or 'mean', not '", reduce, "'"};
    }
    Array t = AsContiguous(AsType(x2.AsDetached(), Dtype::kInt64, false));
    Array loss = CrossEntropyOf(x1, t, ignore_label);
    if (class_weight.has_value()) {
        CheckDevices(x1, *class_weight);
        if (!IsFloat(class_weight->dtype()) || class_weight->shape() != Shape{x1.shape()[1]}) {
            throw DimensionError{kName,
                                 ": class_weight must be of a floating point dtype and have shape ",
                                 Shape{x1.shape()[1]},
                                 ", but has dtype ",
                                 class_weight->dtype(),
                                 " and shape ",
                                 class_weight->shape()};
        }
        Array weights = AsType(class_weight->AsDetached(), x1.dtype(), false);
        // Values taken at ignored labels are multiplied by a loss of zero.
        loss = loss * Take(weights, t, 0, IndexMode::kClip);
    }
    if (reduce == "no") return loss;
    // Half precision could not hold the sum, nor the number of labels.
    Array sum = Sum(IsHalf(loss.dtype()) ? AsType(loss, Dtype::kFloat32) : loss);
    if (reduce == "mean" && normalize) {
        Array count = Maximum(Sum(NotEqual(t, Scalar{ignore_label})), Scalar{1});
        sum = sum / AsType(count, sum.dtype());
    } else if (reduce == "mean") {
        sum = sum * Scalar{1.0 / static_cast<double>(std::max<int64_t>(x1.shape()[0], 1))};
    }
    return AsType(sum, x1.dtype(), false);
}

CHAINERX_ROUTINE(Accuracy, "accuracy", "y, t, ignore_label=None", "", R"(
Fraction of the samples for which the score of their class is the largest.

Not differentiable.

Args:
    y (~chainerx.ndarray): Scores of shape :math:`(N, C, ...)`.
    t (~chainerx.ndarray): Classes of shape :math:`(N, ...)`, of an integer dtype.
    ignore_label (int or None): Class whose samples are left out.

Returns:
    ~chainerx.ndarray: Array without dimensions, of the dtype of ``y``.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

>>> y = chainerx.array([[0.1, 0.9], [0.8, 0.2], [0.6, 0.4]])
>>> float(chainerx.accuracy(y, chainerx.array([1, 0, -1]), ignore_label=-1))
1.0
)");
Array Accuracy(const Array& y, const Array& t, const std::optional<int64_t>& ignore_label) {
    if (y.ndim() < 2) throw DimensionError{"accuracy: y must have at least 2 dimensions, has shape ", y.shape()};
    Dtype dtype = IsFloat(y.dtype()) ? y.dtype() : Dtype::kFloat32;
    if (!IsInteger(t.dtype())) throw DtypeError{"accuracy: t must be of an integer dtype, not ", t.dtype()};
    Array labels = t.AsDetached();
    Array guess = Reshape(ArgMax(y.AsDetached(), 1), t.shape());
    Array hit = Equal(guess, labels);
    if (!ignore_label.has_value()) return Mean(AsType(hit, dtype));
    Array counted = NotEqual(labels, Scalar{*ignore_label});
    Array count = AsType(Sum(counted), dtype);
    Array right = AsType(Sum(LogicalAnd(hit, counted)), dtype);
    return Where(Equal(count, Scalar{0}), Scalar{0}, right / Maximum(count, Scalar{1}));
}

}  // namespace chainerx
