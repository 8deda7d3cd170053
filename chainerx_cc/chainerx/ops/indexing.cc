#include "chainerx/ops/indexing.h"

#include <algorithm>
#include <utility>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

const TakeKernel kTakeKernel{"take", kTakesComplex};
const AddAtKernel kAddAtKernel{"add_at", kTakesComplex};
const AddSumsAtKernel kAddSumsAtKernel{"add_sums_at", kTakesComplex};
const PutKernel kPutKernel{"put", kTakesComplex};
const NormalizeIndicesKernel kNormalizeIndicesKernel{"normalize_indices"};
const NonzeroKernel kNonzeroKernel{"nonzero", kTakesComplex};

namespace {

struct ResolvedSlice {
    int64_t start;
    int64_t step;
    int64_t length;
};

// Python's rules for slices of a sequence.
ResolvedSlice Resolve(const Slice& slice, int64_t length) {
    int64_t step = std::max(slice.step.value_or(1), -INT64_MAX);
    if (step == 0) throw DimensionError{"slice step must not be zero"};
    int64_t lowest = step > 0 ? 0 : -1;
    int64_t highest = step > 0 ? length : length - 1;
    auto bound = [&](const std::optional<int64_t>& v, int64_t missing) {
        if (!v.has_value()) return missing;
        return std::min(std::max(*v < 0 ? *v + length : *v, lowest), highest);
    };
    int64_t start = bound(slice.start, step > 0 ? lowest : highest);
    int64_t stop = bound(slice.stop, step > 0 ? highest : lowest);
    int64_t distance = step > 0 ? stop - start : start - stop;
    return {start, step, distance > 0 ? (distance - 1) / std::abs(step) + 1 : 0};
}

// An index expression split into a view and, possibly, integer arrays for some of the view's axes.
struct IndexPlan {
    Shape shape;
    Strides strides;
    int64_t offset;
    std::vector<std::pair<int8_t, Array>> arrays;  // view axis, int64 indices
    bool separated{false};                         // the arrays are not next to each other: their axes go first
};

IndexPlan MakeIndexPlan(const Array& a, const ArrayIndices& indices) {
    int consumed = 0;
    bool ellipsis = false;
    for (const ArrayIndex& index : indices) {
        if (std::holds_alternative<Ellipsis>(index)) {
            if (ellipsis) throw IndexError{"an index can only have a single ellipsis ('...')"};
            ellipsis = true;
        } else if (const Array* array = std::get_if<Array>(&index)) {
            consumed += array->dtype() == Dtype::kBool ? array->ndim() : 1;
        } else if (!std::holds_alternative<NewAxis>(index)) {
            ++consumed;
        }
    }
    if (consumed > a.ndim()) {
        throw IndexError{"too many indices: the array has ", int{a.ndim()}, " dimensions but ", consumed,
                         " were indexed"};
    }
    IndexPlan plan;
    plan.offset = a.offset();
    int axis = 0;
    auto keep = [&](int n) {
        for (; n > 0; --n, ++axis) {
            plan.shape.push_back(a.shape()[axis]);
            plan.strides.push_back(a.strides()[axis]);
        }
    };
    bool gap = false;       // a slice or new axis followed an array or integer
    bool advanced = false;  // an array or integer was there: for the order of axes both count
    auto add_advanced = [&] {
        if (advanced && gap) plan.separated = true;
        advanced = true;
        gap = false;
    };
    auto add_array = [&](const Array& index) {
        add_advanced();
        plan.arrays.emplace_back(plan.shape.ndim(), index);
        keep(1);
    };
    for (const ArrayIndex& index : indices) {
        if (const auto* i = std::get_if<int64_t>(&index)) {
            int64_t length = a.shape()[axis];
            if (*i < -length || *i >= length) {
                throw IndexError{"index ", *i, " is out of bounds for axis ", axis, " with length ", length};
            }
            plan.offset += (*i < 0 ? *i + length : *i) * a.strides()[axis];
            ++axis;
            add_advanced();
        } else if (const auto* s = std::get_if<Slice>(&index)) {
            ResolvedSlice r = Resolve(*s, a.shape()[axis]);
            plan.offset += std::max(r.start, int64_t{0}) * a.strides()[axis];
            plan.shape.push_back(r.length);
            int64_t stride;
            // A step beyond the end has no effect, but may be huge.
            if (__builtin_mul_overflow(a.strides()[axis], r.step, &stride)) stride = a.strides()[axis];
            plan.strides.push_back(stride);
            ++axis;
            gap = true;
        } else if (std::holds_alternative<NewAxis>(index)) {
            plan.shape.push_back(1);
            plan.strides.push_back(0);
            gap = true;
        } else if (std::holds_alternative<Ellipsis>(index)) {
            keep(a.ndim() - consumed);
            gap = true;
        } else {
            const Array& array = std::get<Array>(index);
            CheckDevices(a, array);
            if (array.dtype() == Dtype::kBool) {
                for (int i = 0; i < array.ndim(); ++i) {
                    // An empty index fits everywhere, as in NumPy: nothing is taken.
                    if (array.shape()[i] != 0 && array.shape()[i] != a.shape()[axis + i]) {
                        throw IndexError{"a boolean index of shape ", array.shape(),
                                         " does not match the indexed axes of shape ", a.shape()};
                    }
                }
                if (array.ndim() == 0) {
                    // A new axis with one element or none.
                    add_advanced();
                    plan.arrays.emplace_back(plan.shape.ndim(), Flatnonzero(array));
                    plan.shape.push_back(1);
                    plan.strides.push_back(0);
                    continue;
                }
                for (const Array& positions : Nonzero(array)) add_array(positions);
            } else if (IsInteger(array.dtype())) {
                add_array(array);
            } else {
                throw IndexError{"arrays used as indices must be of integer or boolean dtype, not ", array.dtype()};
            }
        }
    }
    keep(a.ndim() - axis);
    return plan;
}

Array Normalize(const Array& indices, int64_t length, IndexMode mode) {
    Array in = AsContiguous(AsType(indices.AsDetached(), Dtype::kInt64, false));
    Array out = EmptyLike(in);
    kNormalizeIndicesKernel(in.device(), in, length, mode, out);
    return out;
}

TakeGeometry GetGeometry(const Shape& shape, int8_t axis) {
    TakeGeometry g{1, shape[axis], 1};
    for (int8_t i = 0; i < axis; ++i) g.outer *= shape[i];
    for (int i = axis + 1; i < shape.ndim(); ++i) g.inner *= shape[i];
    return g;
}

Shape TakeShape(const Shape& shape, int8_t axis, const Shape& indices) {
    Shape out(shape.begin(), shape.begin() + axis);
    for (int64_t d : indices) out.push_back(d);
    for (int i = axis + 1; i < shape.ndim(); ++i) out.push_back(shape[i]);
    return out;
}

Array TakeNormalized(const Array& a, const Array& indices, int8_t axis) {
    Array src = AsContiguous(a.AsDetached());
    Array out = Empty(TakeShape(a.shape(), axis, indices.shape()), a.dtype(), a.device());
    kTakeKernel(a.device(), src, indices, GetGeometry(a.shape(), axis), out);
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("take", mask, {&a}, {&out}, [indices, axis, s = a.shape()](BackwardContext& ctx) {
            const Array& gy = ctx.grad();
            ctx.SetGrad(0, AddAt(Zeros(s, gy.dtype(), gy.device()), indices, gy, axis));
        });
    }
    return out;
}

