#pragma once

// The documentation of the creation and conversion of arrays; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kArray = R"(
Makes an array from an array, a NumPy array, a number, or nested sequences of numbers.

Args:
    object: What the elements come from.
    @dtype
    copy (bool): Whether the result has data of its own in any case. A copy of a ChainerX array stays in its graph.
    device (~chainerx.Device or str): Device of the result; that of a ChainerX array, else the default one, unless
        given.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DtypeError: If ChainerX does not have the dtype.

>>> chainerx.array([[1, 2], [3, 4]], dtype='float32')
array([[1., 2.],
       [3., 4.]], shape=(2, 2), dtype=float32, device='native:0')
)";

constexpr const char* kAsArray = R"(
Converts to an array; what is an array already, or a NumPy array in memory that can be shared, is not copied.

Args:
    a: Array, NumPy array, number, or nested sequences. May also be given as the keyword ``object``.
    @dtype
    device (~chainerx.Device or str): Device of the result; that of a ChainerX array, else the default one, unless
        given.

Returns:
    ~chainerx.ndarray: ``a`` itself where nothing has to change.

Raises:
    ~chainerx.DtypeError: If ChainerX does not have the dtype.

>>> x = np.zeros(2)
>>> y = chainerx.asarray(x)
>>> y += 1
>>> x
array([1., 1.])
)";

constexpr const char* kAsContiguousArray = R"(
Converts to an array in C order of at least one dimension; what is one already is not copied.

Args:
    a: Array, NumPy array, number, or nested sequences.
    @dtype
    device (~chainerx.Device or str): Device of the result; that of a ChainerX array, else the default one, unless
        given.

Returns:
    ~chainerx.ndarray: Contiguous array.

Raises:
    ~chainerx.DtypeError: If ChainerX does not have the dtype.

>>> x = chainerx.ones((2, 3)).T
>>> x.is_contiguous, chainerx.ascontiguousarray(x).is_contiguous
(False, True)
)";

constexpr const char* kEmpty = R"(
Makes an array whose elements are not set.

Args:
    @shape
    dtype: Dtype of the result; float32 unless given.
    @device

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If a length is negative.

>>> chainerx.empty((2, 3)).shape
(2, 3)
)";

constexpr const char* kZeros = R"(
Makes an array of zeros.

Args:
    @shape
    dtype: Dtype of the result; float32 unless given.
    @device

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If a length is negative.

>>> chainerx.zeros((2, 2), dtype='int32')
array([[0, 0],
       [0, 0]], shape=(2, 2), dtype=int32, device='native:0')
)";

constexpr const char* kOnes = R"(
Makes an array of ones.

Args:
    @shape
    dtype: Dtype of the result; float32 unless given.
    @device

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If a length is negative.

>>> chainerx.ones(3)
array([1., 1., 1.], shape=(3,), dtype=float32, device='native:0')
)";

constexpr const char* kFull = R"(
Makes an array filled with a value.

Args:
    @shape
    fill_value (number): Value of the elements.
    dtype: Dtype of the result; that of the value (bool, int64 or float64) unless given.
    @device

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If a length is negative.

>>> chainerx.full((2, 2), 7)
array([[7, 7],
       [7, 7]], shape=(2, 2), dtype=int64, device='native:0')
)";

constexpr const char* kEmptyLike = R"(
Makes an array of the shape of another one, whose elements are not set.

Args:
    a (~chainerx.ndarray): Array.
    device (~chainerx.Device or str): Device of the result; that of ``a`` unless given.
    dtype: Dtype of the result; that of ``a`` unless given.

Returns:
    ~chainerx.ndarray: Array, outside of graphs.

>>> chainerx.empty_like(chainerx.array([1, 2])).shape
(2,)
)";

constexpr const char* kZerosLike = R"(
Makes an array of zeros of the shape of another one.

Args:
    a (~chainerx.ndarray): Array.
    device (~chainerx.Device or str): Device of the result; that of ``a`` unless given.
    dtype: Dtype of the result; that of ``a`` unless given.

Returns:
    ~chainerx.ndarray: Array, outside of graphs.

>>> chainerx.zeros_like(chainerx.array([1, 2]))
array([0, 0], shape=(2,), dtype=int64, device='native:0')
)";

constexpr const char* kOnesLike = R"(
Makes an array of ones of the shape of another one.

Args:
    a (~chainerx.ndarray): Array.
    device (~chainerx.Device or str): Device of the result; that of ``a`` unless given.
    dtype: Dtype of the result; that of ``a`` unless given.

Returns:
    ~chainerx.ndarray: Array, outside of graphs.

>>> chainerx.ones_like(chainerx.array([1, 2]))
array([1, 1], shape=(2,), dtype=int64, device='native:0')
)";

constexpr const char* kFullLike = R"(
Makes an array of the shape of another one, filled with a value.

Args:
    a (~chainerx.ndarray): Array.
    fill_value (number): Value of the elements.
    dtype: Dtype of the result; that of ``a`` unless given.
    device (~chainerx.Device or str): Device of the result; that of ``a`` unless given.

Returns:
    ~chainerx.ndarray: Array, outside of graphs.

>>> chainerx.full_like(chainerx.array([1., 2.]), 7)
array([7., 7.], shape=(2,), dtype=float64, device='native:0')
)";

