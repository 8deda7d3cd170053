#include "chainerx/ops/creation.h"

#include <algorithm>
#include <cmath>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/data_watch.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx {

const ArangeKernel kArangeKernel{"arange"};

CHAINERX_ROUTINE(Uninitialized, "empty", "shape, dtype=None, device=None", "", R"(
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
)");
Array Uninitialized(const Shape& shape, const std::optional<Dtype>& dtype, Device& device) {
    return Empty(shape, dtype.value_or(Dtype::kFloat32), device);
}

CHAINERX_ROUTINE(Zeros, "zeros", "shape, dtype=None, device=None", "fill", R"(
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
)");
Array Zeros(const Shape& shape, const std::optional<Dtype>& dtype, Device& device) {
    return Full(shape, Scalar{0}, dtype.value_or(Dtype::kFloat32), device);
}

CHAINERX_ROUTINE(Ones, "ones", "shape, dtype=None, device=None", "fill", R"(
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
)");
Array Ones(const Shape& shape, const std::optional<Dtype>& dtype, Device& device) {
    return Full(shape, Scalar{1}, dtype.value_or(Dtype::kFloat32), device);
}

CHAINERX_ROUTINE(Full, "full", "shape, fill_value, dtype=None, device=None", "fill", R"(
Makes an array filled with a value.

Args:
    @shape
    fill_value (number): Value of the elements.
    dtype: Dtype of the result; bool, int32 or float32, by the value, unless given.
    @device

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If a length is negative.
    ~chainerx.DtypeError: If the value does not fit into an integer dtype.

>>> chainerx.full((2, 2), 7)
array([[7, 7],
       [7, 7]], shape=(2, 2), dtype=int32, device='native:0')
)");
Array Full(const Shape& shape, const Scalar& value, const std::optional<Dtype>& dtype, Device& device) {
    return FilledArray(shape, value, dtype.value_or(GetScalarDtype(value.kind())), device);
}

namespace {

Device& LikeDevice(const Array& a, Device* device) { return device == nullptr ? a.device() : *device; }

}  // namespace

CHAINERX_ROUTINE(EmptyLike, "empty_like", "a, device=None, dtype=None", "", R"(
Makes an array of the shape of another one, whose elements are not set.

Args:
    a (~chainerx.ndarray): Array.
    device (~chainerx.Device or str): Device of the result; that of ``a`` unless given.
    dtype: Dtype of the result; that of ``a`` unless given.

Returns:
    ~chainerx.ndarray: Array, outside of graphs.

>>> chainerx.empty_like(chainerx.array([1, 2])).shape
(2,)
)");
Array EmptyLike(const Array& a, Device* device, const std::optional<Dtype>& dtype) {
    return Empty(a.shape(), dtype.value_or(a.dtype()), LikeDevice(a, device));
}

CHAINERX_ROUTINE(ZerosLike, "zeros_like", "a, device=None, dtype=None", "fill", R"(
Makes an array of zeros of the shape of another one.

Args:
    a (~chainerx.ndarray): Array.
    device (~chainerx.Device or str): Device of the result; that of ``a`` unless given.
    dtype: Dtype of the result; that of ``a`` unless given.

Returns:
    ~chainerx.ndarray: Array, outside of graphs.

>>> chainerx.zeros_like(chainerx.array([1, 2]))
array([0, 0], shape=(2,), dtype=int64, device='native:0')
)");
Array ZerosLike(const Array& a, Device* device, const std::optional<Dtype>& dtype) {
    return Zeros(a.shape(), dtype.value_or(a.dtype()), LikeDevice(a, device));
}

CHAINERX_ROUTINE(OnesLike, "ones_like", "a, device=None, dtype=None", "fill", R"(
Makes an array of ones of the shape of another one.

Args:
    a (~chainerx.ndarray): Array.
    device (~chainerx.Device or str): Device of the result; that of ``a`` unless given.
    dtype: Dtype of the result; that of ``a`` unless given.

Returns:
    ~chainerx.ndarray: Array, outside of graphs.

>>> chainerx.ones_like(chainerx.array([1, 2]))
array([1, 1], shape=(2,), dtype=int64, device='native:0')
)");
Array OnesLike(const Array& a, Device* device, const std::optional<Dtype>& dtype) {
    return Ones(a.shape(), dtype.value_or(a.dtype()), LikeDevice(a, device));
}