// The view of a plan, differentiable.
Array ViewOf(const Array& a, const IndexPlan& plan, const ArrayIndices& basic) {
    Array out = internal::MakeView(a, plan.shape, plan.strides, plan.offset);
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record("getitem", mask, {&a}, {&out}, [basic, s = a.shape()](BackwardContext& ctx) {
            const Array& gy = ctx.grad();
            Array gx = Zeros(s, gy.dtype(), gy.device());
            IndexPlan p = MakeIndexPlan(gx, basic);
            CopyData(gy, internal::MakeView(gx, p.shape, p.strides, p.offset));
            if (GraphMask m = internal::GetRecordMask(gy)) {
                internal::Record("getitem_grad", m, {&gy}, {&gx},
                                 [basic](BackwardContext& c) { c.SetGrad(0, At(c.grad(), basic)); });
            }
            ctx.SetGrad(0, gx);
        });
    }
    return out;
}

// Brings the indexed axes to the front and merges their indices into one: (merged, rest...).
struct Gathered {
    Axes order;          // permutation of the view's axes
    Shape flat;          // the permuted view with the indexed axes merged
    Array index;         // into the merged axis
    int8_t result_axis;  // where the index dimensions belong in the result
};

Gathered Merge(const IndexPlan& plan) {
    Gathered g;
    Shape index_shape;
    for (const auto& [axis, array] : plan.arrays) index_shape = BroadcastShapes(index_shape, array.shape());
    int64_t merged = 1;
    for (const auto& [axis, array] : plan.arrays) {
        int64_t length = plan.shape[axis];
        Array i = Normalize(array, length, IndexMode::kRaise);
        g.index = g.index ? g.index * Scalar{length} + i : i;
        g.order.push_back(axis);
        merged *= length;
    }
    if (g.index.shape() != index_shape) g.index = BroadcastTo(g.index, index_shape);
    g.index = AsContiguous(g.index);
    g.flat.push_back(merged);
    g.result_axis = plan.separated ? int8_t{0} : plan.arrays.front().first;
    for (int8_t i = 0; i < plan.shape.ndim(); ++i) {
        bool indexed = std::any_of(plan.arrays.begin(), plan.arrays.end(), [i](const auto& p) { return p.first == i; });
        if (indexed) continue;
        g.order.push_back(i);
        g.flat.push_back(plan.shape[i]);
    }
    return g;
}

