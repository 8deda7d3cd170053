// Reading and writing at indices.

#include <algorithm>

#include "chainerx/core/compute_type.h"
#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

// Flat places in an array of a shape of elements that have these indices along its axes, or of blocks if there are less
// indices than axes. Negative indices count from the end.
Array FlatPlaces(const Shape& shape, const Arrays& indices) {
    Array flat;
    for (size_t i = 0; i < indices.size(); ++i) {
        Array place = Take(Steps(shape[i], 0, indices[i].device()), indices[i], 0);
        flat = flat ? flat * Scalar{shape[i]} + place : place;
    }
    return flat;
}

// The same, in the shape of `indices`, for indices along one axis.
Array PlacesAlong(const Array& indices, const Shape& shape, int axis) {
    if (indices.ndim() != shape.ndim()) throw ModelError{"the indices have the shape ", indices.shape()};
    Arrays all;
    for (int i = 0; i < shape.ndim(); ++i) {
        all.push_back(i == axis ? indices : Steps(indices.shape()[i], shape.ndim() - 1 - i, indices.device()));
    }
    return FlatPlaces(shape, all);
}

}  // namespace

Array TakeAlong(const Array& x, const Array& indices, int8_t axis) {
    return Take(x, PlacesAlong(indices, x.shape(), axis));
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

// Points of the first axes of an array, whose indices are in the last axis of `indices`, and the blocks behind them.
struct Points {
    Points(const Array& indices, const Shape& shape, int64_t batch_dims) {
        int64_t ndim = indices.ndim() - 1;
        int64_t width = ndim < 0 ? 0 : indices.shape().back();
        if (width < 1 || batch_dims < 0 || batch_dims > ndim || batch_dims + width > shape.ndim()) {
            throw ModelError{"the indices have the shape ", indices.shape(), ", and there is an array ", shape};
        }
        Arrays each;
        for (int64_t i = 0; i < batch_dims; ++i) {
            if (indices.shape()[i] != shape[i]) throw ModelError{"the indices have the shape ", indices.shape()};
            each.push_back(Steps(shape[i], ndim - 1 - i, indices.device()));
        }
        for (int64_t i = 0; i < width; ++i) each.push_back(At(indices, {Ellipsis{}, i}));
        places = FlatPlaces(shape, each);
        rest = Shape{shape.begin() + batch_dims + width, shape.end()};
    }

    Array places;
    Shape rest;  // of a block
};

Array GatherNd(const Array& x, const Array& indices, int64_t batch_dims) {
    Points points{indices, x.shape(), batch_dims};
    Shape shape = points.places.shape();
    for (int64_t n : points.rest) shape.push_back(n);
    if (shape.GetTotalSize() == 0) return Empty(shape, x.dtype(), x.device());
    return Reshape(Take(Reshape(x, Shape{-1, points.rest.GetTotalSize()}), points.places, 0), shape);
}

enum ScatterReduction { kNone, kAdd, kMul, kMax, kMin };

// A copy of x, in blocks, with blocks of updates written or combined at places, one after the other.
Array Scatter(const Array& x, const Array& at, int64_t block, const Array& updates, ScatterReduction reduction) {
    Ints places = ReadInts(at);
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
    Points points{indices, x.shape(), 0};
    return Scatter(x, points.places, points.rest.GetTotalSize(), updates, reduction);
}

enum class WriteMode { kLinear, kCircular };

// Writes steps of the update along an axis behind those that each row of the batch has.
Array TensorScatter(const Array& past, const Array& update, const std::optional<Ints>& indices, int8_t axis,
                    WriteMode mode) {
    Shape expected = past.shape();
    if (update.ndim() == past.ndim()) expected[axis] = update.shape()[axis];
    if (update.shape() != expected || update.dtype() != past.dtype() || axis == 0) {
        throw ModelError{"the update has the shape ", update.shape(), " and the dtype ", update.dtype()};
    }
    Ints begin = indices.value_or(Ints(past.shape()[0], 0));
    if (static_cast<int64_t>(begin.size()) != past.shape()[0]) throw ModelError{"there are ", begin.size(), " indices"};
    int64_t length = past.shape()[axis];
    Array out = AsContiguous(Copy(past));
    for (int64_t row = 0; row < past.shape()[0]; ++row) {
        int64_t n = 0;  // steps that are side by side
        for (int64_t i = 0; i < update.shape()[axis]; i += n) {
            int64_t step = begin[row] + i;
            if (mode == WriteMode::kCircular && length > 0) step %= length;
            if (step < 0 || step >= length) throw ModelError{"a place is ", step, " of ", length};
            n = std::min(length - step, update.shape()[axis] - i);
            SetAt(At(SliceAxis(out, axis, step, step + n), {row}), {}, At(SliceAxis(update, axis, i, i + n), {row}));
        }
    }
    return out;
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
    Array rows = InHostMemory(Moveaxis(x, Axes{at}, Axes{0}), x.dtype());
    Ints order = FirstInts(length);
    Ints first;  // of each group of equal rows
    Ints group(length);
    int64_t width = rows.GetTotalSize() / std::max<int64_t>(length, 1);
    VisitDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using Wide = typename ComputeType<T>::type;
        const T* p = rows.data<T>();
        // NaN is the greatest number.
        auto is_less = [](T a, T b) {
            auto left = static_cast<Wide>(a);
            auto right = static_cast<Wide>(b);
            return left < right || (left == left && right != right);
        };
        auto less = [&](int64_t a, int64_t b) {
            return std::lexicographical_compare(p + a * width, p + (a + 1) * width, p + b * width, p + (b + 1) * width,
                                                is_less);
        };
        std::stable_sort(order.begin(), order.end(), less);
        for (int64_t i = 0; i < length; ++i) {
            if (i == 0 || less(order[i - 1], order[i])) first.push_back(order[i]);
            group[order[i]] = static_cast<int64_t>(first.size()) - 1;
        }
    });
    Array firsts = IntsArray(first);
    Array groups = IntsArray(group);
    if (!is_sorted) {
        Array rank = Argsort(firsts);
        firsts = Take(firsts, rank, 0);
        groups = Take(Argsort(rank), groups, 0);
    }
    Array counts = Bincount(groups, std::nullopt, firsts.GetTotalSize());
    Device& device = x.device();
    return {Take(x, ToDevice(firsts, device), at), ToDevice(firsts, device), ToDevice(groups, device),
            ToDevice(counts, device)};
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
