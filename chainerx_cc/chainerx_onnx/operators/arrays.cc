// Operators that move elements: shapes, axes, joins and parts.

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

Array PadOrCut(const Array& x, Widths widths, PadMode mode, const Scalar& value) {
    Array y = x;
    Ints dims = ToVector(x.shape());
    bool pads = false;
    for (int8_t axis = 0; axis < x.ndim(); ++axis) {
        int64_t& before = widths[axis][0];
        int64_t& behind = widths[axis][1];
        int64_t length = dims[axis];
        int64_t& n = dims[axis];
        if (__builtin_add_overflow(n, before, &n) || __builtin_add_overflow(n, behind, &n) || n < 0) {
            throw ModelError{"the widths ", before, " and ", behind, " do not fit to the length ", length};
        }
        // A width that cuts more than there is takes the rest from the padding of the other side.
        if (before < -length) std::tie(before, behind) = std::pair{-length, n};
        if (behind < -length) std::tie(before, behind) = std::pair{n, -length};
        if (before < 0 || behind < 0) {
            y = SliceAxis(y, axis, std::max<int64_t>(-before, 0), length + std::min<int64_t>(behind, 0));
        }
        before = std::max<int64_t>(before, 0);
        behind = std::max<int64_t>(behind, 0);
        pads = pads || before + behind > 0;
    }
    CheckedShape(dims, x.GetItemSize());
    return pads ? chainerx::Pad(y, Sides<int64_t>{widths}, mode, value) : y;
}

Arrays SplitAxis(const Array& x, int axis, const Ints& sizes) {
    int64_t length = x.shape()[axis];
    Arrays ys;
    int64_t begin = 0;
    for (int64_t size : sizes) {
        if (size < 0 || size > length - begin) throw ModelError{"the sizes do not add up to ", length};
        ys.push_back(SliceAxis(x, axis, begin, begin + size));
        begin += size;
    }
    if (begin != length) throw ModelError{"the sizes do not add up to ", length};
    return ys;
}

namespace {

Array Reshape(const Array& x, const Ints& shape, bool allow_zero) {
    Ints dims = shape;
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
    Shape out = CheckedShape(dims, x.GetItemSize());
    if (out.GetTotalSize() != x.GetTotalSize()) throw ModelError{"the shape ", x.shape(), " cannot become ", out};
    return chainerx::Reshape(x, out);
}

Array Unsqueeze(const Array& x, const Ints& axes) {
    size_t ndim = x.shape().size() + axes.size();
    if (ndim > static_cast<size_t>(kMaxNdim)) throw ModelError{"the result has ", ndim, " dimensions"};
    Axes places = CheckAxes(axes, static_cast<int>(ndim));
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
        throw ModelError{"the axes ", places, " are not distinct"};
    }
    Shape shape = x.shape();
    for (int8_t axis : places) shape.insert(axis, 1);
    return chainerx::Reshape(x, shape);
}

// Opsets below 4 have 1 as the default.
Array Concat(const Arrays& xs, const std::optional<int64_t>& axis) {
    return xs.size() == 1 ? xs[0] : Concatenate(xs, CheckAxis(axis.value_or(1), xs[0].ndim()));
}

struct OutputCount {
    explicit OutputCount(const Node& node) : value{node.output_count()} {
        int64_t given = node.OptionalInt("num_outputs").value_or(value);
        if (given != value) {
            throw ModelError{"its attribute 'num_outputs' is ", given, ", and it has ", value, " outputs"};
        }
    }
    int64_t value;
};

Arrays Split(const Array& x, const std::optional<Ints>& split, int8_t axis, OutputCount count) {
    int64_t length = x.shape()[axis];
    Ints sizes = split.value_or(Ints{});
    if (!split) {
        int64_t each = (length + count.value - 1) / count.value;
        for (int64_t i = 0; i < count.value; ++i) sizes.push_back(std::clamp<int64_t>(length - i * each, 0, each));
    }
    if (static_cast<int64_t>(sizes.size()) != count.value) {
        throw ModelError{"it has ", sizes.size(), " sizes for ", count.value, " outputs"};
    }
    return SplitAxis(x, axis, sizes);
}

Array SliceAxes(const Array& x, const Ints& starts, const Ints& ends, const std::optional<Ints>& axes,
                const std::optional<Ints>& steps) {
    Ints on = axes.value_or(FirstInts(starts.size()));
    Ints by = steps.value_or(Ints(starts.size(), 1));
    if (starts.size() != ends.size() || on.size() != starts.size() || by.size() != starts.size()) {
        throw ModelError{"starts, ends, axes and steps differ in their lengths"};
    }
    ArrayIndices indices(x.ndim(), Slice{});
    std::set<int8_t> seen;
    for (size_t i = 0; i < starts.size(); ++i) {
        int8_t axis = CheckAxis(on[i], x.ndim());
        if (!seen.insert(axis).second) throw ModelError{"axis ", on[i], " is given twice"};
        if (by[i] == 0) throw ModelError{"a step is zero"};
        // NumPy's rules fit, also for an end before the axis. Longer steps reach nothing else, and could overflow.
        int64_t most = x.shape()[axis] + 1;
        indices[axis] = Slice{starts[i], ends[i], std::clamp(by[i], -most, most)};
    }
    return At(x, indices);
}