// Moves the leading index dimensions to their place in the result.
Axes ResultOrder(const Gathered& g, int8_t ndim) {
    int8_t n = g.index.ndim();
    Axes order;
    for (int8_t i = 0; i < g.result_axis; ++i) order.push_back(static_cast<int8_t>(n + i));
    for (int8_t i = 0; i < n; ++i) order.push_back(i);
    for (auto i = static_cast<int8_t>(n + g.result_axis); i < ndim; ++i) order.push_back(i);
    return order;
}

// The index expression with full slices, or a new axis, in place of its arrays.
ArrayIndices BasicPart(const ArrayIndices& indices) {
    ArrayIndices basic;
    for (const ArrayIndex& index : indices) {
        const Array* array = std::get_if<Array>(&index);
        if (array == nullptr) {
            basic.push_back(index);
        } else {
            int n = array->dtype() == Dtype::kBool ? array->ndim() : 1;
            for (int i = 0; i < n; ++i) basic.emplace_back(Slice{});
            if (n == 0) basic.emplace_back(NewAxis{});
        }
    }
    return basic;
}

// Real arrays take no complex numbers, which would lose their imaginary parts.
void CheckKeepsParts(const char* op, Dtype from, Dtype to) {
    if (!IsComplex(from) || IsComplex(to)) return;
    throw DtypeError{op, ": numbers of dtype ", from, " cannot be written to an array of dtype ", to};
}

}  // namespace

