#pragma once

// The documentation of layers of networks and of sorting; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kCrelu = R"(
Concatenated rectified linear unit: :math:`\max(0, x)` and :math:`\max(0, -x)`, joined along an axis.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype except bool.
    axis (int): Axis.

Returns:
    ~chainerx.ndarray: Array that is twice as long along the axis.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.crelu(chainerx.array([[1., -2.]]))
array([[1., 0., 0., 2.]], shape=(1, 4), dtype=float64, device='native:0')
)";

constexpr const char* kDropout = R"(
Elements set to zero at random.

With probability ``ratio`` the factor of an element is zero, else :math:`1 / (1 - ratio)`. The numbers come from
ChainerX's generator, see :func:`chainerx.random.seed`. Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of a floating point dtype.
    ratio (float): Probability, at least zero and below one.
    mask (~chainerx.ndarray or None): Factors of the elements, in place of random ones.

Returns:
    ~chainerx.ndarray: Array of the shape and dtype of ``x``.

Raises:
    ~chainerx.ChainerxError: If ``ratio`` is out of range.

>>> y = chainerx.dropout(chainerx.ones(1000), 0.5)
>>> bool(((y == 0) | (y == 2)).all())
True
>>> chainerx.dropout(chainerx.array([1., 2.]), mask=chainerx.array([0., 2.]))
array([0., 4.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kEmbedId = R"(
Rows of a table by their numbers.

Differentiable any number of times with respect to ``W``.

Args:
    x (~chainerx.ndarray): Numbers of rows, in any shape, of an integer dtype.
    W (~chainerx.ndarray): Table of shape :math:`(V, D)`.
    ignore_label (int or None): Number that stands for a row of zeros.

Returns:
    ~chainerx.ndarray: Rows: the shape of ``x`` and an axis of length :math:`D`.

Raises:
    ~chainerx.IndexError: If a number is out of range.

>>> W = chainerx.array([[0., 1.], [2., 3.]])
>>> chainerx.embed_id(chainerx.array([1, -1]), W, ignore_label=-1)
array([[2., 3.],
       [0., 0.]], shape=(2, 2), dtype=float64, device='native:0')
)";

constexpr const char* kSort = R"(
The elements in ascending order, those that are not-a-number last.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; ``None`` sorts the flattened array.

Returns:
    ~chainerx.ndarray: Sorted copy.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.sort(chainerx.array([[3, 1, 2], [6, 5, 4]]))
array([[1, 2, 3],
       [4, 5, 6]], shape=(2, 3), dtype=int64, device='native:0')
)";

constexpr const char* kArgsort = R"(
Positions that sort an array; equal elements keep their order.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; ``None`` sorts the flattened array.

Returns:
    ~chainerx.ndarray: Positions, of dtype int64.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.argsort(chainerx.array([3, 1, 2]))
array([1, 2, 0], shape=(3,), dtype=int64, device='native:0')
)";

constexpr const char* kScaledDotProductAttention = R"(
Attention :math:`\mathrm{softmax}(s \, q k^\top + m) \, v` of queries to keys and values.

The matrix of weights is not kept. A query that attends to no key gives zero. Differentiable any number of times with
respect to ``q``, ``k`` and ``v``.

Args:
    q (~chainerx.ndarray): Queries of shape :math:`(..., L, E)`.
    k (~chainerx.ndarray): Keys of shape :math:`(..., S, E)`.
    v (~chainerx.ndarray): Values of shape :math:`(..., S, D)`.
    mask (~chainerx.ndarray or None): Array that broadcasts to :math:`(..., L, S)`: booleans, true where a query
        attends to a key, or numbers :math:`m` that are added.
    scale (float or None): Factor :math:`s`; :math:`1 / \sqrt{E}` unless given.
    causal (bool): Whether a query attends to keys up to its own position only.

Returns:
    ~chainerx.ndarray: Array of shape :math:`(..., L, D)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

See: Vaswani et al., Attention is all you need, NIPS 2017.

>>> q = chainerx.zeros((2, 3))
>>> v = chainerx.array([[1.], [3.]], 'float32')
>>> chainerx.scaled_dot_product_attention(q, q, v, causal=True)
array([[1.],
       [2.]], shape=(2, 1), dtype=float32, device='native:0')
)";

constexpr const char* kConv = R"(
Convolution in any number of spatial dimensions (strictly, cross-correlation).

.. math:: y_{n o p} = b_o + \sum_{c, q} w_{o c q} \, x_{n, c, s p + d q - pad}

Each spatial length becomes :math:`\lfloor (l + 2 pad - d (k - 1) - 1) / s \rfloor + 1`. Differentiable any number of
times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, l_1, ..., l_n)`, of a floating point dtype.
    w (~chainerx.ndarray): Filters of shape :math:`(O, C / groups, k_1, ..., k_n)`.
    b (~chainerx.ndarray or None): Biases of shape :math:`(O,)`.
    stride (int or tuple of int): Steps :math:`s` of the filters.
    pad (int or tuple of int): Zeros around the inputs.
    cover_all (bool): Whether the last step may go beyond the inputs, so that all of them are used.
    groups (int): Number of groups of channels that are convolved apart.
    dilate (int or tuple of int): Distances :math:`d` between elements of the filters.

