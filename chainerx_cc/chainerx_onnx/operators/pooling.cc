// Pooling.

#include "chainerx_onnx/operators/windows.h"

namespace chainerx::onnx {
namespace {

// The windows of a pooling, whose elements are strided slices of the padded input. Slices do what the functions of
// ChainerX cannot: padding that differs before and behind, dilation, and windows that begin inside and end outside.
struct PoolWindows : Windows {
    PoolWindows(const WindowAttributes& a, const Shape& shape) : Windows{a, shape, a.kernel.value()} {
        for (size_t i = 0; i < count(); ++i) {
            int64_t room = in[i] + before[i] + behind[i] - spans[i] + (a.ceil_mode ? strides[i] - 1 : 0);
            if (room < 0) throw ModelError{"the windows are larger than the input ", shape};
            int64_t out = room / strides[i] + 1;
            // A window has to begin before the padding behind.
            if (a.ceil_mode && (out - 1) * strides[i] >= in[i] + before[i]) --out;
            outs.push_back(out);
            // What the last windows need, which may be less or more than the padding that is given.
            needed.push_back((out - 1) * strides[i] + spans[i] - in[i] - before[i]);
        }
    }

    // Whether ChainerX's max pooling, whose padding is the same on both sides, has as many windows. What is beyond the
    // input never counts there.
    bool AreThoseOfMaxPool(bool cover_all) const {
        for (size_t i = 0; i < count(); ++i) {
            int64_t room = in[i] + 2 * before[i] - kernel[i];
            if (outs[i] < 1 || dilations[i] != 1 || before[i] < 0 || before[i] >= kernel[i] ||
                outs[i] != WindowGeometry::CountWindows(room, strides[i], cover_all)) {
                return false;
            }
        }
        return true;
    }

    Array Padded(const Array& x, const Scalar& value) const { return PadSpatial(x, before, needed, value); }

    // Calls f(indices) for each place in the window: they give the elements there of all windows of a padded array.
    template <class F>
    void ForEachPlace(F&& f) const {
        ArrayIndices indices(2 + count(), Slice{});
        int64_t taps = ToShape(kernel).GetTotalSize();
        for (int64_t t = 0; t < taps; ++t) {
            int64_t rest = t;
            for (size_t i = count(); i-- > 0; rest /= kernel[i]) {
                int64_t begin = rest % kernel[i] * dilations[i];
                indices[i + 2] = Slice{begin, begin + (outs[i] - 1) * strides[i] + 1, strides[i]};
            }
            f(indices);
        }
    }

    // Combines the elements of each window of a padded array by a function of two arrays.
    template <const auto& kFunction>
    Array Combine(const Array& padded) const {
        Array y;
        ForEachPlace([&](const ArrayIndices& at) { y = y ? kFunction(y, At(padded, at)) : At(padded, at); });
        return y;
    }

