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

Array ArgsortLast(const Array& a) {
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
    Array index = Reshape(ArgsortLast(a), Shape{rows, n}) + Reshape(start, Shape{rows, 1});
    return Reshape(Take(a, index), a.shape());
}

}  // namespace

Array Sort(const Array& a, const std::optional<int64_t>& axis) {
    if (a.GetTotalSize() == 0 && a.ndim() > 0) return Copy(axis.has_value() ? a : Ravel(a));
    return AlongLast("sort", a, axis, SortLast);
}

Array Argsort(const Array& a, const std::optional<int64_t>& axis) {
    return AlongLast("argsort", a.AsDetached(), axis, ArgsortLast);
}

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
