#include "chainerx/ops/sorting.h"

#include <algorithm>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const SortKernel kSortKernel{"sort"};
const SortKernel kArgsortKernel{"argsort"};

namespace {

// Applies f to the array with the axis moved to the end.
template <class F>
Array AlongLast(const char* op, const Array& a, const std::optional<int64_t>& axis, F&& f) {
    if (!axis.has_value()) return f(Ravel(a));
    if (a.ndim() == 0) throw DimensionError{op, ": an array without dimensions has no axis to sort along"};
    int8_t ax = NormalizeAxis(*axis, a.ndim());
    if (ax == a.ndim() - 1) return f(a);
    return Moveaxis(f(Moveaxis(a, Axes{ax}, Axes{-1})), Axes{-1}, Axes{ax});
}

Array Reverse(const Array& a) { return Flip(a, Axes{-1}); }

Array ArgsortLast(const Array& a, bool descending) {
    // Reversed twice, equal elements keep their order.
    if (descending) return Scalar{a.shape().back() - 1} - Reverse(ArgsortLast(Reverse(a), false));
    Array data = AsContiguous(a.AsDetached());
    Array index = Empty(data.shape(), Dtype::kInt64, data.device());
    kArgsortKernel(data.device(), data, index);
    return index;
}

Array SortLast(const Array& a) {
    if (internal::GetRecordMask(a) == 0) {
        Array data = AsContiguous(a.AsDetached());
        Array out = EmptyLike(data);
        kSortKernel(data.device(), data, out);
        return out;
    }
    // A gather has its gradient already.
    int64_t n = a.shape().back();
    int64_t rows = a.GetTotalSize() / std::max<int64_t>(n, 1);
    Array start = Arange(Scalar{0}, Scalar{rows * n}, Scalar{n}, Dtype::kInt64, a.device());
    Array index = Reshape(ArgsortLast(a, false), Shape{rows, n}) + Reshape(start, Shape{rows, 1});
    return Reshape(Take(a, index), a.shape());
}

}  // namespace

CHAINERX_ROUTINE(Sort, "sort", "a, axis=-1, descending=False, stable=True", "sort argsort", R"(
The elements in ascending order, those that are not-a-number last; or in descending order.

Differentiable any number of times.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; ``None`` sorts the flattened array.
    descending (bool): Whether the largest element is first, after those that are not-a-number.
    stable (bool): For compatibility; equal elements always keep their order.

Returns:
    ~chainerx.ndarray: Sorted copy.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.sort(chainerx.array([[3, 1, 2], [6, 5, 4]]))
array([[1, 2, 3],
       [4, 5, 6]], shape=(2, 3), dtype=int64, device='native:0')
)");
Array Sort(const Array& a, const std::optional<int64_t>& axis, bool descending, bool) {
    if (a.GetTotalSize() == 0 && a.ndim() > 0) {
        if (axis.has_value()) NormalizeAxis(*axis, a.ndim());
        return Copy(axis.has_value() ? a : Ravel(a));
    }
    return AlongLast("sort", a, axis,
                     [&](const Array& x) { return descending ? Copy(Reverse(SortLast(x))) : SortLast(x); });
}

CHAINERX_METHOD_ROUTINE(Argsort, "argsort", "a, axis=-1, descending=False, stable=True", "argsort", R"(
Positions that sort an array; equal elements keep their order.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    axis (int or None): Axis; ``None`` sorts the flattened array.
    descending (bool): Whether the largest element is first, after those that are not-a-number.
    stable (bool): For compatibility; equal elements always keep their order.

Returns:
    ~chainerx.ndarray: Positions, of dtype int64.

Raises:
    ~chainerx.DimensionError: If the axis is out of range.

>>> chainerx.argsort(chainerx.array([3, 1, 2]))
array([1, 2, 0], shape=(3,), dtype=int64, device='native:0')
)");
Array Argsort(const Array& a, const std::optional<int64_t>& axis, bool descending, bool) {
    return AlongLast("argsort", a.AsDetached(), axis, [&](const Array& x) { return ArgsortLast(x, descending); });
}

CHAINERX_ROUTINE(EmbedId, "embed_id", "x, W, ignore_label=None", "take add_at normalize_indices", R"(
Rows of a table by their numbers.

Differentiable any number of times with respect to ``W``.

Args:
    x (~chainerx.ndarray): Numbers of rows, in any shape, of an integer dtype.
    W (~chainerx.ndarray): Table of shape :math:`(V, D)`.
    ignore_label (int or None): Index that gives a row of zeros.

Returns:
    ~chainerx.ndarray: Rows: the shape of ``x`` and an axis of length :math:`D`.

Raises:
    ~chainerx.IndexError: If a number is out of range.

>>> W = chainerx.array([[0., 1.], [2., 3.]])
>>> chainerx.embed_id(chainerx.array([1, -1]), W, ignore_label=-1)
array([[2., 3.],
       [0., 0.]], shape=(2, 2), dtype=float64, device='native:0')
)");
Array EmbedId(const Array& x, const Array& w, const std::optional<int64_t>& ignore_label) {
    if (w.ndim() != 2) throw DimensionError{"embed_id: W must have 2 dimensions, has shape ", w.shape()};
    if (!IsFloat(w.dtype())) throw DtypeError{"embed_id: W must be of a floating point dtype, not ", w.dtype()};
    if (!IsInteger(x.dtype())) throw DtypeError{"embed_id: x must be of an integer dtype, not ", x.dtype()};
    if (!ignore_label.has_value()) return Take(w, x, 0);
    Array index = AsType(x.AsDetached(), Dtype::kInt64, false);
    Array used = NotEqual(index, Scalar{*ignore_label});
    Array rows = Take(w, index * AsType(used, Dtype::kInt64), 0);
    return Where(ExpandDims(used, -1), rows, Scalar{0});
}

}  // namespace chainerx