Array At(const Array& a, const ArrayIndices& indices) {
    IndexPlan plan = MakeIndexPlan(a, indices);
    if (plan.arrays.empty()) return ViewOf(a, plan, indices);
    Array view = ViewOf(a, plan, BasicPart(indices));
    if (plan.arrays.size() == 1 && !plan.separated) {
        const auto& [axis, array] = plan.arrays.front();
        return TakeNormalized(view, Normalize(array, plan.shape[axis], IndexMode::kRaise), axis);
    }
    Gathered g = Merge(plan);
    Array flat = Reshape(Transpose(view, g.order), g.flat);
    Array taken = TakeNormalized(flat, g.index, 0);
    return g.result_axis == 0 ? taken : Transpose(taken, ResultOrder(g, taken.ndim()));
}

void SetAt(const Array& a, const ArrayIndices& indices, const Array& value) {
    internal::CheckInPlace(a, "assignment to an item");
    if (internal::GetRecordMask(value) != 0) {
        throw ChainerxError{
                "an array that belongs to a computational graph cannot be assigned into another; use as_grad_stopped() "
                "or where"};
    }
    CheckKeepsParts("assignment to an item", value.dtype(), a.dtype());
    Array target = a.AsDetached();
    Array source = value.AsDetached();
    if (&source.device() != &a.device()) source = ToDevice(source, a.device());
    source = AsType(source, a.dtype(), false);
    if (source.body()->storage.get() == a.body()->storage.get()) source = Copy(source);
    IndexPlan plan = MakeIndexPlan(target, indices);
    Array view = internal::MakeView(target, plan.shape, plan.strides, plan.offset);
    auto fit = [&source](const Shape& shape) {
        // Leading dimensions of length one of the value are dropped, as in NumPy.
        while (source.ndim() > shape.ndim() && source.shape()[0] == 1) {
            Shape s = source.shape();
            s.erase(0);
            source = Reshape(source, s);
        }
        return BroadcastTo(source, shape);
    };
    if (plan.arrays.empty()) {
        CopyData(fit(view.shape()), view);
    } else {
        Gathered g = Merge(plan);
        Shape rest(g.flat.begin() + 1, g.flat.end());
        Shape taken = g.index.shape();
        for (int64_t d : rest) taken.push_back(d);
        Axes order = ResultOrder(g, taken.ndim());
        Shape result;
        for (int8_t i : order) result.push_back(taken[i]);
        Axes inverse(order.ndim(), 0);
        for (int8_t i = 0; i < order.ndim(); ++i) inverse[order[i]] = i;
        Array values = AsContiguous(Transpose(fit(result), inverse));
        // Gather, replace, scatter back: the permuted view is a copy unless it happens to be contiguous.
        Array permuted = Transpose(view, g.order);
        Array flat = AsContiguous(permuted);
        bool copied = flat.body() != permuted.body();
        kPutKernel(a.device(), Reshape(flat, g.flat), g.index, GetGeometry(g.flat, 0), values);
        if (copied) CopyData(flat, permuted);
    }
    a.body()->storage->BumpVersion();
}

Indices::Indices(const std::vector<int64_t>& values)
    : Indices{OfValues(FromHost({static_cast<int64_t>(values.size())}, Dtype::kInt64, values.data()))} {}

Indices Indices::OfValues(const Array& array) {
    Indices out{array};
    out.is_movable_ = true;
    return out;
}

Array Indices::On(Device& device) const {
    if (!is_movable_ || &array_.device() == &device) return array_;
    return FromHost(array_.shape(), array_.dtype(), AsContiguous(array_).raw_data(), device);
}

