#include "chainerx/ops/manipulation.h"

#include <algorithm>
#include <numeric>

#include "chainerx/core/context.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

namespace {

Shape ResolveShape(const Array& a, const Shape& shape) {
    Shape out = shape;
    int unknown = -1;
    int64_t known = 1;  // product of the dimensions, with one for zero
    bool empty = false;
    bool overflow = false;
    for (int i = 0; i < shape.ndim(); ++i) {
        if (shape[i] == -1 && unknown < 0) {
            unknown = i;
        } else if (shape[i] < 0) {
            throw DimensionError{"cannot reshape to ", shape,
                                 ": only one dimension can be -1, others must not be negative"};
        } else {
            empty = empty || shape[i] == 0;
            overflow = overflow || __builtin_mul_overflow(known, std::max<int64_t>(shape[i], 1), &known);
        }
    }
    int64_t size = a.GetTotalSize();
    if (unknown >= 0 && !empty && !overflow && size % known == 0) out[unknown] = size / known;
    if (overflow || (unknown >= 0 && out[unknown] < 0) || out.GetTotalSize() != size) {
        throw DimensionError{"cannot reshape an array of shape ", a.shape(), " to ", shape};
    }
    return out;
}

// Strides of a view with the new shape, when one exists without copying.
std::optional<Strides> ReshapeStrides(const Array& a, const Shape& shape) {
    if (a.IsContiguous() || a.GetTotalSize() == 0) return Strides{shape, a.GetItemSize()};
    Shape old_shape;
    Strides old_strides;
    for (int i = 0; i < a.ndim(); ++i) {
        if (a.shape()[i] == 1) continue;
        if (!old_shape.empty() && old_strides.back() == a.strides()[i] * a.shape()[i]) {
            old_shape.back() *= a.shape()[i];
            old_strides.back() = a.strides()[i];
        } else {
            old_shape.push_back(a.shape()[i]);
            old_strides.push_back(a.strides()[i]);
        }
    }
    Strides out(shape.ndim(), 0);
    int group = old_shape.ndim() - 1;
    int64_t left = group >= 0 ? old_shape[group] : 1;
    int64_t stride = group >= 0 ? old_strides[group] : a.GetItemSize();
    for (int i = shape.ndim() - 1; i >= 0; --i) {
        out[i] = stride;
        if (shape[i] == 1) continue;
        if (left % shape[i] != 0) return std::nullopt;
        left /= shape[i];
        stride *= shape[i];
        if (left == 1 && group > 0) {
            --group;
            left = old_shape[group];
            stride = old_strides[group];
        }
    }
    return out;
}

}  // namespace

CHAINERX_ROUTINE(Reshape, "reshape", "a, newshape", "", R"(
The same elements in another shape.

The result shares the data where strides permit it. Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    newshape (int or tuple of int): Shape. One length may be -1: it follows from the others.

Returns:
    ~chainerx.ndarray: Array of that shape.

Raises:
    ~chainerx.DimensionError: If the shape has another number of elements.

>>> chainerx.reshape(chainerx.arange(6), (2, -1))
array([[0, 1, 2],
       [3, 4, 5]], shape=(2, 3), dtype=int32, device='native:0')
)");
Array Reshape(const Array& a, const Shape& shape) {
    Shape resolved = ResolveShape(a, shape);
    if (resolved == a.shape()) return View(a);
    std::optional<Strides> strides = ReshapeStrides(a, resolved);
    if (!strides.has_value()) {
        Array copied = Copy(a);
        return Reshape(copied, resolved);
    }
    return internal::RecordView("reshape", a, internal::MakeView(a, resolved, *strides, a.offset()),
                                [s = a.shape()](const Array& gy) { return Reshape(gy, s); });
}

CHAINERX_METHOD_ROUTINE(Ravel, "ravel", "a", "", R"(
The elements in one dimension, in C order.

The result shares the data where strides permit it. Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: One-dimensional array.

>>> x = chainerx.array([[1, 2], [3, 4]])
>>> chainerx.ravel(x)
array([1, 2, 3, 4], shape=(4,), dtype=int64, device='native:0')
>>> x.T.ravel()
array([1, 3, 2, 4], shape=(4,), dtype=int64, device='native:0')
)");
Array Ravel(const Array& a) { return Reshape(a, Shape{-1}); }

Array View(const Array& a) {
    return internal::RecordView("view", a, a.AsDetached(), [](const Array& gy) { return gy; });
}

