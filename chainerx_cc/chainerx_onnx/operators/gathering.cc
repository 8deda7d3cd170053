// Reading and writing at indices.

#include <algorithm>
#include <cstring>

#include "chainerx/core/compute_type.h"
#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

namespace {

// Flat places in an array of the shape of `indices`, for indices along one axis of an array of shape `shape`.
Ints PlacesAlong(const Array& indices, const Shape& shape, int axis) {
    if (indices.ndim() != shape.ndim()) throw ModelError{"the indices have the shape ", indices.shape()};
    for (int i = 0; i < shape.ndim(); ++i) {
        if (i != axis && indices.shape()[i] > shape[i])
            throw ModelError{"the indices have the shape ", indices.shape()};
    }
    Ints places = ReadInts(indices);
    Shape count{};
    count.resize(shape.ndim(), 0);
    for (int64_t& place : places) {
        int64_t flat = 0;
        for (int i = 0; i < shape.ndim(); ++i) {
            int64_t at = count[i];
            if (i == axis) {
                at = place < 0 ? place + shape[axis] : place;
                if (at < 0 || at >= shape[axis]) {
                    throw ModelError{"the index ", place, " is not among the ", shape[axis], " elements of the axis"};
                }
            }
            flat = flat * shape[i] + at;
        }
        place = flat;
        for (int i = shape.ndim() - 1; i >= 0 && ++count[i] == indices.shape()[i]; --i) count[i] = 0;
    }
    return places;
}

}  // namespace

Array TakeAlong(const Array& x, const Array& indices, int8_t axis) {
    return Reshape(Take(Ravel(x), PlacesAlong(indices, x.shape(), axis), 0), indices.shape());
}

namespace {

Kernel Gather(const Node& node) {
    int64_t axis = node.Int("axis");
    if (Array constant = node.Constant(1); constant && constant.ndim() == 0 && IsInteger(constant.dtype())) {
        int64_t index = ReadInts(constant)[0];
        return [axis, index](const Inputs& in) {
            ArrayIndices indices(CheckAxis(axis, in[0].ndim()), Slice{});
            indices.push_back(index);
            return At(in[0], indices);
        };
    }
    return [axis](const Inputs& in) { return Take(in[0], in[1], CheckAxis(axis, in[0].ndim())); };
}

// Flat places, in units of the blocks behind them, of points of the first axes from the last axis of `indices`.
struct Points {
    Ints places;
    Shape shape;  // of the points
    Shape rest;   // of the block at each
};

Points ReadPoints(const Array& indices, const Shape& shape, int batch_dims) {
    if (indices.ndim() < 1 || batch_dims < 0 || batch_dims >= indices.ndim() || batch_dims > shape.ndim()) {
        throw ModelError{"the indices have the shape ", indices.shape()};
    }
    int64_t width = indices.shape()[indices.ndim() - 1];
    if (width > shape.ndim() - batch_dims) {
        throw ModelError{"the indices are for ", width, " axes, and the shape is ", shape};
    }
    Points out;
    out.shape = Shape{indices.shape().begin(), indices.shape().end() - 1};
    for (int i = 0; i < batch_dims; ++i) {
        if (out.shape[i] != shape[i]) throw ModelError{"the indices have the shape ", indices.shape()};
    }
    out.rest = Shape{shape.begin() + batch_dims + width, shape.end()};
    Ints values = ReadInts(indices);
    int64_t n = out.shape.GetTotalSize();
    int64_t per_batch = std::max<int64_t>(SizeOf(out.shape, batch_dims, out.shape.ndim()), 1);
    for (int64_t i = 0; i < n; ++i) {
        int64_t flat = i / per_batch;
        for (int64_t j = 0; j < width; ++j) {
            int64_t length = shape[batch_dims + j];
            int64_t at = values[i * width + j];
            if (at < 0) at += length;
            if (at < 0 || at >= length) throw ModelError{"an index is not among the ", length, " elements of axis ", j};
            flat = flat * length + at;
        }
        out.places.push_back(flat);
    }
    return out;
}

Array InBlocks(const Array& x, int64_t block) {
    return Reshape(x, Shape{block == 0 ? 0 : x.GetTotalSize() / block, block});
}

Array GatherNd(const Array& x, const Array& indices, int64_t batch_dims) {
    Points points = ReadPoints(indices, x.shape(), static_cast<int>(std::min<int64_t>(batch_dims, kMaxNdim)));
    Shape shape = points.shape;
    for (int64_t n : points.rest) shape.push_back(n);
    if (shape.GetTotalSize() == 0) return Empty(shape, x.dtype(), x.device());
    return Reshape(Take(InBlocks(x, points.rest.GetTotalSize()), points.places, 0), shape);
}

enum ScatterReduction { kNone, kAdd, kMul, kMax, kMin };

// A copy of x, in blocks, with blocks of updates written or combined at places, one after the other.
Array Scatter(const Array& x, const Ints& places, int64_t block, const Array& updates, ScatterReduction reduction) {
    if (updates.GetTotalSize() != static_cast<int64_t>(places.size()) * block || updates.dtype() != x.dtype()) {
        throw ModelError{"the updates have the shape ", updates.shape(), " and the dtype ", updates.dtype()};
    }
    Array out = AsContiguous(Copy(ToDevice(x, HostDevice())));
    Array values = AsContiguous(ToDevice(updates, HostDevice()));
    VisitDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using Wide = typename ComputeType<T>::type;
        for (size_t i = 0; i < places.size(); ++i) {
            T* to = out.data<T>() + places[i] * block;
            const T* from = values.data<T>() + static_cast<int64_t>(i) * block;
            for (int64_t j = 0; j < block; ++j) {
                auto a = static_cast<Wide>(to[j]);
                auto b = static_cast<Wide>(from[j]);
                Wide y = reduction == kNone  ? b
                         : reduction == kAdd ? static_cast<Wide>(a + b)
                         : reduction == kMul ? static_cast<Wide>(a * b)
                         : reduction == kMax ? std::max(a, b)
                                             : std::min(a, b);
                to[j] = static_cast<T>(y);
            }
        }
    });
    return ToDevice(out, x.device());
}

