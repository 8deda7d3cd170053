#pragma once

// The documentation of conversions from and to other objects; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kArray = R"(
Makes an array from an array, a NumPy array, a number, or nested sequences of numbers.

Args:
    object: Source of the elements.
    @dtype
    copy (bool): Whether to copy the data in any case. A copy of a ChainerX array stays in its graph.
    device (~chainerx.Device or str): Device of the result; that of a ChainerX array, else the default one, unless
        given.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DtypeError: If ChainerX does not have the dtype, or a number does not fit into an integer dtype.

>>> chainerx.array([[1, 2], [3, 4]], dtype='float32')
array([[1., 2.],
       [3., 4.]], shape=(2, 2), dtype=float32, device='native:0')
)";

constexpr const char* kAsArray = R"(
Converts to an array, without copying an array, or a NumPy array whose memory can be shared.

Args:
    a: Array, NumPy array, number, or nested sequences. May also be given as the keyword ``object``.
    @dtype
    device (~chainerx.Device or str): Device of the result; that of a ChainerX array, else the default one, unless
        given.

Returns:
    ~chainerx.ndarray: ``a`` itself if nothing has to change.

Raises:
    ~chainerx.DtypeError: If ChainerX does not have the dtype, or a number does not fit into an integer dtype.

>>> x = np.zeros(2)
>>> y = chainerx.asarray(x)
>>> y += 1
>>> x
array([1., 1.])
)";

constexpr const char* kAsContiguousArray = R"(
Converts to an array in C order of at least one dimension, without copying one that already is.

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

constexpr const char* kToNumpy = R"(
Converts an array to NumPy. The result does not belong to a graph, whether ``array`` does or not.

Args:
    array (~chainerx.ndarray): Array of any device.
    copy (bool): Whether to copy the data; otherwise the result shares the data of ``array`` if possible.

Returns:
    numpy.ndarray: Array.

>>> chainerx.to_numpy(chainerx.array([1., 2.]))
array([1., 2.])
)";

constexpr const char* kFromDlpack = R"(
Makes an array that shares the memory of an array of another library, such as NumPy, CuPy or PyTorch.

The work of the current stream waits for what the other library does to make the array.

Args:
    x: Object with ``__dlpack__`` and ``__dlpack_device__``.
    device (~chainerx.Device or str): Device of the result; the one where the memory is unless given, such as
        ``cuda:N`` for the GPU with that index. Other devices get a copy.
    copy (bool or None): Whether to copy. Read-only memory is copied unless ``copy`` is false.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    TypeError: If ``x`` has not these methods.
    BufferError: If the memory cannot be shared, or a copy would be needed that ``copy`` forbids.
    ~chainerx.DtypeError: If ChainerX does not have the dtype.

>>> x = np.zeros(2)
>>> y = chainerx.from_dlpack(x)
>>> y += 1
>>> x
array([1., 1.])
)";

}  // namespace chainerx::python::docs
