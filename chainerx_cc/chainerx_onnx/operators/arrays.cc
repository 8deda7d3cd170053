// Operators that move elements: shapes, axes, joins and parts.

#include <algorithm>
#include <numeric>
#include <set>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {
namespace {

Kernel Reshape(const Node& node) {
    IntsParameter wanted{node, "shape"};
    if (!wanted.is_given()) throw ModelError{"it has no shape"};
    bool allow_zero = node.Flag("allowzero");
    return [wanted, allow_zero](const Inputs& in) {
        const Array& x = in[0];
        std::vector<int64_t> dims = wanted.Read(in);
        int64_t known = 1;
        int64_t* free = nullptr;
        for (size_t i = 0; i < dims.size(); ++i) {
            if (dims[i] == 0 && !allow_zero) {
                if (i >= x.shape().size()) throw ModelError{"its shape takes a dimension that ", x.shape(), " has not"};
                dims[i] = x.shape()[i];
            }
            if (dims[i] == -1) {
                if (free != nullptr) throw ModelError{"its shape has -1 twice"};
                free = &dims[i];
            } else if (__builtin_mul_overflow(known, dims[i], &known)) {
                throw ModelError{"its shape overflows"};
            }
        }
        if (free != nullptr) *free = known > 0 ? x.GetTotalSize() / known : 0;
        Shape shape = CheckedShape(dims, x.GetItemSize());
        if (shape.GetTotalSize() != x.GetTotalSize()) {
            throw ModelError{"the shape ", x.shape(), " cannot become ", shape};
        }
        return chainerx::Reshape(x, shape);
    };
}

Kernel Flatten(const Node& node) {
    int64_t axis = node.Int("axis");
    return [axis](const Inputs& in) {
        const Array& x = in[0];
        int ndim = x.ndim();
        int first = axis == ndim ? ndim : CheckAxis(axis, ndim);
        return chainerx::Reshape(x, Shape{SizeOf(x.shape(), 0, first), SizeOf(x.shape(), first, ndim)});
    };
}

Kernel Transpose(const Node& node) {
    auto perm = node.OptionalInts("perm");
    for (int64_t i = 0; perm && i < static_cast<int64_t>(perm->size()); ++i) {
        if (std::count(perm->begin(), perm->end(), i) != 1) throw ModelError{"its attribute 'perm' is no permutation"};
    }
    return [perm](const Inputs& in) {
        if (!perm) return chainerx::Transpose(in[0]);
        return chainerx::Transpose(in[0], CheckAxes(*perm, in[0].ndim()));
    };
}

Kernel Squeeze(const Node& node) {
    IntsParameter axes{node, "axes"};
    return [axes](const Inputs& in) {
        if (!axes.is_given()) return chainerx::Squeeze(in[0]);
        return chainerx::Squeeze(in[0], CheckAxes(axes.Read(in), in[0].ndim()));
    };
}

Kernel Unsqueeze(const Node& node) {
    IntsParameter axes{node, "axes"};
    if (!axes.is_given()) throw ModelError{"it has no axes"};
    return [axes](const Inputs& in) {
        std::vector<int64_t> values = axes.Read(in);
        const Array& x = in[0];
        size_t ndim = x.shape().size() + values.size();
        if (ndim > static_cast<size_t>(kMaxNdim)) throw ModelError{"the result has ", ndim, " dimensions"};
        Axes places = CheckAxes(values, static_cast<int>(ndim));
        std::sort(places.begin(), places.end());
        if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
            throw ModelError{"the axes ", places, " are not distinct"};
        }
        Shape shape = x.shape();
        for (int8_t axis : places) shape.insert(axis, 1);
        return chainerx::Reshape(x, shape);
    };
}

Kernel Concat(const Node& node) {
    int64_t axis = node.opset() < 4 ? node.OptionalInt("axis").value_or(1) : node.Int("axis");
    return [axis](const Inputs& in) {
        Arrays xs = in.From(0);
        return xs.size() == 1 ? xs[0] : Concatenate(xs, CheckAxis(axis, xs[0].ndim()));
    };
}