CHAINERX_METHOD_ROUTINE(Take, "take", "a, indices, axis=None, mode=None", "take add_at normalize_indices", R"(
Elements at given indices along an axis.

Differentiable any number of times with respect to ``a``.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    indices (~chainerx.ndarray, sequence or int): Indices, in any shape; negative ones count from the end.
    axis (int or None): Axis; the flattened array is taken unless given.
    mode (str or None): What an index out of range does: ``'raise'`` (the default) an error, ``'wrap'`` begins
        again at the other end, ``'clip'`` takes the element at the end.

Returns:
    ~chainerx.ndarray: Array in which the shape of ``indices`` stands in the place of the axis.

Raises:
    ~chainerx.IndexError: If an index is out of range.
    ~chainerx.DtypeError: If the indices are no integers.
    ValueError: If ``mode`` has no meaning.

>>> x = chainerx.array([[1, 2, 3], [4, 5, 6]])
>>> chainerx.take(x, [2, 0], axis=1)
array([[3, 1],
       [6, 4]], shape=(2, 2), dtype=int64, device='native:0')
>>> x.take([4, 5, 6], mode='wrap')
array([5, 6, 1], shape=(3,), dtype=int64, device='native:0')
)");
Array Take(const Array& a, const Indices& indices, const std::optional<int64_t>& axis,
           const std::optional<IndexMode>& mode) {
    Array index = indices.On(a.device());
    if (!IsInteger(index.dtype())) throw DtypeError{"take needs indices of an integer dtype, not ", index.dtype()};
    CheckDevices(a, index);
    if (!axis.has_value()) return Take(Ravel(a), index, 0, mode);
    int8_t ax = NormalizeAxis(*axis, a.ndim());
    return TakeNormalized(a, Normalize(index, a.shape()[ax], mode.value_or(IndexMode::kRaise)), ax);
}

CHAINERX_ROUTINE(TakeAlongAxis, "take_along_axis", "a, indices, axis=-1", "take add_at normalize_indices", R"(
Elements at given indices along an axis, which differ from row to row.

:math:`y_{\dots i \dots} = a_{\dots n_{\dots i \dots} \dots}`, where :math:`n` are the indices. Differentiable any number
of times with respect to ``a``.

Args:
    a (~chainerx.ndarray): Array of any dtype.
    indices (~chainerx.ndarray, sequence or int): Indices, with as many dimensions as ``a``; negative ones count from
        the end. The lengths of both must broadcast, but for those along the axis.
    axis (int): Axis.

Returns:
    ~chainerx.ndarray: Array of the broadcast shape, with the length of ``indices`` along the axis.

Raises:
    ~chainerx.DimensionError: If the shapes do not fit together, or the axis is out of range.
    ~chainerx.IndexError: If an index is out of range.
    ~chainerx.DtypeError: If the indices are no integers.

>>> x = chainerx.array([[10, 30, 20], [60, 40, 50]])
>>> chainerx.take_along_axis(x, chainerx.argsort(x), axis=1)
array([[10, 20, 30],
       [40, 50, 60]], shape=(2, 3), dtype=int64, device='native:0')
)");
Array TakeAlongAxis(const Array& a, const Indices& indices, int64_t axis) {
    Array index = indices.On(a.device());
    if (!IsInteger(index.dtype())) {
        throw DtypeError{"take_along_axis needs indices of an integer dtype, not ", index.dtype()};
    }
    CheckDevices(a, index);
    int8_t ax = NormalizeAxis(axis, a.ndim());
    if (index.ndim() != a.ndim()) {
        throw DimensionError{"take_along_axis: indices of shape ", index.shape(), " and a of shape ", a.shape(),
                             " must have as many dimensions"};
    }
    Shape shape = a.shape();
    Shape wanted = index.shape();
    int64_t length = shape[ax];
    shape[ax] = wanted[ax] = 1;
    shape = wanted = BroadcastShapes(shape, wanted);
    shape[ax] = length;
    wanted[ax] = index.shape()[ax];
    Array rows = Moveaxis(BroadcastTo(a, shape), Axes{ax}, Axes{-1});
    Array places = Moveaxis(BroadcastTo(Normalize(index, length, IndexMode::kRaise), wanted), Axes{ax}, Axes{-1});
    // Places in the flattened array.
    Shape starts = places.shape();
    starts.back() = 1;
    Array row = Arange(Scalar{0}, Scalar{starts.GetTotalSize()}, Scalar{1}, Dtype::kInt64, a.device());
    return Moveaxis(Take(Ravel(rows), places + Reshape(row * Scalar{length}, starts)), Axes{-1}, Axes{ax});
}

