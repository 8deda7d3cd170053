// Reading and writing at indices.

#include <algorithm>
#include <cstring>

#include "chainerx/core/compute_type.h"
#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// Flat places in an array of the shape of `indices`, for indices along one axis of an array of shape `shape`.
std::vector<int64_t> PlacesAlong(const Array& indices, const Shape& shape, int axis) {
    if (indices.ndim() != shape.ndim()) throw ModelError{"the indices have the shape ", indices.shape()};
    for (int i = 0; i < shape.ndim(); ++i) {
        if (i != axis && indices.shape()[i] > shape[i])
            throw ModelError{"the indices have the shape ", indices.shape()};
    }
    std::vector<int64_t> places = ReadInts(indices);
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

Array TakeAlong(const Array& x, const Array& indices, int axis) {
    std::vector<int64_t> places = PlacesAlong(indices, x.shape(), axis);
    return Reshape(Take(Ravel(x), places, 0), indices.shape());
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

Kernel GatherElements(const Node& node) {
    int64_t axis = node.Int("axis");
    return [axis](const Inputs& in) { return TakeAlong(in[0], in[1], CheckAxis(axis, in[0].ndim())); };
}

// Flat places, in units of the blocks behind them, of points of the first axes from the last axis of `indices`.
struct Points {
    std::vector<int64_t> places;
    Shape shape;    // of the points
    int64_t block;  // elements at each
    Shape rest;     // of the block
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
    out.shape = indices.shape();
    out.shape.pop_back();
    for (int i = 0; i < batch_dims; ++i) {
        if (out.shape[i] != shape[i]) throw ModelError{"the indices have the shape ", indices.shape()};
    }
    int end = batch_dims + static_cast<int>(width);
    for (int i = end; i < shape.ndim(); ++i) out.rest.push_back(shape[i]);
    out.block = out.rest.GetTotalSize();
    std::vector<int64_t> values = ReadInts(indices);
    int64_t n = out.shape.GetTotalSize();
    int64_t per_batch = std::max<int64_t>(SizeOf(out.shape, batch_dims, out.shape.ndim()), 1);
    for (int64_t i = 0; i < n; ++i) {
        int64_t flat = i / per_batch;
        if (batch_dims == 0) flat = 0;
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

Kernel GatherNd(const Node& node) {
    int batch_dims = static_cast<int>(std::clamp<int64_t>(node.Int("batch_dims"), -1, kMaxNdim));
    return [batch_dims](const Inputs& in) {
        Points points = ReadPoints(in[1], in[0].shape(), batch_dims);
        Shape shape = points.shape;
        for (int64_t n : points.rest) shape.push_back(n);
        if (shape.GetTotalSize() == 0) return Empty(shape, in[0].dtype(), in[0].device());
        return Reshape(Take(InBlocks(in[0], points.block), points.places, 0), shape);
    };
}

enum Reduction { kNone, kAdd, kMul, kMax, kMin };

Reduction ReductionOf(const Node& node) { return static_cast<Reduction>(node.Choice("reduction")); }

// A copy of x, in blocks, with blocks of updates written or combined at places, one after the other.
Array Scatter(const Array& x, const std::vector<int64_t>& places, int64_t block, const Array& updates,
              Reduction reduction) {
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

Kernel ScatterElements(const Node& node) {
    int64_t axis = node.Int("axis");
    Reduction reduction = ReductionOf(node);
    return [axis, reduction](const Inputs& in) {
        std::vector<int64_t> places = PlacesAlong(in[1], in[0].shape(), CheckAxis(axis, in[0].ndim()));
        return Scatter(in[0], places, 1, in[2], reduction);
    };
}

Kernel ScatterNd(const Node& node) {
    Reduction reduction = ReductionOf(node);
    return [reduction](const Inputs& in) {
        Points points = ReadPoints(in[1], in[0].shape(), 0);
        return Scatter(in[0], points.places, points.block, in[2], reduction);
    };
}

Kernel TensorScatter(const Node& node) {
    int64_t axis = node.Int("axis");
    bool circular = node.String("mode") == "circular";
    return [axis, circular](const Inputs& in) {
        const Array& past = in[0];
        const Array& update = in[1];
        int8_t at = CheckAxis(axis, past.ndim());
        int64_t batch = past.shape()[0];
        int64_t length = past.shape()[at];
        if (update.ndim() != past.ndim() || at == 0) throw ModelError{"the shape of the update is ", update.shape()};
        for (int i = 0; i < past.ndim(); ++i) {
            if (i != at && update.shape()[i] != past.shape()[i]) {
                throw ModelError{"the shape of the update is ", update.shape()};
            }
        }
        int64_t count = update.shape()[at];
        std::vector<int64_t> begin(batch, 0);
        if (in.Has(2)) begin = ReadInts(in[2]);
        if (static_cast<int64_t>(begin.size()) != batch) throw ModelError{"the number of write indices is wrong"};
        int64_t rows = SizeOf(past.shape(), 1, at);
        std::vector<int64_t> places;
        for (int64_t b = 0; b < batch; ++b) {
            for (int64_t r = 0; r < rows; ++r) {
                for (int64_t i = 0; i < count; ++i) {
                    int64_t step = begin[b] + i;
                    if (circular && length > 0) step %= length;
                    if (step < 0 || step >= length) throw ModelError{"a place is ", step, " of ", length};
                    places.push_back((b * rows + r) * length + step);
                }
            }
        }
        return Scatter(past, places, SizeOf(past.shape(), at + 1, past.ndim()), update, kNone);
    };
}

Kernel Compress(const Node& node) {
    std::optional<int64_t> axis = node.OptionalInt("axis");
    return [axis](const Inputs& in) {
        Array x = axis ? in[0] : Ravel(in[0]);
        int8_t at = axis ? CheckAxis(*axis, x.ndim()) : int8_t{0};
        std::vector<int64_t> condition = ReadInts(in[1]);
        std::vector<int64_t> places;
        for (size_t i = 0; i < condition.size(); ++i) {
            if (condition[i] != 0) places.push_back(static_cast<int64_t>(i));
        }
        return Take(x, places, at);
    };
}

Kernel ArrayFeatureExtractor(const Node&) {
    return [](const Inputs& in) {
        Array y = Take(in[0], Ravel(in[1]), in[0].ndim() - 1);
        return y.ndim() == 1 ? Reshape(y, Shape{1, y.GetTotalSize()}) : y;  // a vector is a row
    };
}

// Rows of an axis in ascending order without repetitions, or in the order of their first occurrence.
Kernel UniqueNode(const Node& node) {
    std::optional<int64_t> axis = node.OptionalInt("axis");
    bool is_sorted = node.Flag("sorted");
    return [axis, is_sorted](const Inputs& in) -> Arrays {
        Array x = axis ? in[0] : Ravel(in[0]);
        int8_t at = axis ? CheckAxis(*axis, x.ndim()) : int8_t{0};
        int64_t length = x.shape()[at];
        Array rows = InHostMemory(Moveaxis(x, Axes{at}, Axes{0}));
        int64_t width = length == 0 ? 0 : rows.GetTotalSize() / length;
        const double* p = rows.data<double>();
        auto less = [&](int64_t a, int64_t b) {
            return std::lexicographical_compare(p + a * width, p + (a + 1) * width, p + b * width, p + (b + 1) * width);
        };
        std::vector<int64_t> order(length);
        for (int64_t i = 0; i < length; ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), less);
        std::vector<int64_t> first;
        std::vector<int64_t> counts;
        std::vector<int64_t> inverse(length);
        for (int64_t i = 0; i < length; ++i) {
            if (i == 0 || less(order[i - 1], order[i])) {
                first.push_back(order[i]);
                counts.push_back(0);
            }
            ++counts.back();
            inverse[order[i]] = static_cast<int64_t>(first.size()) - 1;
        }
        if (!is_sorted) {
            std::vector<int64_t> rank(first.size());
            for (size_t i = 0; i < rank.size(); ++i) rank[i] = static_cast<int64_t>(i);
            std::sort(rank.begin(), rank.end(), [&](int64_t a, int64_t b) { return first[a] < first[b]; });
            std::vector<int64_t> place(rank.size());
            std::vector<int64_t> new_first;
            std::vector<int64_t> new_counts;
            for (size_t i = 0; i < rank.size(); ++i) {
                place[rank[i]] = static_cast<int64_t>(i);
                new_first.push_back(first[rank[i]]);
                new_counts.push_back(counts[rank[i]]);
            }
            for (int64_t& i : inverse) i = place[i];
            first = new_first;
            counts = new_counts;
        }
        Device& device = x.device();
        return {Take(x, first, at), ToDevice(IntsArray(first), device), ToDevice(IntsArray(inverse), device),
                ToDevice(IntsArray(counts), device)};
    };
}

const Operator kOperators[] = {
        {"ArrayFeatureExtractor", ArrayFeatureExtractor, Purity::kPure, "ai.onnx.ml"},
        {"Compress", Compress},
        {"Gather", Gather},
        {"GatherElements", GatherElements},
        {"GatherND", GatherNd},
        {"Scatter", ScatterElements},
        {"ScatterElements", ScatterElements},
        {"ScatterND", ScatterNd},
        {"TensorScatter", TensorScatter},
        {"Unique", UniqueNode},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Gathering)

}  // namespace chainerx::onnx