CHAINERX_ROUTINE(FullLike, "full_like", "a, fill_value, device=None, dtype=None", "fill", R"(
Makes an array of the shape of another one, filled with a value.

Args:
    a (~chainerx.ndarray): Array.
    fill_value (number): Value of the elements.
    device (~chainerx.Device or str): Device of the result; that of ``a`` unless given.
    dtype: Dtype of the result; that of ``a`` unless given.

Returns:
    ~chainerx.ndarray: Array, outside of graphs.

Raises:
    ~chainerx.DtypeError: If the value does not fit into an integer dtype.

>>> chainerx.full_like(chainerx.array([1., 2.]), 7)
array([7., 7.], shape=(2,), dtype=float64, device='native:0')
)");
Array FullLike(const Array& a, const Scalar& value, Device* device, const std::optional<Dtype>& dtype) {
    return Full(a.shape(), value, dtype.value_or(a.dtype()), LikeDevice(a, device));
}

namespace {

// Raises unless numbers in equal steps fit into a dtype; the first and the last one are the extremes.
void CheckRangeFits(double first, double last, Dtype dtype) {
    CheckScalarFits(first, dtype);
    CheckScalarFits(last, dtype);
}

Array MakeRange(const Scalar& start, const Scalar& stop, const Scalar& step, const std::optional<Dtype>& dtype,
                Device& device) {
    if (static_cast<double>(step) == 0) throw ChainerxError{"arange: step must not be zero"};
    bool integral =
            start.kind() != DtypeKind::kFloat && stop.kind() != DtypeKind::kFloat && step.kind() != DtypeKind::kFloat;
    Dtype d = dtype.value_or(integral ? Dtype::kInt32 : Dtype::kFloat32);
    // long double has all integers of 64 bits on most systems.
    double n = integral ? std::ceil((stop.To<long double>() - start.To<long double>()) / step.To<long double>())
                        : std::ceil((stop.To<double>() - start.To<double>()) / step.To<double>());
    if (!(n < 0x1p62)) {  // or not a number
        throw ChainerxError{"arange: from ", start, " to ", stop, " in steps of ", step, ": no size for the result"};
    }
    auto size = static_cast<int64_t>(std::max(n, 0.0));
    if (!integral && size > 0) {
        auto first = static_cast<double>(start);
        CheckRangeFits(first, first + static_cast<double>(size - 1) * static_cast<double>(step), d);
    }
    if (d == Dtype::kBool && size > 2) throw DtypeError{"arange: at most two elements are possible with dtype bool"};
    Array out = Empty({size}, d, device);
    if (size > 0) kArangeKernel(device, out, start, step);
    return out;
}

}  // namespace

CHAINERX_ROUTINE(Arange, "arange", "start, stop=None, step=None, dtype=None, device=None", "arange", R"(
Makes an array of numbers from a start on and below an end, in equal steps.

Called as ``arange(stop)``, ``arange(start, stop)`` or ``arange(start, stop, step)``.

Args:
    start (number): First number; zero if only one number is given, which is the end then.
    stop (number): End, which is left out.
    step (number): Distance of the numbers; one unless given.
    dtype: Dtype of the result; int32 or float32, by the arguments, unless given.
    @device

Returns:
    ~chainerx.ndarray: One-dimensional array.

Raises:
    ~chainerx.ChainerxError: If ``step`` is zero.
    ~chainerx.DtypeError: If a number that is not an integer does not fit into an integer dtype.

>>> chainerx.arange(4)
array([0, 1, 2, 3], shape=(4,), dtype=int32, device='native:0')
>>> chainerx.arange(1, 2, 0.25)
array([1.  , 1.25, 1.5 , 1.75], shape=(4,), dtype=float32, device='native:0')
)");
Array Arange(const Scalar& start, const std::optional<Scalar>& stop, const std::optional<Scalar>& step,
             const std::optional<Dtype>& dtype, Device& device) {
    return MakeRange(stop.has_value() ? start : Scalar{0}, stop.value_or(start), step.value_or(Scalar{1}), dtype,
                     device);
}

CHAINERX_ROUTINE(Linspace, "linspace", "start, stop, num=50, endpoint=True, dtype=None, device=None", "arange", R"(
Makes an array of a given number of evenly spaced numbers.

Args:
    start (float): First number.
    stop (float): Last number; left out unless ``endpoint``.
    num (int): Number of numbers.
    endpoint (bool): Whether ``stop`` is the last number.
    dtype: Dtype of the result; float32 unless given.
    @device

Returns:
    ~chainerx.ndarray: One-dimensional array.

Raises:
    ~chainerx.ChainerxError: If ``num`` is negative.
    ~chainerx.DtypeError: If a number does not fit into an integer dtype.

>>> chainerx.linspace(0, 1, 5)
array([0.  , 0.25, 0.5 , 0.75, 1.  ], shape=(5,), dtype=float32, device='native:0')
)");
Array Linspace(double start, double stop, int64_t num, bool endpoint, const std::optional<Dtype>& dtype,
               Device& device) {
    if (num < 0) throw ChainerxError{"linspace: the number of samples must not be negative, was ", num};
    Dtype d = dtype.value_or(Dtype::kFloat32);
    Array out = Empty({num}, Dtype::kFloat64, device);
    int64_t intervals = endpoint ? num - 1 : num;
    double step = intervals > 0 ? (stop - start) / static_cast<double>(intervals) : 0.0;
    if (num > 0) CheckRangeFits(start, endpoint && num > 1 ? stop : start + static_cast<double>(num - 1) * step, d);
    if (num > 0) kArangeKernel(device, out, Scalar{start}, Scalar{step});
    if (endpoint && num > 1) {
        // The last element is exactly `stop`, however the steps round.
        kFillKernel(device, internal::MakeView(out, {1}, out.strides(), (num - 1) * out.GetItemSize()), Scalar{stop});
    }
    return AsType(out, d, false);
}