CHAINERX_ROUTINE(Transpose, "transpose", "a, axes=None", "", R"(
The axes in another order, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axes (tuple of int or None): For each axis of the result, which one of ``a`` it is; reversed unless given.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If ``axes`` is not a permutation.

>>> chainerx.transpose(chainerx.ones((2, 3, 4)), (1, 0, 2)).shape
(3, 2, 4)
)");
Array Transpose(const Array& a, const OptionalAxes& axes) {
    Axes perm;
    if (axes.has_value()) {
        if (axes->ndim() != a.ndim()) {
            throw DimensionError{"transpose: axes ", *axes, " do not match an array of shape ", a.shape()};
        }
        for (int8_t axis : *axes) perm.push_back(NormalizeAxis(axis, a.ndim()));
        NormalizeAxes(axes, a.ndim());  // raises on duplicates
    } else {
        for (int8_t i = a.ndim(); i-- > 0;) perm.push_back(i);
    }
    Shape shape;
    Strides strides;
    Axes inverse(a.ndim(), 0);
    for (int8_t i = 0; i < perm.ndim(); ++i) {
        shape.push_back(a.shape()[perm[i]]);
        strides.push_back(a.strides()[perm[i]]);
        inverse[perm[i]] = i;
    }
    return internal::RecordView("transpose", a, internal::MakeView(a, shape, strides, a.offset()),
                                [inverse](const Array& gy) { return Transpose(gy, inverse); });
}

CHAINERX_METHOD_ROUTINE(Squeeze, "squeeze", "a, axis=None", "", R"(
The array without axes of length one, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (None, int or tuple of int): Axes to remove; all of length one unless given.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If an axis has another length, or is out of range.

>>> x = chainerx.ones((1, 3, 1))
>>> chainerx.squeeze(x).shape
(3,)
>>> x.squeeze(axis=0).shape
(3, 1)
)");
Array Squeeze(const Array& a, const OptionalAxes& axis) {
    Axes drop = NormalizeAxes(axis, a.ndim());
    Shape shape;
    Strides strides;
    int8_t k = 0;
    for (int8_t i = 0; i < a.ndim(); ++i) {
        bool listed = k < drop.ndim() && drop[k] == i;
        if (listed) ++k;
        if (listed && a.shape()[i] == 1) continue;
        if (listed && axis.has_value()) {
            throw DimensionError{"squeeze: axis ", int{i}, " of an array of shape ", a.shape(),
                                 " does not have length 1"};
        }
        shape.push_back(a.shape()[i]);
        strides.push_back(a.strides()[i]);
    }
    return internal::RecordView("squeeze", a, internal::MakeView(a, shape, strides, a.offset()),
                                [s = a.shape()](const Array& gy) { return Reshape(gy, s); });
}

CHAINERX_ROUTINE(ExpandDims, "expand_dims", "a, axis", "", R"(
The array with a new axis of length one, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int): Position of the axis in the result.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.expand_dims(chainerx.ones((2, 3)), 1).shape
(2, 1, 3)
)");
Array ExpandDims(const Array& a, int64_t axis) {
    int8_t i = NormalizeAxis(axis, static_cast<int8_t>(a.ndim() + 1));
    Shape shape = a.shape();
    shape.insert(i, 1);
    return Reshape(a, shape);
}

CHAINERX_METHOD_ROUTINE(Swapaxes, "swapaxes", "a, axis1, axis2", "", R"(
The array with two axes interchanged, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis1, axis2 (int): Axes.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If an axis is out of range.

>>> x = chainerx.ones((2, 3, 4))
>>> chainerx.swapaxes(x, 0, 2).shape
(4, 3, 2)
>>> x.swapaxes(0, 1).shape
(3, 2, 4)
)");
Array Swapaxes(const Array& a, int64_t axis1, int64_t axis2) {
    Axes perm = NormalizeAxes(std::nullopt, a.ndim());
    std::swap(perm[NormalizeAxis(axis1, a.ndim())], perm[NormalizeAxis(axis2, a.ndim())]);
    return Transpose(a, perm);
}

CHAINERX_ROUTINE(Moveaxis, "moveaxis", "a, source, destination", "", R"(
The array with some axes moved to other places, as a view; the others keep their order.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    source (int or tuple of int): Axes to move.
    destination (int or tuple of int): Their positions in the result.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If an axis is out of range or given twice, or the numbers of axes differ.

>>> chainerx.moveaxis(chainerx.ones((2, 3, 4)), 0, -1).shape
(3, 4, 2)
)");
Array Moveaxis(const Array& a, const Axes& source, const Axes& destination) {
    if (source.ndim() != destination.ndim()) {
        throw DimensionError{"moveaxis: source ", source, " and destination ", destination, " differ in length"};
    }
    NormalizeAxes(source, a.ndim());
    NormalizeAxes(destination, a.ndim());
    Axes perm(a.ndim(), -1);
    std::array<bool, kMaxNdim> moved{};
    for (int8_t i = 0; i < source.ndim(); ++i) {
        int8_t from = NormalizeAxis(source[i], a.ndim());
        perm[NormalizeAxis(destination[i], a.ndim())] = from;
        moved[from] = true;
    }
    int8_t next = 0;
    for (int8_t& p : perm) {
        if (p >= 0) continue;
        while (moved[next]) ++next;
        p = next++;
    }
    return Transpose(a, perm);
}

