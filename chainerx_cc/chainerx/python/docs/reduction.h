#pragma once

// The documentation of the reductions; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kSum = R"(
Sum of elements over axes.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Sums. A floating point dtype is kept; integers and booleans are summed in int64.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 6.]])
>>> chainerx.sum(x, axis=0)
array([5., 7., 9.], shape=(3,), dtype=float64, device='native:0')
>>> x.sum(axis=1, keepdims=True).shape
(2, 1)
)";

constexpr const char* kNansum = R"(
Sum of elements over axes, those that are not-a-number taken as zero.

Differentiable any number of times; no gradient flows to elements that are not-a-number.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Sums. A floating point dtype is kept; integers and booleans are summed in int64.

Raises:
    @axis_error

>>> chainerx.nansum(chainerx.array([1., chainerx.nan, 3.]))
array(4., shape=(), dtype=float64, device='native:0')
)";

constexpr const char* kProd = R"(
Product of elements over axes.

Differentiable any number of times, also where elements are zero.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Products. A floating point dtype is kept; integers and booleans are multiplied in int64.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 6.]])
>>> chainerx.prod(x, axis=1)
array([  6., 120.], shape=(2,), dtype=float64, device='native:0')
>>> float(x.prod())
720.0
)";

constexpr const char* kMean = R"(
Arithmetic mean :math:`\mu = \frac{1}{n} \sum_i a_i` over axes.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Means, not-a-number where there are no elements. A floating point dtype is kept; integers
    and booleans give a floating point dtype.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 6.]])
>>> chainerx.mean(x, axis=1)
array([2., 5.], shape=(2,), dtype=float64, device='native:0')
>>> float(x.mean())
3.5
)";

constexpr const char* kVar = R"(
Variance :math:`\frac{1}{n} \sum_i (a_i - \mu)^2` over axes, without correction of its bias.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Variances. A floating point dtype is kept; integers and booleans give a floating point dtype.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 9.]])
>>> chainerx.var(x, axis=1)
array([0.66666667, 4.66666667], shape=(2,), dtype=float64, device='native:0')
>>> x.var(axis=1, keepdims=True).shape
(2, 1)
)";

constexpr const char* kStd = R"(
Standard deviation over axes: the square root of the variance, without correction of its bias.

Differentiable any number of times where it is not zero.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Standard deviations. A floating point dtype is kept; integers and booleans give a floating
    point dtype.

Raises:
    @axis_error

>>> x = chainerx.array([[1., 2., 3.], [4., 5., 9.]])
>>> chainerx.std(x, axis=1)
array([0.81649658, 2.1602469 ], shape=(2,), dtype=float64, device='native:0')
>>> x.std(axis=1, keepdims=True).shape
(2, 1)
)";

constexpr const char* kAMax = R"(
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
)";

constexpr const char* kAMin = R"(
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
)";

constexpr const char* kAll = R"(
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
)";

constexpr const char* kAny = R"(
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
)";

constexpr const char* kArgMax = R"(
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
)";

constexpr const char* kArgMin = R"(
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
)";

constexpr const char* kNanArgMax = R"(
Index of the largest element along an axis, leaving out what is not-a-number.

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
)";

constexpr const char* kNanArgMin = R"(
Index of the smallest element along an axis, leaving out what is not-a-number.

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
)";

constexpr const char* kCountNonzero = R"(
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
)";

constexpr const char* kCumsum = R"(
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
)";

constexpr const char* kCumprod = R"(
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
)";

constexpr const char* kLogSumExp = R"(
Logarithm of the sum of exponentials :math:`\log \sum_i e^{x_i}` over axes, without overflow.

Differentiable any number of times.

Args:
    x (~chainerx.ndarray): Array of any dtype.
    @axes
    @keepdims

Returns:
    ~chainerx.ndarray: Results. A floating point dtype is kept; integers and booleans give a floating point dtype.

Raises:
    @axis_error

>>> chainerx.logsumexp(chainerx.array([[1., 2.], [1000., 1000.]]), axis=1)
array([   2.31326169, 1000.69314718], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kSoftmax = R"(
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
)";

constexpr const char* kLogSoftmax = R"(
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
)";

}  // namespace chainerx::python::docs