Kernel Split(const Node& node) {
    int64_t axis = node.Int("axis");
    int64_t count = node.OptionalInt("num_outputs").value_or(node.output_count());
    IntsParameter given{node, "split"};
    int64_t n_outputs = node.output_count();
    if (count != n_outputs) {
        throw ModelError{"its attribute 'num_outputs' is ", count, ", and it has ", n_outputs, " outputs"};
    }
    return [axis, count, given](const Inputs& in) {
        const Array& x = in[0];
        int8_t at = CheckAxis(axis, x.ndim());
        int64_t length = x.shape()[at];
        std::vector<int64_t> sizes = given.Read(in);
        if (!given.is_given()) {
            int64_t each = (length + count - 1) / count;
            for (int64_t i = 0; i < count; ++i) sizes.push_back(std::clamp<int64_t>(length - i * each, 0, each));
        }
        if (static_cast<int64_t>(sizes.size()) != count) {
            throw ModelError{"it has ", sizes.size(), " sizes for ", count, " outputs"};
        }
        Arrays ys;
        int64_t begin = 0;
        for (int64_t size : sizes) {
            if (size < 0 || size > length - begin) throw ModelError{"the sizes do not add up to ", length};
            ys.push_back(SliceAxis(x, at, begin, begin + size));
            begin += size;
        }
        if (begin != length) throw ModelError{"the sizes do not add up to ", length};
        return ys;
    };
}

// As NumPy: the end of a slice with a negative step may lie before the axis.
Slice MakeSlice(int64_t begin, int64_t end, int64_t step, int64_t length) {
    if (step == 0) throw ModelError{"a step is zero"};
    step = std::clamp(step, -length - 1, length + 1);
    auto place = [length, step](int64_t i) {
        if (i < 0) i = i < -length ? -1 : i + length;
        if (i < 0) return step < 0 ? int64_t{-1} : int64_t{0};
        return std::min(i, step < 0 ? length - 1 : length);
    };
    Slice slice{place(begin), std::nullopt, step};
    int64_t stop = place(end);
    if (stop >= 0) slice.stop = stop;
    if (*slice.start < 0) slice = {0, 0, 1};  // before the axis: nothing
    return slice;
}

Kernel SliceNode(const Node& node) {
    IntsParameter starts{node, "starts"};
    IntsParameter ends{node, "ends"};
    IntsParameter axes{node, "axes"};
    IntsParameter steps{node, "steps"};
    if (!starts.is_given() || !ends.is_given()) throw ModelError{"it has no starts or no ends"};
    return [starts, ends, axes, steps](const Inputs& in) {
        const Array& x = in[0];
        std::vector<int64_t> first = starts.Read(in);
        std::vector<int64_t> last = ends.Read(in);
        std::vector<int64_t> on = axes.Read(in);
        std::vector<int64_t> by = steps.Read(in);
        if (!axes.is_given()) {
            on.resize(first.size());
            std::iota(on.begin(), on.end(), 0);
        }
        if (!steps.is_given()) by.assign(first.size(), 1);
        if (first.size() != last.size() || on.size() != first.size() || by.size() != first.size()) {
            throw ModelError{"starts, ends, axes and steps differ in their lengths"};
        }
        ArrayIndices indices(x.ndim(), Slice{});
        std::set<int8_t> seen;
        for (size_t i = 0; i < first.size(); ++i) {
            int8_t axis = CheckAxis(on[i], x.ndim());
            if (!seen.insert(axis).second) throw ModelError{"axis ", on[i], " is given twice"};
            indices[axis] = MakeSlice(first[i], last[i], by[i], x.shape()[axis]);
        }
        return At(x, indices);
    };
}