// Opset 1 has one number for one axis.
Array Tile(const Array& x, const Ints& repeats, const std::optional<int8_t>& axis) {
    Ints reps = repeats;
    if (axis) {
        if (reps.size() != 1) throw ModelError{"expected one number of tiles"};
        reps.assign(x.ndim(), 1);
        reps[*axis] = repeats[0];
    }
    if (reps.size() != x.shape().size()) throw ModelError{reps.size(), " repeats for ", int{x.ndim()}, " axes"};
    Ints dims = ToVector(x.shape());
    for (size_t i = 0; i < dims.size(); ++i) {
        if (reps[i] < 0 || __builtin_mul_overflow(dims[i], reps[i], &dims[i])) {
            throw ModelError{"the number of repeats ", reps[i], " does not fit"};
        }
    }
    CheckedShape(dims, x.GetItemSize());
    return chainerx::Tile(x, Shape{reps.begin(), reps.end()});
}

Array Expand(const Array& x, const Ints& shape) {
    Shape out = BroadcastShapes(x.shape(), CheckedShape(shape, 1));
    CheckedShape(ToVector(out), x.GetItemSize());
    return BroadcastTo(x, out);
}

enum class Padding { kConstant, kReflect, kEdge, kWrap };

// Opset 1 calls the widths paddings. Negative ones cut.
Array Pad(const Array& x, const std::optional<Ints>& pads, const Array& value, const std::optional<Axes>& axes,
          const std::optional<Ints>& paddings, Padding padding, double fill) {
    Ints values = pads ? *pads : paddings.value_or(Ints{});
    Axes on = axes.value_or(AxesBetween(0, x.ndim()));
    size_t count = on.size();
    if (values.size() != 2 * count) throw ModelError{values.size(), " widths for ", count, " axes"};
    Widths widths = NoWidths(x.ndim());
    for (size_t i = 0; i < count; ++i) widths[on[i]] = {values[i], values[count + i]};
    constexpr PadMode kModes[] = {PadMode::kConstant, PadMode::kReflect, PadMode::kEdge, PadMode::kWrap};
    Scalar constant = padding == Padding::kConstant && value ? AsScalar(value) : Scalar{fill};
    if (!IsFloat(x.dtype())) constant = Scalar{static_cast<int64_t>(constant)};
    return PadOrCut(x, widths, kModes[static_cast<int>(padding)], constant);
}

enum class BlockOrder { kDepthFirst, kColumnFirst };  // DCR, CRD

Array DepthToSpace(const Array& x, int64_t block, BlockOrder mode) {
    Shape s = x.shape();
    if (s.size() != 4 || block < 1 || s[1] / block % block != 0) throw ModelError{"the shape is ", s};
    int64_t inner = s[1] / block / block;
    bool is_dcr = mode == BlockOrder::kDepthFirst;
    Array y = is_dcr ? chainerx::Reshape(x, Shape{s[0], block, block, inner, s[2], s[3]})
                     : chainerx::Reshape(x, Shape{s[0], inner, block, block, s[2], s[3]});
    y = chainerx::Transpose(y, is_dcr ? Axes{0, 3, 4, 1, 5, 2} : Axes{0, 1, 4, 2, 5, 3});
    return chainerx::Reshape(y, Shape{s[0], inner, s[2] * block, s[3] * block});
}

Array SpaceToDepth(const Array& x, int64_t block, BlockOrder mode) {
    Shape s = x.shape();
    if (s.size() != 4 || block < 1) throw ModelError{"the shape is ", s};
    int64_t rows = s[2] / block;
    int64_t columns = s[3] / block;
    Array y = chainerx::Reshape(x, Shape{s[0], s[1], rows, block, columns, block});
    bool is_dcr = mode == BlockOrder::kDepthFirst;
    y = chainerx::Transpose(y, is_dcr ? Axes{0, 3, 5, 1, 2, 4} : Axes{0, 1, 3, 5, 2, 4});
    return chainerx::Reshape(y, Shape{s[0], s[1] * block * block, rows, columns});
}

Array Trilu(const Array& x, const std::optional<int64_t>& k, bool upper) {
    if (x.ndim() < 2) throw ModelError{"the shape is ", x.shape()};
    int64_t rows = x.shape()[x.ndim() - 2];
    int64_t columns = x.shape()[x.ndim() - 1];
    int64_t diagonal = std::clamp(k.value_or(0), -rows - 1, columns + 1);
    if (x.GetTotalSize() == 0) return x;
    return upper ? Triu(x, diagonal) : Tril(x, diagonal);
}