CHAINERX_ROUTINE(Rollaxis, "rollaxis", "a, axis, start=0", "", R"(
The array with an axis moved to before another one, as a view.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int): Axis to move.
    start (int): Axis before which it goes; the number of dimensions stands for the end.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If ``axis`` or ``start`` is out of range.

>>> chainerx.rollaxis(chainerx.ones((2, 3, 4)), 2).shape
(4, 2, 3)
)");
Array Rollaxis(const Array& a, int64_t axis, int64_t start) {
    int8_t from = NormalizeAxis(axis, a.ndim());
    int8_t to = NormalizeAxis(start < 0 ? start + a.ndim() : start, static_cast<int8_t>(a.ndim() + 1));
    if (from < to) --to;
    return Moveaxis(a, Axes{from}, Axes{to});
}

CHAINERX_ROUTINE(Flip, "flip", "m, axis|axes=None", "", R"(
The elements in reverse order along axes, as a view.

Differentiable any number of times.

Args:
    m (~chainerx.ndarray): Array of any dtype.
    axis (None, int or tuple of int): Axes; all unless given.

Returns:
    ~chainerx.ndarray: View.

Raises:
    @axis_error

>>> chainerx.flip(chainerx.array([[1, 2], [3, 4]]), axis=1)
array([[2, 1],
       [4, 3]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Flip(const Array& m, const OptionalAxes& axes) {
    Strides strides = m.strides();
    int64_t offset = m.offset();
    for (int8_t i : NormalizeAxes(axes, m.ndim())) {
        if (m.shape()[i] > 0) offset += (m.shape()[i] - 1) * strides[i];
        strides[i] = -strides[i];
    }
    return internal::RecordView("flip", m, internal::MakeView(m, m.shape(), strides, offset),
                                [axes](const Array& gy) { return Flip(gy, axes); });
}

CHAINERX_ROUTINE(Fliplr, "fliplr", "m", "", R"(
The elements in reverse order along axis 1, as a view.

Differentiable any number of times.

Args:
    m (~chainerx.ndarray): Array of at least two dimensions.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If there are less than two dimensions.

>>> chainerx.fliplr(chainerx.array([[1, 2], [3, 4]]))
array([[2, 1],
       [4, 3]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Fliplr(const Array& m) {
    if (m.ndim() < 2) throw DimensionError{"fliplr needs an array of at least 2 dimensions, not ", int{m.ndim()}};
    return Flip(m, Axes{1});
}

CHAINERX_ROUTINE(Flipud, "flipud", "m", "", R"(
The elements in reverse order along axis 0, as a view.

Differentiable any number of times.

Args:
    m (~chainerx.ndarray): Array of at least one dimension.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If there is no dimension.

>>> chainerx.flipud(chainerx.array([[1, 2], [3, 4]]))
array([[3, 4],
       [1, 2]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Flipud(const Array& m) {
    if (m.ndim() < 1) throw DimensionError{"flipud needs an array of at least 1 dimension"};
    return Flip(m, Axes{0});
}

CHAINERX_ROUTINE(BroadcastTo, "broadcast_to", "array, shape", "", R"(
The array repeated to a larger shape, as a view.

Repeated elements lie in the same place: write to a copy only. Differentiable any number of times.

Args:
    array (~chainerx.ndarray): Array of any dtype.
    shape (tuple of int): Shape. Axes of length one, and those that ``array`` lacks at the front, are repeated.

Returns:
    ~chainerx.ndarray: View.

Raises:
    ~chainerx.DimensionError: If the array does not broadcast to the shape.

>>> chainerx.broadcast_to(chainerx.array([1, 2]), (2, 2))
array([[1, 2],
       [1, 2]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array BroadcastTo(const Array& array, const Shape& shape) {
    if (array.shape() == shape) return View(array);
    CheckShape(shape, array.GetItemSize());
    Strides strides = BroadcastStrides(array.shape(), array.strides(), shape);
    return internal::RecordView("broadcast_to", array, internal::MakeView(array, shape, strides, array.offset()),
                                [s = array.shape()](const Array& gy) { return SumTo(gy, s); });
}

std::vector<Array> BroadcastArrays(const std::vector<Array>& arrays) {
    Shape shape;
    for (const Array& a : arrays) shape = BroadcastShapes(shape, a.shape());
    std::vector<Array> out;
    for (const Array& a : arrays) out.push_back(BroadcastTo(a, shape));
    return out;
}

Array SumTo(const Array& a, const Shape& shape) {
    if (a.shape() == shape) return a;
    int8_t lead = static_cast<int8_t>(a.ndim() - shape.ndim());
    Axes axes;
    bool keep = false;
    for (int8_t i = 0; i < a.ndim(); ++i) {
        if (i < lead) {
            axes.push_back(i);
        } else if (shape[i - lead] == 1 && a.shape()[i] != 1) {
            axes.push_back(i);
            keep = true;
        }
    }
    Array out = axes.empty() ? a : Sum(a, axes, keep);
    return out.shape() == shape ? out : Reshape(out, shape);
}

}  // namespace chainerx