Kernel Tile(const Node& node) {
    IntsParameter repeats{node, "repeats"};
    IntsParameter axis{node, "axis"};
    return [repeats, axis](const Inputs& in) {
        const Array& x = in[0];
        std::vector<int64_t> reps = repeats.Read(in);
        if (axis.is_given()) {  // opset 1: one number for one axis
            std::vector<int64_t> all(x.ndim(), 1);
            if (reps.size() != 1) throw ModelError{"expected one number of tiles"};
            all[CheckAxis(axis.ReadOne(in), x.ndim())] = reps[0];
            reps = all;
        }
        if (reps.size() != x.shape().size()) throw ModelError{reps.size(), " repeats for ", int{x.ndim()}, " axes"};
        std::vector<int64_t> dims = ToVector(x.shape());
        for (size_t i = 0; i < dims.size(); ++i) {
            if (reps[i] < 0 || __builtin_mul_overflow(dims[i], reps[i], &dims[i])) {
                throw ModelError{"the number of repeats ", reps[i], " does not fit"};
            }
        }
        CheckedShape(dims, x.GetItemSize());
        return chainerx::Tile(x, Shape{reps.begin(), reps.end()});
    };
}

Kernel Expand(const Node& node) {
    IntsParameter wanted{node, "shape"};
    return [wanted](const Inputs& in) {
        Shape shape = BroadcastShapes(in[0].shape(), CheckedShape(wanted.Read(in), 1));
        CheckedShape(ToVector(shape), in[0].GetItemSize());
        return BroadcastTo(in[0], shape);
    };
}

// Pads one axis with copies of its elements.
Array PadAxis(const Array& x, int axis, int64_t before, int64_t behind, PadMode mode) {
    std::vector<std::vector<int64_t>> widths(x.ndim(), {0, 0});
    widths[axis] = {before, behind};
    return chainerx::Pad(x, Sides<int64_t>{widths}, mode);
}

Kernel Pad(const Node& node) {
    IntsParameter given{node, node.Has("paddings") ? "paddings" : "pads"};
    IntsParameter axes{node, "axes"};
    constexpr PadMode kModes[] = {PadMode::kConstant, PadMode::kReflect, PadMode::kEdge, PadMode::kWrap};
    PadMode mode = kModes[node.Choice("mode", {"constant", "reflect", "edge", "wrap"})];
    double fill = node.Float("value");
    return [given, axes, mode, fill](const Inputs& in) {
        Array x = in[0];
        std::vector<int64_t> values = given.Read(in);
        std::vector<int64_t> on = axes.Read(in);
        if (!axes.is_given()) {
            on.resize(x.ndim());
            std::iota(on.begin(), on.end(), 0);
        }
        size_t count = on.size();
        if (values.size() != 2 * count) throw ModelError{values.size(), " widths for ", count, " axes"};
        std::vector<std::vector<int64_t>> widths(x.ndim(), {0, 0});
        std::vector<int64_t> dims = ToVector(x.shape());
        for (size_t i = 0; i < count; ++i) {
            int8_t axis = CheckAxis(on[i], x.ndim());
            int64_t before = values[i];
            int64_t behind = values[count + i];
            int64_t n = dims[axis];
            if (__builtin_add_overflow(n, before, &n) || __builtin_add_overflow(n, behind, &n) || n < 0) {
                throw ModelError{"the widths ", before, " and ", behind, " do not fit to the length ", dims[axis]};
            }
            // Negative widths cut.
            int64_t length = dims[axis];
            dims[axis] = n;
            int64_t first = std::max<int64_t>(-before, 0);
            int64_t last = length - std::max<int64_t>(-behind, 0);
            if (first > 0 || last < length) x = SliceAxis(x, axis, std::min(first, length), std::max<int64_t>(last, 0));
            widths[axis] = {std::max<int64_t>(before, 0), std::max<int64_t>(behind, 0)};
        }
        CheckedShape(dims, x.GetItemSize());
        if (x.ndim() == 0) return x;
        if (mode == PadMode::kConstant) {
            Scalar value = in.Has(2) ? ReadScalar(in[2]) : Scalar{fill};
            if (!IsFloat(x.dtype())) value = Scalar{static_cast<int64_t>(value)};
            return chainerx::Pad(x, Sides<int64_t>{widths}, mode, value);
        }
        for (int8_t axis = 0; axis < x.ndim(); ++axis) x = PadAxis(x, axis, widths[axis][0], widths[axis][1], mode);
        return x;
    };
}

