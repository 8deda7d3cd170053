#pragma once

// The documentation of ndarray, but for what are functions, too; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kNdarray = R"(
Multi-dimensional array with automatic differentiation.

Arrays are made by functions such as :func:`chainerx.array` and :func:`chainerx.zeros`. They have NumPy's operators,
indexing and formatting. A graph records computations with arrays that require gradients.

>>> x = chainerx.array([[1., 2.], [3., 4.]])
>>> x[:, 1] + 1
array([3., 5.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kShape = R"(
Lengths of the dimensions, a tuple of int.

>>> chainerx.ones((2, 3)).shape
(2, 3)
)";

constexpr const char* kStrides = R"(
Distances in bytes between neighbours along each dimension, a tuple of int.

>>> chainerx.ones((2, 3)).strides
(12, 4)
)";

constexpr const char* kDtype = R"(
Dtype of the elements, a :class:`numpy.dtype`.

>>> chainerx.ones(2).dtype
dtype('float32')
)";

constexpr const char* kArrayDevice = R"(
The :class:`~chainerx.Device` on which the array lives.

>>> chainerx.ones(2).device
native:0
)";

constexpr const char* kNdim = R"(
Number of dimensions.

>>> chainerx.ones((2, 3)).ndim
2
)";

constexpr const char* kSize = R"(
Number of elements.

>>> chainerx.ones((2, 3)).size
6
)";

constexpr const char* kItemSize = R"(
Size of an element in bytes.

>>> chainerx.ones(2).itemsize
4
)";

constexpr const char* kNBytes = R"(
Size of all elements in bytes.

>>> chainerx.ones((2, 3)).nbytes
24
)";

constexpr const char* kOffset = R"(
Distance in bytes of the first element from ``data_ptr``.

>>> chainerx.ones(5)[2:].offset
8
)";

constexpr const char* kIsContiguous = R"(
Whether the elements lie in C order without gaps.

>>> chainerx.ones((2, 3)).T.is_contiguous
False
)";

constexpr const char* kDataPtr = R"(
Address of the memory that the array views, an int.

>>> x = chainerx.ones(5)
>>> x.data_ptr == x[2:].data_ptr
True
)";

constexpr const char* kDataSize = R"(
Size in bytes of the memory that the array views.

>>> chainerx.ones(5)[2:].data_size
20
)";

constexpr const char* kT = R"(
The array with its axes reversed, a view.

>>> chainerx.ones((2, 3)).T.shape
(3, 2)
)";

constexpr const char* kMatrixTranspose = R"(
View with the last two axes interchanged; see :func:`chainerx.matrix_transpose`.

>>> chainerx.ones((2, 3, 4)).mT.shape
(2, 4, 3)
)";

constexpr const char* kArrayNamespace = R"(
The namespace of the array API standard for this array, :mod:`chainerx.array_api`.

Args:
    api_version (str or None): Version of the standard, such as ``'2024.12'``.

Returns:
    module: The namespace. It conforms to version 2024.12, and is returned for the earlier ones, too.

Raises:
    ValueError: If the version is not known.

