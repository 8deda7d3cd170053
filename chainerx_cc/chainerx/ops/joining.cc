// Arrays made of several, or of several times one.

#include "chainerx/autograd/graph.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {

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

std::vector<Array> Split(const Array& a, const std::vector<int64_t>& indices, int64_t axis) {
    int8_t ax = NormalizeAxis(axis, a.ndim());
    int64_t length = a.shape()[ax];
    std::vector<Array> out;
    int64_t begin = 0;
    auto clamp = [length](int64_t i) { return std::min(std::max<int64_t>(i < 0 ? i + length : i, 0), length); };
    for (size_t i = 0; i <= indices.size(); ++i) {
        int64_t end = i < indices.size() ? clamp(indices[i]) : length;
        Shape shape = a.shape();
        shape[ax] = std::max<int64_t>(end - begin, 0);
        out.push_back(
                internal::MakeView(a, shape, a.strides(), a.offset() + (shape[ax] > 0 ? begin * a.strides()[ax] : 0)));
        begin = i < indices.size() ? clamp(indices[i]) : length;
    }
    if (GraphMask mask = internal::GetRecordMask(a)) {
        auto backward = [ax](BackwardContext& ctx) {
            std::vector<Array> grads;
            for (size_t i = 0; i < ctx.output_count(); ++i) grads.push_back(ctx.GradOrZeros(i));
            ctx.SetGrad(0, Concatenate(grads, ax));
        };
        auto* node = new FunctionObjectNode<decltype(backward)>{"split", mask, std::move(backward)};
        IntrusivePtr<OpNode> guard{node};
        node->AddInput(a, mask);
        for (const Array& part : out) node->AddOutput(part);
    }
    return out;
}

std::vector<Array> Split(const Array& a, int64_t sections, int64_t axis) {
    int64_t length = a.shape()[NormalizeAxis(axis, a.ndim())];
    if (sections < 1) throw DimensionError{"split: the number of sections must be positive, was ", sections};
    if (length % sections != 0) {
        throw DimensionError{"split: length ", length, " cannot be divided into ", sections, " equal sections"};
    }
    std::vector<int64_t> indices;
    for (int64_t i = 1; i < sections; ++i) indices.push_back(i * (length / sections));
    return Split(a, indices, axis);
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

Array Atleast2D(const Array& a) {
    return a.ndim() >= 2 ? View(a) : Reshape(a, a.ndim() == 0 ? Shape{1, 1} : Shape{1, a.shape()[0]});
}

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

Array Hstack(const std::vector<Array>& arrays) {
    std::vector<Array> a = Map(arrays, Atleast1D);
    return Concatenate(a, !a.empty() && a.front().ndim() == 1 ? 0 : 1);
}
Array Vstack(const std::vector<Array>& arrays) { return Concatenate(Map(arrays, Atleast2D), 0); }
Array Dstack(const std::vector<Array>& arrays) { return Concatenate(Map(arrays, Atleast3D), 2); }

Array Repeat(const Array& a, const std::vector<int64_t>& repeats, const std::optional<int64_t>& axis) {
    if (!axis.has_value()) return Repeat(Ravel(a), repeats, 0);
    int8_t ax = NormalizeAxis(*axis, a.ndim());
    int64_t length = a.shape()[ax];
    if (repeats.size() != 1 && static_cast<int64_t>(repeats.size()) != length) {
        throw DimensionError{"repeat: ", repeats.size(), " counts do not match an axis of length ", length};
    }
    for (int64_t n : repeats) {
        if (n < 0) throw ChainerxError{"repeat: counts must not be negative, one was ", n};
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

Array Roll(const Array& a, int64_t shift, const std::optional<int64_t>& axis) {
    if (!axis.has_value()) return Reshape(Roll(Ravel(a), shift, 0), a.shape());
    int8_t ax = NormalizeAxis(*axis, a.ndim());
    int64_t length = a.shape()[ax];
    if (length == 0) return Copy(a);
    int64_t s = ((shift % length) + length) % length;
    if (s == 0) return Copy(a);
    std::vector<Array> parts = Split(a, std::vector<int64_t>{length - s}, ax);
    return Concatenate({parts[1], parts[0]}, ax);
}

std::vector<Array> Meshgrid(const std::vector<Array>& arrays, bool ij_indexing) {
    auto n = static_cast<int8_t>(arrays.size());
    Shape shape;
    for (const Array& a : arrays) {
        if (a.ndim() > 1) throw DimensionError{"meshgrid needs arrays of at most 1 dimension"};
        shape.push_back(a.GetTotalSize());
    }
    bool swap = !ij_indexing && n >= 2;
    if (swap) std::swap(shape[0], shape[1]);
    std::vector<Array> out;
    for (int8_t i = 0; i < n; ++i) {
        int8_t axis = swap && i < 2 ? static_cast<int8_t>(1 - i) : i;
        Shape one(n, 1);
        one[axis] = arrays[i].GetTotalSize();
        out.push_back(BroadcastTo(Reshape(arrays[i], one), shape));
    }
    return out;
}

}  // namespace chainerx