Kernel DepthToSpace(const Node& node) {
    int64_t block = node.Int("blocksize");
    bool is_dcr = node.Choice("mode", {"DCR", "CRD"}) == 0;
    return [block, is_dcr](const Inputs& in) {
        Shape s = in[0].shape();
        if (s.size() != 4 || block < 1 || s[1] / block % block != 0) throw ModelError{"the shape is ", s};
        int64_t inner = s[1] / block / block;
        Array y = is_dcr ? chainerx::Transpose(chainerx::Reshape(in[0], Shape{s[0], block, block, inner, s[2], s[3]}),
                                               Axes{0, 3, 4, 1, 5, 2})
                         : chainerx::Transpose(chainerx::Reshape(in[0], Shape{s[0], inner, block, block, s[2], s[3]}),
                                               Axes{0, 1, 4, 2, 5, 3});
        return chainerx::Reshape(y, Shape{s[0], inner, s[2] * block, s[3] * block});
    };
}

Kernel SpaceToDepth(const Node& node) {
    int64_t block = node.Int("blocksize");
    bool is_dcr = node.Choice("mode", {"DCR", "CRD"}) == 0;
    return [block, is_dcr](const Inputs& in) {
        Shape s = in[0].shape();
        if (s.size() != 4 || block < 1) throw ModelError{"the shape is ", s};
        int64_t rows = s[2] / block;
        int64_t columns = s[3] / block;
        Array y = chainerx::Reshape(in[0], Shape{s[0], s[1], rows, block, columns, block});
        y = chainerx::Transpose(y, is_dcr ? Axes{0, 3, 5, 1, 2, 4} : Axes{0, 1, 3, 5, 2, 4});
        return chainerx::Reshape(y, Shape{s[0], s[1] * block * block, rows, columns});
    };
}

Kernel Trilu(const Node& node) {
    IntsParameter k{node, "k"};
    bool upper = node.Flag("upper");
    return [k, upper](const Inputs& in) {
        const Array& x = in[0];
        if (x.ndim() < 2) throw ModelError{"the shape is ", x.shape()};
        int64_t rows = x.shape()[x.ndim() - 2];
        int64_t columns = x.shape()[x.ndim() - 1];
        int64_t diagonal = std::clamp(k.ReadOne(in), -rows - 1, columns + 1);
        if (x.GetTotalSize() == 0) return x;
        return upper ? Triu(x, diagonal) : Tril(x, diagonal);
    };
}

Kernel ReverseSequence(const Node& node) {
    int64_t batch_axis = node.Int("batch_axis");
    int64_t time_axis = node.Int("time_axis");
    return [batch_axis, time_axis](const Inputs& in) {
        const Array& x = in[0];
        std::vector<int64_t> lengths = ReadInts(in[1]);
        int8_t batch = CheckAxis(batch_axis, x.ndim());
        int8_t time = CheckAxis(time_axis, x.ndim());
        if (static_cast<int64_t>(lengths.size()) != x.shape()[batch]) {
            throw ModelError{lengths.size(), " lengths for ", x.shape()[batch], " sequences"};
        }
        int64_t total = x.shape()[time];
        Array swapped = Moveaxis(x, Axes{batch, time}, Axes{0, 1});
        Arrays rows;
        for (size_t i = 0; i < lengths.size(); ++i) {
            if (lengths[i] < 0 || lengths[i] > total) throw ModelError{"a length is ", lengths[i]};
            std::vector<int64_t> places(total);
            std::iota(places.begin(), places.end(), 0);
            std::reverse(places.begin(), places.begin() + lengths[i]);
            rows.push_back(Take(At(swapped, {static_cast<int64_t>(i)}), places, 0));
        }
        return Moveaxis(Stack(rows, 0), Axes{0, 1}, Axes{batch, time});
    };
}

Kernel ShapeNode(const Node& node) {
    int64_t start = node.Int("start");
    int64_t end = node.OptionalInt("end").value_or(INT32_MAX);
    Device* device = &node.device();
    return [start, end, device](const Inputs& in) {
        const Shape& shape = in[0].shape();
        int64_t ndim = shape.ndim();
        auto place = [ndim](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + ndim : i, 0, ndim); };
        int64_t first = place(start);
        int64_t count = std::max<int64_t>(place(end) - first, 0);
        return FromHost(Shape{count}, Dtype::kInt64, shape.data() + first, *device);
    };
}