CHAINERX_ROUTINE(AddAt, "_add_at", "a, indices, b, axis=0", "add_at take normalize_indices",
                 "A copy of ``a`` with ``b`` added at given indices of an axis.");
Array AddAt(const Array& a, const Array& indices, const Array& b, int64_t axis) {
    CheckDevices(a, b);
    CheckDevices(a, indices);
    CheckKeepsParts("_add_at", b.dtype(), a.dtype());
    int8_t ax = NormalizeAxis(axis, a.ndim());
    Array index = Normalize(indices, a.shape()[ax], IndexMode::kRaise);
    Shape expected = TakeShape(a.shape(), ax, index.shape());
    if (b.shape() != expected) throw DimensionError{"add_at: b has shape ", b.shape(), ", expected ", expected};
    Array out = AsGradStopped(a, true);
    kAddAtKernel(a.device(), out, index, GetGeometry(a.shape(), ax),
                 AsContiguous(AsType(b.AsDetached(), a.dtype(), false)));
    if (GraphMask mask = internal::GetRecordMask({&a, &b})) {
        internal::Record("add_at", mask, {&a, &b}, {&out}, [index, ax](BackwardContext& ctx) {
            if (ctx.IsWanted(0)) ctx.SetGrad(0, ctx.grad());
            if (ctx.IsWanted(1)) ctx.SetGrad(1, Take(ctx.grad(), index, ax));
        });
    }
    return out;
}

CHAINERX_METHOD_ROUTINE(Nonzero, "nonzero", "a", "nonzero", R"(
Indices of the nonzero elements.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of at least one dimension.

Returns:
    tuple of ~chainerx.ndarray: For each dimension the indices of the elements, of dtype int64.

Raises:
    ~chainerx.DimensionError: If there is no dimension.

>>> rows, columns = chainerx.nonzero(chainerx.array([[0, 1], [2, 0]]))
>>> rows
array([0, 1], shape=(2,), dtype=int64, device='native:0')
>>> columns
array([1, 0], shape=(2,), dtype=int64, device='native:0')
)");
ArrayTuple Nonzero(const Array& a) {
    if (a.ndim() == 0) throw DimensionError{"nonzero: an array without dimensions has no indices"};
    Array positions = kNonzeroKernel(a.device(), a.AsDetached());  // (count, ndim)
    ArrayTuple out;
    for (int64_t i = 0; i < positions.shape()[1]; ++i) out.push_back(At(positions, {Slice{}, i}));
    return out;
}

CHAINERX_ROUTINE(Argwhere, "argwhere", "a", "nonzero", R"(
Indices of the nonzero elements, one row for each of them.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: Indices, of dtype int64 and shape (number of nonzero elements, number of dimensions).

>>> chainerx.argwhere(chainerx.array([[0, 1], [2, 0]]))
array([[0, 1],
       [1, 0]], shape=(2, 2), dtype=int64, device='native:0')
)");
Array Argwhere(const Array& a) {
    if (a.ndim() > 0) return kNonzeroKernel(a.device(), a.AsDetached());
    // The element has no index.
    return At(Argwhere(Reshape(a.AsDetached(), Shape{1})), {Slice{}, Slice{0, 0, {}}});
}

CHAINERX_ROUTINE(Flatnonzero, "flatnonzero", "a", "nonzero", R"(
Indices of the nonzero elements of the flattened array.

Not differentiable.

Args:
    a (~chainerx.ndarray): Array of any dtype.

Returns:
    ~chainerx.ndarray: Indices, of dtype int64.

>>> chainerx.flatnonzero(chainerx.array([[0, 1], [2, 0]]))
array([1, 2], shape=(2,), dtype=int64, device='native:0')
)");
Array Flatnonzero(const Array& a) { return Nonzero(Ravel(a.AsDetached())).front(); }

}  // namespace chainerx