namespace {

// A matrix of the comparison of i + k with j, for rows i and columns j.
template <class Compare>
Array CompareIndices(int64_t n, std::optional<int64_t> m, int64_t k, Dtype dtype, Device& device,
                     const Compare& compare) {
    CheckShape({n, m.value_or(n)}, GetItemSize(Dtype::kInt64));
    k = std::min(std::max(k, -n), m.value_or(n));  // further diagonals are like these
    Array rows = Arange(Scalar{k}, Scalar{n + k}, Scalar{1}, Dtype::kInt64, device);
    Array columns = Arange(Scalar{0}, Scalar{m.value_or(n)}, Scalar{1}, Dtype::kInt64, device);
    return AsType(compare(Reshape(rows, Shape{n, 1}), columns), dtype, false);
}

}  // namespace

CHAINERX_ROUTINE(Identity, "identity", "n, dtype=None, device=None", "", R"(
Makes the identity matrix.

Args:
    n (int): Number of rows and columns.
    dtype: Dtype of the result; float32 unless given.
    @device

Returns:
    ~chainerx.ndarray: Matrix.

Raises:
    ~chainerx.DimensionError: If ``n`` is negative.

>>> chainerx.identity(2)
array([[1., 0.],
       [0., 1.]], shape=(2, 2), dtype=float32, device='native:0')
)");
Array Identity(int64_t n, const std::optional<Dtype>& dtype, Device& device) {
    return Eye(n, n, 0, dtype.value_or(Dtype::kFloat32), device);
}

CHAINERX_ROUTINE(Eye, "eye", "N, M=None, k=0, dtype='float64', device=None", "", R"(
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
)");
Array Eye(int64_t n, const std::optional<int64_t>& m, int64_t k, const std::optional<Dtype>& dtype, Device& device) {
    if (n < 0 || m.value_or(0) < 0) throw DimensionError{"eye: negative dimensions are not allowed"};
    return CompareIndices(n, m, k, dtype.value_or(Dtype::kFloat64), device, Equal);
}

CHAINERX_ROUTINE(Tri, "tri", "N, M=None, k=0, dtype='float32', device=None", "", R"(
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
)");
Array Tri(int64_t n, const std::optional<int64_t>& m, int64_t k, const std::optional<Dtype>& dtype, Device& device) {
    if (n < 0 || m.value_or(0) < 0) throw DimensionError{"tri: negative dimensions are not allowed"};
    return CompareIndices(n, m, k, dtype.value_or(Dtype::kFloat32), device, GreaterEqual);
}

Array FromHost(const Shape& shape, Dtype dtype, const void* data, Device& device) {
    return NoteData([&] {
        internal::UnwatchedScope unwatched;
        Array out = Empty(shape, dtype, device);
        device.CopyFromHost(out.raw_data(), data, out.GetNBytes());
        return out;
    }());
}

CHAINERX_ROUTINE(FromBuffer, "frombuffer", "buffer, dtype='float32', count=-1, offset=0, device=None", "", R"(
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
)");
Array FromBuffer(const HostBuffer& buffer, const std::optional<Dtype>& dtype, int64_t count, int64_t offset,
                 Device& device) {
    Dtype d = dtype.value_or(Dtype::kFloat32);
    int64_t item = GetItemSize(d);
    if (offset < 0 || offset > buffer.size) throw ValueError{"frombuffer: offset must be within the buffer"};
    int64_t rest = buffer.size - offset;
    if (count < 0 && rest % item != 0) {
        throw ValueError{"frombuffer: buffer size must be a multiple of the item size"};
    }
    if (count > rest / item) throw ValueError{"frombuffer: the buffer is smaller than what was asked for"};
    return FromHost({count < 0 ? rest / item : count}, d, buffer.data + offset, device);
}

void Fill(const Array& a, const Scalar& value) {
    internal::CheckInPlace(a, "fill");
    CheckScalarFits(value, a.dtype());
    kFillKernel(a.device(), a, value);
    a.body()->storage->BumpVersion();
}

}  // namespace chainerx