>>> xp = chainerx.ones(2).__array_namespace__()
>>> xp.concat([xp.ones(1), xp.zeros(1)])
array([1., 0.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kGradProperty = R"(
The gradient in the default graph, or ``None``. Setting it replaces the gradient, ``None`` removes it.

>>> x = chainerx.array([1., 2.]).require_grad()
>>> (x * x).sum().backward()
>>> x.grad
array([2., 4.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kItem = R"(
The only element as a Python number.

Returns:
    bool, int or float: The element.

Raises:
    ~chainerx.DimensionError: If there is not exactly one element.

>>> chainerx.array([[2.5]]).item()
2.5
)";

constexpr const char* kView = R"(
Another array that shares the data. Differentiable any number of times.

Returns:
    ~chainerx.ndarray: View.

>>> x = chainerx.zeros(2)
>>> y = x.view()
>>> y += 1
>>> x
array([1., 1.], shape=(2,), dtype=float32, device='native:0')
)";

constexpr const char* kAsType = R"(
The array in another dtype. Differentiable any number of times, between floating point dtypes.

Args:
    dtype: Dtype of the result.
    copy (bool): Whether the result is a copy in any case.

Returns:
    ~chainerx.ndarray: Array; without ``copy`` this one where it has the dtype.

Raises:
    ~chainerx.DtypeError: If ChainerX does not have the dtype.

>>> chainerx.array([1.5, -1.5]).astype('int32')
array([ 1, -1], shape=(2,), dtype=int32, device='native:0')
)";

constexpr const char* kFill = R"(
Sets all elements to a value.

Args:
    value (number or ~chainerx.ndarray): Value, or array of one element.

Raises:
    ~chainerx.ChainerxError: If the array belongs to a graph.
    ~chainerx.DtypeError: If the value does not fit into an integer dtype.

>>> x = chainerx.zeros(2)
>>> x.fill(3)
>>> x
array([3., 3.], shape=(2,), dtype=float32, device='native:0')
)";

constexpr const char* kFlatten = R"(
A copy in one dimension, in C order. Differentiable any number of times.

Returns:
    ~chainerx.ndarray: One-dimensional array.

>>> chainerx.array([[1, 2], [3, 4]]).flatten()
array([1, 2, 3, 4], shape=(4,), dtype=int64, device='native:0')
)";

constexpr const char* kSortMethod = R"(
Sorts the array in place, those elements last that are not-a-number; :func:`chainerx.sort` makes a sorted copy.

Args:
    axis (int): Axis.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.
    ~chainerx.ChainerxError: If the array belongs to a graph.

>>> x = chainerx.array([3, 1, 2])
>>> x.sort()
>>> x
array([1, 2, 3], shape=(3,), dtype=int64, device='native:0')
)";

constexpr const char* kToList = R"(
The elements as nested lists of Python numbers.

Returns:
    list: Lists, or a number if there are no dimensions.

>>> chainerx.array([[1, 2], [3, 4]]).tolist()
[[1, 2], [3, 4]]
)";

constexpr const char* kToDevice = R"(
The array on another device. Differentiable any number of times.

Args:
    device (~chainerx.Device or str): Device, or the name of a backend if there is an index.
    index (int or None): Index of the device.
    stream (None): For compatibility.

Returns:
    ~chainerx.ndarray: This array if it is there already, else a copy.

Raises:
    ~chainerx.BackendError: If there is no such backend.
    ~chainerx.DeviceError: If there is no such device.
    ValueError: If there is a stream.

>>> chainerx.ones(1).to_device('native:1').device
native:1
)";

constexpr const char* kAsGradStopped = R"(
The same values outside of graphs: no gradient flows through.

Called as ``as_grad_stopped(copy)`` or ``as_grad_stopped(backprop_ids, copy)``.

Args:
    copy (bool): Whether to copy the data.
    backprop_ids (sequence of ~chainerx.BackpropId): Graphs to leave; all unless given.

Returns:
    ~chainerx.ndarray: Array.

>>> x = chainerx.array([1.]).require_grad()
>>> x.as_grad_stopped().is_backprop_required()
False
)";

constexpr const char* kRequireGrad = R"(
Makes gradients with respect to this array be computed.

Args:
    @backprop_id

Returns:
    ~chainerx.ndarray: This array.

Raises:
    ~chainerx.DtypeError: If the dtype is not floating point.

>>> x = chainerx.array([1.]).require_grad()
>>> x
array([1.], shape=(1,), dtype=float64, device='native:0', backprop_ids=['<default>'])
)";

constexpr const char* kIsGradRequired = R"(
Whether :meth:`require_grad` was called.

Args:
    @backprop_id

Returns:
    bool: False for arrays computed from such an array.

>>> x = chainerx.array([1.]).require_grad()
>>> x.is_grad_required(), (2 * x).is_grad_required()
(True, False)
)";

