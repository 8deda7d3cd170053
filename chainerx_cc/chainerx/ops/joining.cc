// Arrays made of several, or of several times one.

#include "chainerx/autograd/graph.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

CHAINERX_ROUTINE(Concatenate, "concatenate", "arrays, axis=0", "copy", R"(
Arrays joined along an axis.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of equal lengths along the other axes. Dtypes are promoted.
    axis (int or None): Axis; ``None`` joins the flattened arrays.

Returns:
    ~chainerx.ndarray: Joined array.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes do not fit.

>>> chainerx.concatenate([chainerx.array([[1, 2]]), chainerx.array([[3, 4]])], axis=0)
array([[1, 2],
       [3, 4]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Concatenate(const std::vector<Array>& arrays, const std::optional<int64_t>& axis) {
    if (arrays.empty()) throw DimensionError{"concatenate needs at least one array"};
    if (!axis.has_value()) {
        std::vector<Array> flat;
        for (const Array& a : arrays) flat.push_back(Ravel(a));
        return Concatenate(flat, 0);
    }
    const Array& first = arrays.front();
    if (first.ndim() == 0) throw DimensionError{"arrays without dimensions cannot be concatenated"};
    int8_t ax = NormalizeAxis(*axis, first.ndim());
    Shape shape = first.shape();
    Dtype dtype = first.dtype();
    GraphMask mask = 0;
    shape[ax] = 0;
    for (const Array& a : arrays) {
        CheckDevices(first, a);
        Shape expected = shape;
        bool fits = a.ndim() == first.ndim();
        if (fits) {
            expected[ax] = a.shape()[ax];
            fits = a.shape() == expected;
        }
        if (!fits) {
            throw DimensionError{"concatenate: shapes ",        first.shape(), " and ", a.shape(),
                                 " differ in other axes than ", int{ax}};
        }
        if (__builtin_add_overflow(shape[ax], a.shape()[ax], &shape[ax])) {
            throw DimensionError{"concatenate: the result would be too big"};
        }
        dtype = PromoteTypes(dtype, a.dtype());
        mask |= internal::GetRecordMask(a);
    }
    Array out = Empty(shape, dtype, first.device());
    int64_t offset = 0;
    std::vector<int64_t> ends;
    for (const Array& a : arrays) {
        CopyData(a, internal::MakeView(out, a.shape(), out.strides(), offset * out.strides()[ax]));
        offset += a.shape()[ax];
        ends.push_back(offset);
    }
    if (mask != 0) {
        ends.pop_back();
        auto backward = [ends, ax](BackwardContext& ctx) {
            std::vector<Array> parts = Split(ctx.grad(), ends, ax);
            for (size_t i = 0; i < parts.size(); ++i) {
                if (ctx.IsWanted(i)) ctx.SetGrad(i, parts[i]);
            }
        };
        auto* node = new FunctionObjectNode<decltype(backward)>{"concatenate", mask, std::move(backward)};
        IntrusivePtr<OpNode> guard{node};
        for (const Array& a : arrays) node->AddInput(a, mask);
        node->AddOutput(out);
    }
    return out;
}

CHAINERX_ROUTINE(Stack, "stack", "arrays, axis=0", "copy", R"(
Arrays joined along a new axis.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of one shape. Dtypes are promoted.
    axis (int): Position of the axis in the result.

Returns:
    ~chainerx.ndarray: Array with one more dimension.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes differ.

>>> chainerx.stack([chainerx.array([1, 2]), chainerx.array([3, 4])], axis=1)
array([[1, 3],
       [2, 4]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Stack(const std::vector<Array>& arrays, int64_t axis) {
    if (arrays.empty()) throw DimensionError{"stack needs at least one array"};
    std::vector<Array> expanded;
    for (const Array& a : arrays) {
        if (a.shape() != arrays.front().shape()) {
            throw DimensionError{"stack: shapes ", arrays.front().shape(), " and ", a.shape(), " differ"};
        }
        expanded.push_back(ExpandDims(a, axis));
    }
    return Concatenate(expanded, NormalizeAxis(axis, static_cast<int8_t>(arrays.front().ndim() + 1)));
}

namespace {

Array Atleast1D(const Array& a) { return a.ndim() == 0 ? Reshape(a, Shape{1}) : a; }

template <class F>
std::vector<Array> Map(const std::vector<Array>& arrays, F&& f) {
    std::vector<Array> out;
    for (const Array& a : arrays) out.push_back(f(a));
    return out;
}

}  // namespace

CHAINERX_ROUTINE(Atleast2D, "atleast_2d", "a", "", R"(
The array with axes of length one in front, if it has less than two dimensions.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: View of two or more dimensions.

>>> chainerx.atleast_2d(chainerx.array([1, 2])).shape
(1, 2)
)");
Array Atleast2D(const Array& a) {
    return a.ndim() >= 2 ? View(a) : Reshape(a, a.ndim() == 0 ? Shape{1, 1} : Shape{1, a.shape()[0]});
}

CHAINERX_ROUTINE(Atleast3D, "atleast_3d", "a", "", R"(
The array with axes of length one, if it has less than three dimensions.

A vector of length :math:`n` gets the shape :math:`(1, n, 1)`, a matrix another axis at the end. Differentiable any
number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: View of three or more dimensions.

>>> chainerx.atleast_3d(chainerx.array([1, 2])).shape
(1, 2, 1)
)");
Array Atleast3D(const Array& a) {
    switch (a.ndim()) {
        case 0:
            return Reshape(a, Shape{1, 1, 1});
        case 1:
            return Reshape(a, Shape{1, a.shape()[0], 1});
        case 2:
            return Reshape(a, Shape{a.shape()[0], a.shape()[1], 1});
        default:
            return View(a);
    }
}

CHAINERX_ROUTINE(Hstack, "hstack", "arrays", "copy", R"(
Arrays joined along axis 1, or along axis 0 if they have one dimension.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of equal lengths along the other axes.

Returns:
    ~chainerx.ndarray: Joined array.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes do not fit.

>>> chainerx.hstack([chainerx.array([1, 2]), chainerx.array([3])])
array([1, 2, 3], shape=(3,), dtype=int64, device='native:0')
)");
Array Hstack(const std::vector<Array>& arrays) {
    std::vector<Array> a = Map(arrays, Atleast1D);
    return Concatenate(a, !a.empty() && a.front().ndim() == 1 ? 0 : 1);
}

CHAINERX_ROUTINE(Vstack, "vstack", "arrays", "copy", R"(
Arrays joined along axis 0; those of one dimension become rows.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of equal lengths along the other axes.

Returns:
    ~chainerx.ndarray: Joined array.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes do not fit.

>>> chainerx.vstack([chainerx.array([1, 2]), chainerx.array([3, 4])])
array([[1, 2],
       [3, 4]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Vstack(const std::vector<Array>& arrays) { return Concatenate(Map(arrays, Atleast2D), 0); }

CHAINERX_ROUTINE(Dstack, "dstack", "arrays", "copy", R"(
Arrays joined along axis 2, which is added where it is missing.

Differentiable any number of times.

Args:
    arrays (sequence of ~chainerx.ndarray): Arrays of equal lengths along the other axes.

Returns:
    ~chainerx.ndarray: Joined array.

Raises:
    ~chainerx.DimensionError: If there is no array, or the shapes do not fit.

>>> chainerx.dstack([chainerx.array([1, 2]), chainerx.array([3, 4])])
array([[[1, 3],
        [2, 4]]], shape=(1, 2, 2), dtype=int64, device='native:0')
)");
Array Dstack(const std::vector<Array>& arrays) { return Concatenate(Map(arrays, Atleast3D), 2); }

CHAINERX_METHOD_ROUTINE(Repeat, "repeat", "a, repeats, axis=None", "take", R"(
Each element repeated.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    repeats (int or tuple of int): Number of times, one for all or one for each element along the axis.
    axis (int or None): Axis; the flattened array is taken unless given.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If the number of ``repeats`` does not fit, or the axis is out of range.

>>> x = chainerx.array([[1, 2], [3, 4]])
>>> chainerx.repeat(x, (1, 2), axis=1)
array([[1, 2, 2],
       [3, 4, 4]], shape=(2, 3), dtype=int64, device='native:0')
>>> x.repeat(2)
array([1, 1, 2, 2, 3, 3, 4, 4], shape=(8,), dtype=int64, device='native:0')
)");
Array Repeat(const Array& a, const std::vector<int64_t>& repeats, const std::optional<int64_t>& axis) {
    if (!axis.has_value()) return Repeat(Ravel(a), repeats, 0);
    int8_t ax = NormalizeAxis(*axis, a.ndim());
    int64_t length = a.shape()[ax];
    if (repeats.size() != 1 && static_cast<int64_t>(repeats.size()) != length) {
        throw DimensionError{"repeat: ", repeats.size(), " counts do not match an axis of length ", length};
    }
    for (int64_t n : repeats) {
        if (n < 0) throw DimensionError{"repeat: counts must not be negative, one was ", n};
    }
    std::vector<int64_t> indices;
    if (repeats.size() == 1) {
        CheckShape(Shape{length, repeats[0]}, sizeof(int64_t));
        if (repeats[0] == 0) length = 0;  // however long it is
    }
    for (int64_t i = 0; i < length; ++i) indices.insert(indices.end(), repeats[repeats.size() == 1 ? 0 : i], i);
    Shape shape{static_cast<int64_t>(indices.size())};
    return Take(a, FromHost(shape, Dtype::kInt64, indices.data(), a.device()), ax);
}

CHAINERX_ROUTINE(Tile, "tile", "A, reps", "", R"(
The array repeated like tiles.

Differentiable any number of times.

Args:
    A (~chainerx.ndarray): Array of any dtype.
    reps (int or tuple of int): Number of tiles along each axis, the last ones if there are fewer.

Returns:
    ~chainerx.ndarray: Array.

Raises:
    ~chainerx.DimensionError: If a number is negative.

>>> chainerx.tile(chainerx.array([1, 2]), (2, 2))
array([[1, 2, 1, 2],
       [1, 2, 1, 2]], shape=(2, 4), dtype=int64, device='native:0')
)");
Array Tile(const Array& a, const Shape& reps) {
    Shape r = reps;
    Shape s = a.shape();
    while (r.ndim() < s.ndim()) r.insert(0, 1);
    while (s.ndim() < r.ndim()) s.insert(0, 1);
    // (r0, s0, r1, s1, ...)
    Shape split;
    Shape wide;
    for (int i = 0; i < s.ndim(); ++i) {
        split.push_back(1);
        split.push_back(s[i]);
        wide.push_back(r[i]);
        wide.push_back(s[i]);
    }
    Array tiled = BroadcastTo(Reshape(a, split), wide);
    Shape out;  // its products do not overflow where those of `wide` do not
    for (int i = 0; i < s.ndim(); ++i) out.push_back(r[i] * s[i]);
    return Reshape(tiled, out);
}

namespace {

Array RollAxis(const Array& a, int64_t shift, int64_t axis) {
    int8_t ax = NormalizeAxis(axis, a.ndim());
    int64_t length = a.shape()[ax];
    if (length == 0) return Copy(a);
    int64_t s = ((shift % length) + length) % length;
    if (s == 0) return Copy(a);
    std::vector<Array> parts = Split(a, std::vector<int64_t>{length - s}, ax);
    return Concatenate({parts[1], parts[0]}, ax);
}

}  // namespace

CHAINERX_ROUTINE(Roll, "roll", "a, shift, axis=None", "", R"(
The elements moved along axes; those that leave at one end enter at the other.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    shift (int or tuple of int): Number of places, one for all axes or one for each.
    axis (None, int or tuple of int): Axes; the flattened array is rolled unless given.

Returns:
    ~chainerx.ndarray: Array of the shape of ``a``.

Raises:
    ValueError: If the numbers of shifts and axes do not fit.
    ~chainerx.DimensionError: If an axis is out of range.

>>> chainerx.roll(chainerx.array([1, 2, 3, 4]), 1)
array([4, 1, 2, 3], shape=(4,), dtype=int64, device='native:0')
)");
Array Roll(const Array& a, const std::vector<int64_t>& shift, const std::optional<std::vector<int64_t>>& axis) {
    if (!axis.has_value()) {
        int64_t total = 0;
        for (int64_t s : shift) total += s % std::max<int64_t>(a.GetTotalSize(), 1);
        return Reshape(RollAxis(Ravel(a), total, 0), a.shape());
    }
    size_t n = std::max(shift.size(), axis->size());
    if ((shift.size() != n && shift.size() != 1) || (axis->size() != n && axis->size() != 1)) {
        throw ValueError{"roll: ", shift.size(), " shifts were given for ", axis->size(), " axes"};
    }
    Array out = a;
    for (size_t i = 0; i < n; ++i) {
        out = RollAxis(out, shift[shift.size() == 1 ? 0 : i], (*axis)[axis->size() == 1 ? 0 : i]);
    }
    return out;
}

CHAINERX_ROUTINE(Meshgrid, "_meshgrid", "xi, indexing='xy'", "", "Coordinate arrays from coordinate vectors.");
std::vector<Array> Meshgrid(const std::vector<Array>& xi, MeshIndexing indexing) {
    auto n = static_cast<int8_t>(xi.size());
    Shape shape;
    for (const Array& a : xi) {
        shape.push_back(a.GetTotalSize());
    }
    bool swap = indexing == MeshIndexing::kXy && n >= 2;
    if (swap) std::swap(shape[0], shape[1]);
    std::vector<Array> out;
    for (int8_t i = 0; i < n; ++i) {
        int8_t axis = swap && i < 2 ? static_cast<int8_t>(1 - i) : i;
        Shape one(n, 1);
        one[axis] = xi[i].GetTotalSize();
        out.push_back(BroadcastTo(Reshape(xi[i], one), shape));
    }
    return out;
}

}  // namespace chainerx
