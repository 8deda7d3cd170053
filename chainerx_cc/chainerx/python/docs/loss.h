#pragma once

// The documentation of losses; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kAbsoluteError = R"(
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
)";

constexpr const char* kSquaredError = R"(
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
)";

constexpr const char* kGaussianKLDivergence = R"(
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
)";

constexpr const char* kHuberLoss = R"(
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
)";

constexpr const char* kSigmoidCrossEntropy = R"(
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
)";

constexpr const char* kSoftmaxCrossEntropy = R"(
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
)";

constexpr const char* kHinge = R"(
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
)";

constexpr const char* kAccuracy = R"(
Fraction of the samples whose largest score is that of their class.

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
)";

}  // namespace chainerx::python::docs
