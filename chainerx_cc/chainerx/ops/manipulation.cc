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

// Records an operation on one array whose gradient is computed from gy alone.
template <class F>
Array RecordView(const char* name, const Array& a, Array out, F&& backward) {
    if (GraphMask mask = internal::GetRecordMask(a)) {
        internal::Record(name, mask, {&a}, {&out},
                         [f = std::forward<F>(backward)](BackwardContext& ctx) { ctx.SetGrad(0, f(ctx.grad())); });
    }
    return out;
}

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

Array Reshape(const Array& a, const Shape& shape) {
    Shape resolved = ResolveShape(a, shape);
    if (resolved == a.shape()) return View(a);
    std::optional<Strides> strides = ReshapeStrides(a, resolved);
    if (!strides.has_value()) {
        Array copied = Copy(a);
        return Reshape(copied, resolved);
    }
    return RecordView("reshape", a, internal::MakeView(a, resolved, *strides, a.offset()),
                      [s = a.shape()](const Array& gy) { return Reshape(gy, s); });
}

Array Ravel(const Array& a) { return Reshape(a, Shape{-1}); }

Array View(const Array& a) {
    return RecordView("view", a, a.AsDetached(), [](const Array& gy) { return gy; });
}

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
    return RecordView("transpose", a, internal::MakeView(a, shape, strides, a.offset()),
                      [inverse](const Array& gy) { return Transpose(gy, inverse); });
}

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
    return RecordView("squeeze", a, internal::MakeView(a, shape, strides, a.offset()),
                      [s = a.shape()](const Array& gy) { return Reshape(gy, s); });
}

Array ExpandDims(const Array& a, int64_t axis) {
    int8_t i = NormalizeAxis(axis, static_cast<int8_t>(a.ndim() + 1));
    Shape shape = a.shape();
    shape.insert(i, 1);
    return Reshape(a, shape);
}

Array Swapaxes(const Array& a, int64_t axis1, int64_t axis2) {
    Axes perm = NormalizeAxes(std::nullopt, a.ndim());
    std::swap(perm[NormalizeAxis(axis1, a.ndim())], perm[NormalizeAxis(axis2, a.ndim())]);
    return Transpose(a, perm);
}

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

Array Rollaxis(const Array& a, int64_t axis, int64_t start) {
    int8_t from = NormalizeAxis(axis, a.ndim());
    int8_t to = NormalizeAxis(start < 0 ? start + a.ndim() : start, static_cast<int8_t>(a.ndim() + 1));
    if (from < to) --to;
    return Moveaxis(a, Axes{from}, Axes{to});
}

Array Flip(const Array& m, const OptionalAxes& axes) {
    Strides strides = m.strides();
    int64_t offset = m.offset();
    for (int8_t i : NormalizeAxes(axes, m.ndim())) {
        if (m.shape()[i] > 0) offset += (m.shape()[i] - 1) * strides[i];
        strides[i] = -strides[i];
    }
    return RecordView("flip", m, internal::MakeView(m, m.shape(), strides, offset),
                      [axes](const Array& gy) { return Flip(gy, axes); });
}

Array Fliplr(const Array& m) {
    if (m.ndim() < 2) throw DimensionError{"fliplr needs an array of at least 2 dimensions, not ", int{m.ndim()}};
    return Flip(m, Axes{1});
}

Array Flipud(const Array& m) {
    if (m.ndim() < 1) throw DimensionError{"flipud needs an array of at least 1 dimension"};
    return Flip(m, Axes{0});
}