Array ScatterElements(const Array& x, const Array& indices, const Array& updates, int8_t axis,
                      ScatterReduction reduction) {
    return Scatter(x, PlacesAlong(indices, x.shape(), axis), 1, updates, reduction);
}

Array ScatterOld(const Array& x, const Array& indices, const Array& updates, int8_t axis) {
    return ScatterElements(x, indices, updates, axis, kNone);
}

Array ScatterNd(const Array& x, const Array& indices, const Array& updates, ScatterReduction reduction) {
    Points points = ReadPoints(indices, x.shape(), 0);
    return Scatter(x, points.places, points.rest.GetTotalSize(), updates, reduction);
}

enum class WriteMode { kLinear, kCircular };

Array TensorScatter(const Array& past, const Array& update, const std::optional<Ints>& indices, int8_t axis,
                    WriteMode mode) {
    Shape expected = past.shape();
    if (update.ndim() == past.ndim()) expected[axis] = update.shape()[axis];
    if (update.shape() != expected || axis == 0) throw ModelError{"the shape of the update is ", update.shape()};
    int64_t batch = past.shape()[0];
    int64_t length = past.shape()[axis];
    int64_t count = update.shape()[axis];
    Ints begin = indices.value_or(Ints(batch, 0));
    if (static_cast<int64_t>(begin.size()) != batch) throw ModelError{"the number of write indices is wrong"};
    int64_t rows = SizeOf(past.shape(), 1, axis);
    Ints places;
    for (int64_t row = 0; row < batch * rows; ++row) {
        for (int64_t i = 0; i < count; ++i) {
            int64_t step = begin[row / rows] + i;
            if (mode == WriteMode::kCircular && length > 0) step %= length;
            if (step < 0 || step >= length) throw ModelError{"a place is ", step, " of ", length};
            places.push_back(row * length + step);
        }
    }
    return Scatter(past, places, SizeOf(past.shape(), axis + 1, past.ndim()), update, kNone);
}

Array Compress(const Array& x, const Array& condition, const std::optional<int8_t>& axis) {
    Array places = Flatnonzero(condition);
    return axis ? Take(x, places, *axis) : Take(Ravel(x), places, 0);
}

// Rows of an axis in ascending order without repetitions, or in the order of their first occurrence.
Arrays UniqueRows(const Array& input, const std::optional<int8_t>& axis, bool is_sorted) {
    Array x = axis ? input : Ravel(input);
    int8_t at = axis.value_or(0);
    int64_t length = x.shape()[at];
    Array rows = InHostMemory(Moveaxis(x, Axes{at}, Axes{0}));
    int64_t width = length == 0 ? 0 : rows.GetTotalSize() / length;
    const double* p = rows.data<double>();
    auto less = [&](int64_t a, int64_t b) {
        return std::lexicographical_compare(p + a * width, p + (a + 1) * width, p + b * width, p + (b + 1) * width);
    };
    Ints order = FirstInts(length);
    std::stable_sort(order.begin(), order.end(), less);
    Ints sorted;  // the first of each group of equal rows
    Ints group(length);
    for (int64_t i = 0; i < length; ++i) {
        if (i == 0 || less(order[i - 1], order[i])) sorted.push_back(order[i]);
        group[order[i]] = static_cast<int64_t>(sorted.size()) - 1;
    }
    Ints rank = FirstInts(static_cast<int64_t>(sorted.size()));
    if (!is_sorted) std::sort(rank.begin(), rank.end(), [&](int64_t a, int64_t b) { return sorted[a] < sorted[b]; });
    Ints first(rank.size());
    Ints counts(rank.size(), 0);
    Ints place(rank.size());
    for (size_t i = 0; i < rank.size(); ++i) {
        first[i] = sorted[rank[i]];
        place[rank[i]] = static_cast<int64_t>(i);
    }
    for (int64_t& i : group) ++counts[i = place[i]];
    Device& device = x.device();
    return {Take(x, first, at), ToDevice(IntsArray(first), device), ToDevice(IntsArray(group), device),
            ToDevice(IntsArray(counts), device)};
}

}  // namespace

const OperatorTable kGatheringOperators = {
        {"Compress", Call<Compress>, "axis", Purity::kPure, "", Operands::kMoved},
        {"Gather", Gather, "", Purity::kPure, "", Operands::kMoved},
        {"GatherElements", Call<TakeAlong>, "axis", Purity::kPure, "", Operands::kMoved},
        {"GatherND", Call<GatherNd>, "batch_dims", Purity::kPure, "", Operands::kMoved},
        {"Scatter", Call<ScatterOld>, "axis", Purity::kPure, "", Operands::kMoved},
        {"ScatterElements", Call<ScatterElements>, "axis reduction", Purity::kPure, "", Operands::kMoved},
        {"ScatterND", Call<ScatterNd>, "reduction", Purity::kPure, "", Operands::kMoved},
        {"TensorScatter", Call<TensorScatter>, "write_indices axis mode"},
        {"Unique", Call<UniqueRows>, "axis sorted"},
};

}  // namespace chainerx::onnx