Kernel Size(const Node& node) {
    Device* device = &node.device();
    return [device](const Inputs& in) { return Full(Shape{}, Scalar{in[0].GetTotalSize()}, Dtype::kInt64, *device); };
}

Kernel OneHot(const Node& node) {
    int64_t axis = node.Int("axis");
    return [axis](const Inputs& in) {
        Array indices = Cast(in[0], Dtype::kInt64);
        if (in[1].GetTotalSize() != 1 || in[2].GetTotalSize() != 2)
            throw ModelError{"the depth or the values are wrong"};
        int64_t depth = ReadInts(in[1])[0];
        int8_t at = CheckAxis(axis, indices.ndim() + 1);
        std::vector<int64_t> dims = ToVector(indices.shape());
        dims.insert(dims.begin() + at, depth);
        CheckedShape(dims, in[2].GetItemSize());
        Shape shape{depth};
        for (int i = at; i < indices.ndim(); ++i) shape.push_back(1);
        Array steps =
                chainerx::Reshape(Arange(Scalar{0}, Scalar{depth}, Scalar{1}, Dtype::kInt64, indices.device()), shape);
        Array wrapped = Where(Less(indices, Scalar{0}), indices + Scalar{depth}, indices);
        Array values = chainerx::Reshape(in[2], Shape{2});
        return Where(Equal(ExpandDims(wrapped, at), steps), At(values, {int64_t{1}}), At(values, {int64_t{0}}));
    };
}

Kernel NonZero(const Node&) {
    return [](const Inputs& in) {
        const Array& x = in[0];
        return chainerx::Transpose(Argwhere(x.ndim() == 0 ? chainerx::Reshape(x, Shape{1}) : x));
    };
}

Kernel Identity(const Node& /*node*/) {
    return [](const Inputs& in) { return in[0]; };
}

Kernel CenterCropPad(const Node& node) {
    IntsParameter wanted{node, "shape"};
    auto axes = node.OptionalInts("axes");
    return [wanted, axes](const Inputs& in) {
        Array x = in[0];
        std::vector<int64_t> sizes = wanted.Read(in);
        std::vector<int64_t> on(x.ndim());
        std::iota(on.begin(), on.end(), 0);
        if (axes) on = *axes;
        if (on.size() != sizes.size()) throw ModelError{sizes.size(), " sizes for ", on.size(), " axes"};
        std::vector<int64_t> dims = ToVector(x.shape());
        for (size_t i = 0; i < on.size(); ++i) dims[CheckAxis(on[i], x.ndim())] = sizes[i];
        CheckedShape(dims, x.GetItemSize());
        for (int8_t axis = 0; axis < x.ndim(); ++axis) {
            int64_t n = x.shape()[axis];
            int64_t extra = dims[axis] - n;
            if (extra < 0) x = SliceAxis(x, axis, -extra / 2, -extra / 2 + dims[axis]);
            if (extra > 0) x = PadAxis(x, axis, extra / 2, extra - extra / 2, PadMode::kConstant);
        }
        return x;
    };
}

const Operator kOperators[] = {
        {"CenterCropPad", CenterCropPad},
        {"Concat", Concat},
        {"DepthToSpace", DepthToSpace},
        {"Expand", Expand},
        {"Flatten", Flatten},
        {"Identity", Identity},
        {"NonZero", NonZero},
        {"OneHot", OneHot},
        {"Pad", Pad},
        {"Reshape", Reshape},
        {"ReverseSequence", ReverseSequence},
        {"Shape", ShapeNode},
        {"Size", Size},
        {"Slice", SliceNode},
        {"SpaceToDepth", SpaceToDepth},
        {"Split", Split},
        {"Squeeze", Squeeze},
        {"Tile", Tile},
        {"Transpose", Transpose},
        {"Trilu", Trilu},
        {"Unsqueeze", Unsqueeze},
};

}  // namespace

CHAINERX_ONNX_FAMILY(Arrays)

}  // namespace chainerx::onnx