Array BroadcastTo(const Array& array, const Shape& shape) {
    if (array.shape() == shape) return View(array);
    CheckShape(shape, array.GetItemSize());
    Strides strides = BroadcastStrides(array.shape(), array.strides(), shape);
    return RecordView("broadcast_to", array, internal::MakeView(array, shape, strides, array.offset()),
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

Array AsType(const Array& a, Dtype dtype, bool copy) {
    if (a.dtype() == dtype && !copy) return a;
    Array out = Empty(a.shape(), dtype, a.device());
    CopyData(a, out);
    if (!IsFloat(dtype)) return out;  // gradients stop
    return RecordView("astype", a, std::move(out), [d = a.dtype()](const Array& gy) { return AsType(gy, d, false); });
}

Array Copy(const Array& a) {
    Array out = EmptyLike(a);
    CopyData(a, out);
    return RecordView("copy", a, std::move(out), [](const Array& gy) { return gy; });
}

Array AsContiguous(const Array& a) { return a.IsContiguous() ? a : Copy(a); }

Array AsGradStopped(const Array& a, bool copy) {
    if (!copy) return a.AsDetached();
    Array out = EmptyLike(a);
    CopyData(a, out);
    return out;
}

Array AsGradStopped(const Array& a, const std::vector<BackpropId>& ids, bool copy) {
    GraphMask stop = 0;
    for (const BackpropId& id : ids) {
        a.context().CheckValidBackpropId(id);
        stop |= id.mask();
    }
    internal::DisableGraphsScope scope{stop};
    return copy ? Copy(a) : View(a);
}

Array ToDevice(const Array& a, Device& device) {
    if (&a.device() == &device) return a;
    if (&a.context() != &device.context()) throw ContextError{"cannot move an array to a device of another context"};
    Array src = a.AsDetached();
    Array contiguous = AsContiguous(src);
    Array out = Empty(a.shape(), a.dtype(), device);
    Device& from = a.device();
    if (device.CanAccess(from)) {
        CopyData(contiguous, out);
    } else if (from.HasHostMemory()) {
        device.CopyFromHost(out.raw_data(), contiguous.raw_data(), out.GetNBytes());
    } else if (device.HasHostMemory()) {
        from.CopyToHost(out.raw_data(), contiguous.raw_data(), out.GetNBytes());
    } else {
        std::vector<char> host(out.GetNBytes());
        from.CopyToHost(host.data(), contiguous.raw_data(), out.GetNBytes());
        device.CopyFromHost(out.raw_data(), host.data(), out.GetNBytes());
    }
    return RecordView("to_device", a, std::move(out), [d = &a.device()](const Array& gy) { return ToDevice(gy, *d); });
}

namespace {

// Where the diagonal of two axes lies.
struct DiagonalPlace {
    DiagonalPlace(const Shape& shape, int64_t offset, int64_t axis1, int64_t axis2)
        : axis1{NormalizeAxis(axis1, shape.ndim())}, axis2{NormalizeAxis(axis2, shape.ndim())} {
        if (this->axis1 == this->axis2) throw DimensionError{"diagonal: axis1 and axis2 are both ", axis1};
        down = offset >= 0 ? 0 : -std::max(offset, -INT64_MAX);
        right = std::max<int64_t>(offset, 0);
        length = std::max<int64_t>(0, std::min(shape[this->axis1] - down, shape[this->axis2] - right));
    }

    // The diagonal as the last axis.
    Array ViewOf(const Array& a) const {
        Shape shape;
        Strides strides;
        for (int8_t i = 0; i < a.ndim(); ++i) {
            if (i == axis1 || i == axis2) continue;
            shape.push_back(a.shape()[i]);
            strides.push_back(a.strides()[i]);
        }
        shape.push_back(length);
        strides.push_back(a.strides()[axis1] + a.strides()[axis2]);
        int64_t start = length > 0 ? down * a.strides()[axis1] + right * a.strides()[axis2] : 0;
        return internal::MakeView(a, shape, strides, a.offset() + start);
    }

    int8_t axis1;
    int8_t axis2;
    int64_t down;
    int64_t right;
    int64_t length;
};

// The adjoint of Diagonal: zeros of a shape, with a diagonal.
Array PutDiagonal(const Array& v, const Shape& shape, int64_t offset, int64_t axis1, int64_t axis2) {
    Array out = Zeros(shape, v.dtype(), v.device());
    CopyData(v, DiagonalPlace{shape, offset, axis1, axis2}.ViewOf(out));
    return RecordView("diagonal", v, std::move(out),
                      [=](const Array& gy) { return Diagonal(gy, offset, axis1, axis2); });
}

}  // namespace

Array Diagonal(const Array& a, int64_t offset, int64_t axis1, int64_t axis2) {
    if (a.ndim() < 2) throw DimensionError{"diagonal: a must have at least 2 dimensions, has shape ", a.shape()};
    return RecordView("diagonal", a, DiagonalPlace{a.shape(), offset, axis1, axis2}.ViewOf(a),
                      [=, shape = a.shape()](const Array& gy) { return PutDiagonal(gy, shape, offset, axis1, axis2); });
}

Array Diag(const Array& v, int64_t k) {
    if (v.ndim() == 2) return Diagonal(v, k);
    if (v.ndim() != 1) throw DimensionError{"diag needs an array of 1 or 2 dimensions, not ", int{v.ndim()}};
    int64_t n = 0;
    if (__builtin_add_overflow(v.shape()[0], std::abs(std::max(k, -INT64_MAX)), &n)) {
        throw DimensionError{"diag: the result would be too big with k = ", k};
    }
    return PutDiagonal(v, {n, n}, k, 0, 1);
}

Array Diagflat(const Array& v, int64_t k) { return Diag(Ravel(v), k); }

namespace {

Array Triangle(const Array& m, int64_t k, bool lower) {
    if (m.ndim() == 0) throw DimensionError{"a triangle needs an array of at least 1 dimension"};
    Array a = m.ndim() == 1 ? BroadcastTo(m, Shape{m.shape()[0], m.shape()[0]}) : m;
    int64_t rows = a.shape()[a.ndim() - 2];
    int64_t columns = a.shape()[a.ndim() - 1];
    Array mask = Tri(rows, columns, lower ? k : std::max(k, -INT64_MAX) - 1, Dtype::kBool, m.device());
    Scalar zero = m.dtype() == Dtype::kBool ? Scalar{false} : Scalar{int64_t{0}};
    return lower ? Where(mask, a, zero) : Where(mask, zero, a);
}

}  // namespace

Array Tril(const Array& m, int64_t k) { return Triangle(m, k, true); }
Array Triu(const Array& m, int64_t k) { return Triangle(m, k, false); }

void CopyTo(const Array& dst, const Array& src, const Array& where) {
    internal::CheckInPlace(dst, "copyto");
    CheckDevices(dst, src);
    BroadcastStrides(src.shape(), src.strides(), dst.shape());  // raises when the shapes do not fit
    Array value = src.AsDetached();
    if (src.body()->storage.get() == dst.body()->storage.get()) value = Copy(value);
    if (where) value = Where(where, AsType(value, dst.dtype(), false), dst.AsDetached());
    if (value.ndim() > dst.ndim()) throw DimensionError{"copyto: the condition has more dimensions than the array"};
    CopyData(value, dst);
    dst.body()->storage->BumpVersion();
}

}  // namespace chainerx