constexpr const char* kArange = R"(
Makes an array of numbers from a start on and below an end, in equal steps.

Called as ``arange(stop)``, ``arange(start, stop)`` or ``arange(start, stop, step)``.

Args:
    start (number): First number; zero if only one number is given, which is the end then.
    stop (number): End, which is left out.
    step (number): Distance of the numbers; one unless given.
    dtype: Dtype of the result; int64 or float64, by the arguments, unless given.
    @device

Returns:
    ~chainerx.ndarray: One-dimensional array.

Raises:
    ~chainerx.ChainerxError: If ``step`` is zero.

>>> chainerx.arange(4)
array([0, 1, 2, 3], shape=(4,), dtype=int64, device='native:0')
>>> chainerx.arange(1, 2, 0.25)
array([1.  , 1.25, 1.5 , 1.75], shape=(4,), dtype=float64, device='native:0')
)";

constexpr const char* kLinspace = R"(
Makes an array of a given number of evenly spaced numbers.

Args:
    start (float): First number.
    stop (float): Last number; left out unless ``endpoint``.
    num (int): Number of numbers.
    endpoint (bool): Whether ``stop`` is the last number.
    dtype: Dtype of the result; float64 unless given.
    @device

Returns:
    ~chainerx.ndarray: One-dimensional array.

Raises:
    ~chainerx.ChainerxError: If ``num`` is negative.

>>> chainerx.linspace(0, 1, 5)
array([0.  , 0.25, 0.5 , 0.75, 1.  ], shape=(5,), dtype=float64, device='native:0')
)";

constexpr const char* kIdentity = R"(
Makes the identity matrix.

Args:
    n (int): Number of rows and columns.
    dtype: Dtype of the result; float64 unless given.
    @device

Returns:
    ~chainerx.ndarray: Matrix.

Raises:
    ~chainerx.DimensionError: If ``n`` is negative.

>>> chainerx.identity(2)
array([[1., 0.],
       [0., 1.]], shape=(2, 2), dtype=float64, device='native:0')
)";

constexpr const char* kEye = R"(
Makes a matrix with ones on a diagonal, zeros elsewhere.

Args:
    N (int): Number of rows.
    M (int or None): Number of columns; that of rows unless given.
    k (int): Distance from the main diagonal; positive above it.
    dtype: Dtype of the result.
    @device

Returns:
    ~chainerx.ndarray: Matrix.

Raises:
    ~chainerx.DimensionError: If a number is negative.

>>> chainerx.eye(2, 3, k=1)
array([[0., 1., 0.],
       [0., 0., 1.]], shape=(2, 3), dtype=float64, device='native:0')
)";

constexpr const char* kTri = R"(
Makes a matrix with ones on and below a diagonal, zeros elsewhere.

Args:
    N (int): Number of rows.
    M (int or None): Number of columns; that of rows unless given.
    k (int): Distance of the diagonal from the main one; positive above it.
    dtype: Dtype of the result.
    @device

Returns:
    ~chainerx.ndarray: Matrix.

Raises:
    ~chainerx.DimensionError: If a number is negative.

>>> chainerx.tri(3)
array([[1., 0., 0.],
       [1., 1., 0.],
       [1., 1., 1.]], shape=(3, 3), dtype=float32, device='native:0')
)";

constexpr const char* kFromBuffer = R"(
Makes a one-dimensional array from a copy of the bytes of a buffer.

Args:
    buffer: Object with the buffer protocol, such as ``bytes``.
    dtype: Dtype of the elements.
    count (int): Number of elements; -1 for all.
    offset (int): Number of bytes to leave out at the beginning.
    @device

Returns:
    ~chainerx.ndarray: Array.

Raises:
    TypeError: If ``buffer`` has no buffer protocol.
    ValueError: If the buffer is too small, or its size is no multiple of that of an element.

>>> chainerx.frombuffer(b'\x01\x02\x03', dtype='uint8')
array([1, 2, 3], shape=(3,), dtype=uint8, device='native:0')
)";

constexpr const char* kToNumpy = R"(
Converts an array to NumPy.

Args:
    array (~chainerx.ndarray): Array of any device.
    copy (bool): Whether the result has data of its own; else it shares that of ``array`` where both can.

Returns:
    numpy.ndarray: Array.

Raises:
    ~chainerx.ChainerxError: If the array belongs to a graph, which would be lost; see
        :meth:`~chainerx.ndarray.as_grad_stopped`.

>>> chainerx.to_numpy(chainerx.array([1., 2.]))
array([1., 2.])
)";

constexpr const char* kFromDlpack = R"(
Makes an array that shares the memory of an array of another library, such as NumPy or PyTorch.

Args:
    x: Object with ``__dlpack__`` and ``__dlpack_device__``.
    device (~chainerx.Device or str): Device of the result; the one where the memory is unless given.
    copy (bool or None): Whether to copy. Read-only memory is copied unless ``copy`` is false.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    TypeError: If ``x`` has not these methods.
    ~chainerx.DtypeError: If ChainerX does not have the dtype.

>>> x = np.zeros(2)
>>> y = chainerx.from_dlpack(x)
>>> y += 1
>>> x
array([1., 1.])
)";

}  // namespace chainerx::python::docs