constexpr const char* kArrayIsBackpropRequired = R"(
Whether computations with this array are recorded.

Args:
    backprop_id (~chainerx.BackpropId): Graph; the default one unless given. ``chainerx.anygraph`` asks for any.

Returns:
    bool: True if a gradient is required of this array, or of one it was computed from, and recording is not
    switched off.

>>> x = chainerx.array([1.]).require_grad()
>>> (2 * x).is_backprop_required()
True
)";

constexpr const char* kGetGrad = R"(
The gradient in a graph.

Args:
    @backprop_id

Returns:
    ~chainerx.ndarray or None: Gradient.

Raises:
    ~chainerx.ChainerxError: If the array neither has nor requires a gradient.

>>> x = chainerx.array([3.]).require_grad()
>>> (x * x).backward()
>>> x.get_grad()
array([6.], shape=(1,), dtype=float64, device='native:0')
)";

constexpr const char* kSetGrad = R"(
Sets the gradient in a graph.

Args:
    grad (~chainerx.ndarray or None): Gradient, of the shape and dtype of this array; ``None`` removes it.
    @backprop_id

Raises:
    ~chainerx.GradientError: If the array does not belong to the graph, or the shape or dtype differs.

>>> x = chainerx.array([3.]).require_grad()
>>> x.set_grad(chainerx.array([1.]))
>>> x.grad
array([1.], shape=(1,), dtype=float64, device='native:0')
)";

constexpr const char* kClearGrad = R"(
Removes the gradient in a graph.

Args:
    @backprop_id

Raises:
    ~chainerx.GradientError: If the array does not belong to the graph.

>>> x = chainerx.array([3.]).require_grad()
>>> x.set_grad(chainerx.array([1.]))
>>> x.cleargrad()
>>> x.grad is None
True
)";

constexpr const char* kArrayBackward = R"(
Computes gradients of this array with respect to all that require one; see :func:`chainerx.backward`.

Args:
    @backprop_id
    @enable_double_backprop
    @loss_scale
    retain_grad (bool): Whether the arrays on the way get their gradients, too.

Raises:
    ~chainerx.GradientError: If the array has left the graph, because of an earlier backward.

>>> x = chainerx.array([1., 2.]).require_grad()
>>> (x * x).sum().backward()
>>> x.grad
array([2., 4.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kMaxMethod = R"(
The largest element over axes; see :func:`chainerx.amax`.

Args:
    @axes
    @keepdims
    @out

Returns:
    ~chainerx.ndarray: Largest elements.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or an axis is out of range or given twice.

>>> chainerx.array([[1., 5.], [4., 2.]]).max(axis=0)
array([4., 5.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kMinMethod = R"(
The smallest element over axes; see :func:`chainerx.amin`.

Args:
    @axes
    @keepdims
    @out

Returns:
    ~chainerx.ndarray: Smallest elements.

Raises:
    ~chainerx.DimensionError: If there is no element to choose, or an axis is out of range or given twice.

>>> chainerx.array([[1., 5.], [4., 2.]]).min(axis=0)
array([1., 2.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kReshapeMethod = R"(
The same elements in another shape, given as one tuple or separately; see :func:`chainerx.reshape`.

Args:
    *newshape: Lengths. One may be -1: it follows from the others.

Returns:
    ~chainerx.ndarray: Array, which shares the data where strides permit it.

Raises:
    ~chainerx.DimensionError: If the shape has another number of elements.

>>> chainerx.arange(6).reshape(2, -1).shape
(2, 3)
)";

constexpr const char* kTransposeMethod = R"(
The axes in another order, given as one tuple or separately; see :func:`chainerx.transpose`.

Args:
    *axes: For each axis of the result, which one it is; reversed unless given.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If ``axes`` is not a permutation.

>>> chainerx.ones((2, 3, 4)).transpose(1, 0, 2).shape
(3, 2, 4)
)";

}  // namespace chainerx::python::docs