Array ReverseSequence(const Array& x, const Ints& lengths, int8_t batch, int8_t time) {
    if (static_cast<int64_t>(lengths.size()) != x.shape()[batch]) {
        throw ModelError{lengths.size(), " lengths for ", x.shape()[batch], " sequences"};
    }
    int64_t total = x.shape()[time];
    Array swapped = Moveaxis(x, Axes{batch, time}, Axes{0, 1});
    Arrays rows;
    for (size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] < 0 || lengths[i] > total) throw ModelError{"a length is ", lengths[i]};
        Ints places = FirstInts(total);
        std::reverse(places.begin(), places.begin() + lengths[i]);
        rows.push_back(Take(At(swapped, {static_cast<int64_t>(i)}), places, 0));
    }
    return Moveaxis(Stack(rows, 0), Axes{0, 1}, Axes{batch, time});
}

Array ShapeOf(const Array& x, Device& device, int64_t start, const std::optional<int64_t>& end) {
    const Shape& shape = x.shape();
    int64_t ndim = shape.ndim();
    auto place = [ndim](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + ndim : i, 0, ndim); };
    int64_t first = place(start);
    int64_t count = std::max<int64_t>(place(end.value_or(ndim)) - first, 0);
    return FromHost(Shape{count}, Dtype::kInt64, shape.data() + first, device);
}

Array Size(const Array& x, Device& device) { return Full(Shape{}, Scalar{x.GetTotalSize()}, Dtype::kInt64, device); }

Array OneHot(const Array& x, int64_t depth, const Array& values, int64_t axis) {
    Array indices = Cast(x, Dtype::kInt64);
    if (values.GetTotalSize() != 2) throw ModelError{"the values have the shape ", values.shape()};
    int8_t at = CheckAxis(axis, indices.ndim() + 1);
    Ints dims = ToVector(indices.shape());
    dims.insert(dims.begin() + at, depth);
    CheckedShape(dims, values.GetItemSize());
    Array steps = Steps(depth, indices.ndim() - at, indices.device());
    Array wrapped = Where(Less(indices, Scalar{0}), indices + Scalar{depth}, indices);
    Array pair = chainerx::Reshape(values, Shape{2});
    return Where(Equal(ExpandDims(wrapped, at), steps), At(pair, {int64_t{1}}), At(pair, {int64_t{0}}));
}

Array NonZero(const Array& x) {
    return chainerx::Transpose(Argwhere(x.ndim() == 0 ? chainerx::Reshape(x, Shape{1}) : x));
}

Array Identity(const Array& x) { return x; }

Array CenterCropPad(const Array& x, const Ints& sizes, const std::optional<Axes>& axes) {
    Axes on = axes.value_or(AxesBetween(0, x.ndim()));
    if (on.size() != sizes.size()) throw ModelError{sizes.size(), " sizes for ", on.size(), " axes"};
    Widths widths = NoWidths(x.ndim());
    for (size_t i = 0; i < on.size(); ++i) {
        if (sizes[i] < 0) throw ModelError{"a size is ", sizes[i]};
        int64_t extra = sizes[i] - x.shape()[on[i]];
        widths[on[i]] = {extra / 2, extra - extra / 2};
    }
    return PadOrCut(x, widths);
}

}  // namespace

const OperatorTable kArraysOperators = {
        {"CenterCropPad", Call<CenterCropPad>, "shape axes"},
        {"Concat", Call<Concat>, "axis", Purity::kPure, "", Operands::kMoved},
        {"DepthToSpace", Call<DepthToSpace>, "blocksize mode"},
        {"Expand", Call<Expand>, "shape", Purity::kPure, "", Operands::kMoved},
        {"Flatten", Call<AsMatrix>, "axis", Purity::kPure, "", Operands::kMoved},
        {"Identity", Call<Identity>, "", Purity::kPure, "", Operands::kMoved},
        {"NonZero", Call<NonZero>},
        {"OneHot", Call<OneHot>, "depth axis"},
        {"Pad", Call<Pad>, "pads axes paddings mode value"},
        {"Reshape", Call<Reshape>, "shape allowzero", Purity::kPure, "", Operands::kMoved},
        {"ReverseSequence", Call<ReverseSequence>, "sequence_lens batch_axis time_axis", Purity::kPure, "",
         Operands::kMoved},
        {"Shape", Call<ShapeOf>, "start end", Purity::kPure, "", Operands::kCompared},
        {"Size", Call<Size>, "", Purity::kPure, "", Operands::kCompared},
        {"Slice", Call<SliceAxes>, "starts ends axes steps", Purity::kPure, "", Operands::kMoved},
        {"SpaceToDepth", Call<SpaceToDepth>, "blocksize mode"},
        {"Split", Call<Split>, "split axis", Purity::kPure, "", Operands::kMoved},
        {"Squeeze", Call<chainerx::Squeeze>, "axes", Purity::kPure, "", Operands::kMoved},
        {"Tile", Call<Tile>, "repeats axis", Purity::kPure, "", Operands::kMoved},
        {"Transpose", Call<chainerx::Transpose>, "perm", Purity::kPure, "", Operands::kMoved},
        {"Trilu", Call<Trilu>, "k upper"},
        {"Unsqueeze", Call<Unsqueeze>, "axes", Purity::kPure, "", Operands::kMoved},
};

}  // namespace chainerx::onnx