Returns:
    ~chainerx.ndarray: Outputs of shape :math:`(N, O, ...)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit, or the output would be empty.

>>> x = chainerx.ones((1, 1, 4, 4))
>>> w = chainerx.ones((2, 1, 3, 3))
>>> chainerx.conv(x, w, pad=1).shape
(1, 2, 4, 4)
>>> float(chainerx.conv(x, w)[0, 0, 0, 0])
9.0
)";

constexpr const char* kConvTranspose = R"(
Transposed convolution: the map that gives the gradient of a convolution.

Each spatial length becomes :math:`s (l - 1) + d (k - 1) + 1 - 2 pad` unless ``outsize`` is given. Differentiable any
number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, l_1, ..., l_n)`, of a floating point dtype.
    w (~chainerx.ndarray): Filters of shape :math:`(C, O / groups, k_1, ..., k_n)`.
    b (~chainerx.ndarray or None): Biases of shape :math:`(O,)`.
    stride (int or tuple of int): Steps :math:`s` of the filters.
    pad (int or tuple of int): Elements cut off around the outputs.
    outsize (None or tuple of int): Spatial lengths of the outputs, one of those from which the convolution gives
        the lengths of ``x``.
    groups (int): Number of groups of channels that are convolved apart.
    dilate (int or tuple of int): Distances :math:`d` between elements of the filters.

Returns:
    ~chainerx.ndarray: Outputs of shape :math:`(N, O, ...)`.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit.

>>> x = chainerx.ones((1, 2, 3, 3))
>>> w = chainerx.ones((2, 1, 2, 2))
>>> chainerx.conv_transpose(x, w, stride=2).shape
(1, 1, 6, 6)
)";

constexpr const char* kMaxPool = R"(
Maxima of windows in any number of spatial dimensions; padding is never a maximum.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, ...)`, of a floating point dtype.
    ksize (int or tuple of int): Size of the windows.
    stride (None, int or tuple of int): Steps of the windows; ``ksize`` unless given.
    pad (int or tuple of int): Width of the padding.
    cover_all (bool): Whether the last window may go beyond the inputs, so that all of them are used.

Returns:
    ~chainerx.ndarray: Outputs of shape :math:`(N, C, ...)`.

Raises:
    ~chainerx.DtypeError: If the dtype is not floating point.
    ~chainerx.DimensionError: If the shapes do not fit, or the output would be empty.

>>> x = chainerx.array([[[1., 5., 2., 3.]]])
>>> chainerx.max_pool(x, 2)
array([[[5., 3.]]], shape=(1, 1, 2), dtype=float64, device='native:0')
)";

constexpr const char* kAveragePool = R"(
Averages of windows in any number of spatial dimensions.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Inputs of shape :math:`(N, C, ...)`, of a floating point dtype.
    ksize (int or tuple of int): Size of the windows.
    stride (None, int or tuple of int): Steps of the windows; ``ksize`` unless given.
    pad (int or tuple of int): Width of the padding.
    pad_mode (str): ``'ignore'`` leaves padding out of the averages, ``'zero'`` counts it as zeros.

Returns:
    ~chainerx.ndarray: Outputs of shape :math:`(N, C, ...)`.

Raises:
    ValueError: If ``pad_mode`` has no meaning.
    ~chainerx.DtypeError: If the dtype is not floating point.
    ~chainerx.DimensionError: If the shapes do not fit, or the output would be empty.

>>> x = chainerx.array([[[1., 5., 2., 3.]]])
>>> chainerx.average_pool(x, 2)
array([[[3. , 2.5]]], shape=(1, 1, 2), dtype=float64, device='native:0')
>>> chainerx.average_pool(x, 3, pad=1, pad_mode='zero')
array([[[2.        , 1.66666667]]], shape=(1, 1, 2), dtype=float64, device='native:0')
)";

constexpr const char* kBatchNorm = R"(
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
)";

constexpr const char* kFixedBatchNorm = R"(
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
)";

constexpr const char* kLayerNorm = R"(
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
)";

constexpr const char* kGroupNorm = R"(
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
)";

}  // namespace chainerx::python::docs