    Ints outs;
    Ints needed;
};

// The places of elements of an image, in the image and in a batch of images.
Array PlacesOf(const Shape& image, bool is_column_major, Device& device) {
    Shape shape = image;
    if (is_column_major) std::reverse(shape.begin(), shape.end());
    Array places = Reshape(Steps(image.GetTotalSize(), 0, device), shape);
    return ExpandDims(ExpandDims(is_column_major ? Transpose(places) : places, 0), 0);
}

Arrays MaxPoolNode(const Array& x, const WindowAttributes& attributes, bool is_column_major,
                   const WantedOutputs& wanted) {
    PoolWindows windows{attributes, x.shape()};
    bool cover_all = !windows.AreThoseOfMaxPool(false);
    if (!wanted[1] && IsFloat(x.dtype()) && (!cover_all || windows.AreThoseOfMaxPool(true))) {
        return {MaxPool(x, Sizes(windows.kernel), Sizes(windows.strides), Sizes(windows.before), cover_all)};
    }
    Array padded = windows.Padded(x, LimitOf(x.dtype(), false));
    if (!wanted[1]) return {windows.Combine<Maximum>(padded)};
    Shape image = ToShape(windows.in);
    Array all_places = windows.Padded(PlacesOf(image, is_column_major, x.device()), Scalar{0});
    Array best;
    Array places;
    windows.ForEachPlace([&](const ArrayIndices& at) {
        Array part = At(padded, at);
        Array is_better = best ? Greater(part, best) : Array{};
        places = best ? Where(is_better, At(all_places, at), places) : BroadcastTo(At(all_places, at), part.shape());
        best = best ? Where(is_better, part, best) : part;
    });
    Shape shape{x.shape()[0], x.shape()[1]};
    shape.resize(x.ndim(), 1);
    Array first = Steps(shape.GetTotalSize(), 0, x.device()) * Scalar{image.GetTotalSize()};
    return {best, places + Reshape(first, shape)};
}

Array AveragePoolNode(const Array& x, const WindowAttributes& attributes, bool include_pad) {
    PoolWindows windows{attributes, x.shape()};
    if (windows.AreThoseOfMaxPool(false) && windows.needed == windows.before) {
        return AveragePool(x, Sizes(windows.kernel), Sizes(windows.strides), Sizes(windows.before),
                           include_pad ? PoolPadding::kZero : PoolPadding::kIgnore);
    }
    // How many elements each window has; padding that rounding up adds counts in no case.
    Array sizes = Ones(Shape{}, x.dtype(), x.device());
    for (size_t i = 0; i < windows.count(); ++i) {
        Array places = Steps(windows.outs[i], 1, x.device()) * Scalar{windows.strides[i]} +
                       Steps(windows.kernel[i], 0, x.device()) * Scalar{windows.dilations[i]};
        int64_t begin = include_pad ? 0 : windows.before[i];
        int64_t end = windows.before[i] + windows.in[i] + (include_pad ? windows.behind[i] : 0);
        Array inside = LogicalAnd(GreaterEqual(places, Scalar{begin}), Less(places, Scalar{end}));
        sizes = ExpandDims(sizes, sizes.ndim()) * Sum(Cast(inside, x.dtype()), Axes{1});
    }
    return windows.Combine<Add>(windows.Padded(x, Scalar{0})) / Maximum(sizes, Scalar{1});
}

// Opset 1 has it as a floating point number.
struct Exponent {
    explicit Exponent(const Node& node)
        : value{node.opset() < 2 ? node.Float("p") : static_cast<double>(node.Int("p"))} {}
    // The p-norm, where `sum` adds elements.
    template <class F>
    Array Norm(const Array& x, F&& sum) const {
        return Power(sum(Power(Absolute(x), Scalar{value})), Scalar{1 / value});
    }
    double value;
};

Array LpPool(const Array& x, const WindowAttributes& attributes, const Exponent& p) {
    PoolWindows windows{attributes, x.shape()};
    return p.Norm(x, [&](const Array& powers) { return windows.Combine<Add>(windows.Padded(powers, Scalar{0})); });
}

Axes SpatialAxes(const Array& x) { return AxesBetween(2, x.ndim()); }

Array GlobalAveragePool(const Array& x) { return Mean(x, SpatialAxes(x), true); }
Array GlobalMaxPool(const Array& x) { return AMax(x, SpatialAxes(x), true); }
Array GlobalLpPool(const Array& x, const Exponent& p) {
    return p.Norm(x, [](const Array& powers) { return Sum(powers, SpatialAxes(powers), true); });
}

// The indices count in the shape that pooling would have had, which is cut or continued to that of the output.
Array MaxUnpool(const Array& x, const Array& indices, const std::optional<Ints>& output_shape,
                const WindowAttributes& attributes) {
    Windows windows{attributes, x.shape(), attributes.kernel.value()};
    Ints dims{x.shape()[0], x.shape()[1]};
    for (size_t i = 0; i < windows.count(); ++i) {
        dims.push_back((windows.in[i] - 1) * windows.strides[i] + windows.kernel[i] - windows.before[i] -
                       windows.behind[i]);
    }
    Shape from = CheckedShape(dims, x.GetItemSize());
    Shape to = output_shape ? CheckedShape(*output_shape, x.GetItemSize()) : from;
    if (to.ndim() != from.ndim()) throw ModelError{"the shape of the output is ", to};
    if (indices.GetTotalSize() != x.GetTotalSize()) throw ModelError{"the indices have the shape ", indices.shape()};
    Array zeros = Zeros(Shape{from.GetTotalSize()}, x.dtype(), x.device());
    Widths widths = NoWidths(to.ndim());
    for (int i = 0; i < to.ndim(); ++i) widths[i][1] = to[i] - from[i];
    return PadOrCut(Reshape(AddAt(zeros, Ravel(indices), Ravel(x)), from), widths);
}

}  // namespace

const OperatorTable kPoolingOperators = {
        {"AveragePool", Call<AveragePoolNode>, "count_include_pad"},
        {"GlobalAveragePool", Call<GlobalAveragePool>},
        {"GlobalLpPool", Call<GlobalLpPool>},
        {"GlobalMaxPool", Call<GlobalMaxPool>},
        {"LpPool", Call<LpPool>},
        {"MaxPool", Call<MaxPoolNode>, "storage_order"},
        {"MaxUnpool", Call<MaxUnpool>, "output_shape"},
};

}  // namespace chainerx::onnx
