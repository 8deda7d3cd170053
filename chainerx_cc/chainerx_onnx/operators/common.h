#pragma once

// What the families of operators share. Their files are tables of operators. Most are functions (parameters.h); one
// that prepares something when the model is loaded reads its node and returns what the node does at each run.

#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"
#include "chainerx_onnx/parameters.h"

namespace chainerx::onnx {

constexpr const char* kLearning = "ai.onnx.ml";  // the domain of classical models

// The size of a part of a shape.
inline int64_t SizeOf(const Shape& shape, int begin, int end) {
    int64_t size = 1;
    for (int i = begin; i < end; ++i) size *= shape[i];
    return size;
}

inline std::vector<int64_t> ToVector(const Shape& shape) { return {shape.begin(), shape.end()}; }

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The greatest or the least number of a dtype; of floating point numbers, an infinity.
inline Scalar LimitOf(Dtype dtype, bool is_greatest) {
    return VisitDtype(dtype, [is_greatest](auto tag) -> Scalar {
        using T = typename decltype(tag)::type;
        using Limits = std::numeric_limits<T>;
        if constexpr (std::is_integral_v<T>) return Scalar{is_greatest ? Limits::max() : Limits::min()};
        return Scalar{is_greatest ? kInfinity : -kInfinity};
    });
}

inline int8_t LastAxis(const Array& x) { return static_cast<int8_t>(x.ndim() - 1); }

inline Axes AxesBetween(int begin, int end) {
    Axes axes;
    for (int i = begin; i < end; ++i) axes.push_back(static_cast<int8_t>(i));
    return axes;
}

// 0, 1, 2, ...
inline Ints FirstInts(int64_t count) {
    Ints out(count);
    std::iota(out.begin(), out.end(), 0);
    return out;
}

// In the dtype, which rounds as a cast does.
inline Array Cast(const Array& x, Dtype dtype) { return AsType(x, dtype, false); }

// Elements of an axis: begin, begin + step, ... below (or above) end.
inline Array SliceAxis(const Array& x, int axis, int64_t begin, int64_t end, int64_t step = 1) {
    ArrayIndices indices(axis, Slice{});
    indices.push_back(Slice{begin, end, step});
    return At(x, indices);
}

// The elements of a vector along an axis that has `behind` axes behind it.
inline Array AsAxis(const Array& a, int64_t behind) {
    Shape shape{a.GetTotalSize()};
    shape.resize(behind + 1, 1);
    return Reshape(a, shape);
}

// 0, 1, 2, ... along such an axis.
inline Array Steps(int64_t count, int64_t behind, Device& device, Dtype dtype = Dtype::kInt64) {
    return AsAxis(Arange(Scalar{0}, Scalar{count}, Scalar{1}, dtype, device), behind);
}

// For each axis, a width before and one behind. Negative ones cut.
using Widths = std::vector<Ints>;
inline Widths NoWidths(int ndim) { return Widths(ndim, {0, 0}); }

// Pads and cuts (arrays.cc). Raises ModelError if less than nothing would be left, or the result is too large.
Array PadOrCut(const Array& x, Widths widths, PadMode mode = PadMode::kConstant, const Scalar& value = Scalar{0});

inline Array PadAxis(const Array& x, int axis, int64_t before, int64_t behind) {
    Widths widths = NoWidths(x.ndim());
    widths[axis] = {before, behind};
    return PadOrCut(x, widths);
}

// For loops over the elements.
inline Array InHostMemory(const Array& a, Dtype dtype = Dtype::kFloat64) {
    return AsContiguous(Cast(ToDevice(a, HostDevice()), dtype));
}
inline std::vector<double> ReadDoubles(const Array& a) {
    Array host = InHostMemory(a);
    return {host.data<double>(), host.data<double>() + host.GetTotalSize()};
}
inline Array EmptyInHostMemory(const Shape& shape) { return Empty(shape, Dtype::kFloat64, HostDevice()); }
// Their result, with the dtype of x and where it is.
inline Array Like(const Array& x, const Array& result) { return ToDevice(Cast(result, x.dtype()), x.device()); }

// A function of the first input.
template <const auto& kFunction>
Kernel Unary(const Node&) {
    return [](const Inputs& in) { return kFunction(in[0]); };
}

// Elements of x at indices along an axis, in the shape of the indices (gathering.cc).
Array TakeAlong(const Array& x, const Array& indices, int8_t axis);
// Parts of an axis (arrays.cc). Raises ModelError if the sizes do not add up to its length.
Arrays SplitAxis(const Array& x, int axis, const Ints& sizes);

// x as a matrix: the axes before one, which may be the last plus one, and the others.
inline Array AsMatrix(const Array& x, int64_t axis) {
    int first = axis == x.ndim() ? x.ndim() : CheckAxis(axis, x.ndim());
    return Reshape(x, Shape{SizeOf(x.shape(), 0, first), SizeOf(x.shape(), first, x.ndim())});
}

// Applies a function to an axis. Below opset 13 it works on all axes from it on.
template <Array (*kFunction)(const Array&, const OptionalAxes&)>
Array AlongAxis(const Array& x, int64_t axis, Opset opset) {
    if (opset >= 13) return kFunction(x, Axes{CheckAxis(axis, x.ndim())});
    return Reshape(kFunction(AsMatrix(x, axis), Axes{1}), x.shape());
}

// b with ones behind its shape so that its axes are those of a from `axis` on: opsets below 7 align so.
struct LegacyBroadcast {
    explicit LegacyBroadcast(const Node& node) {
        if (node.opset() < 7 && node.Has("broadcast") && node.Flag("broadcast")) axis = node.OptionalInt("axis");
    }
    Array operator()(const Array& a, const Array& b) const {
        if (!axis) return b;
        int first = CheckAxis(*axis, a.ndim());
        Shape shape = b.shape();
        for (int i = first + b.ndim(); i < a.ndim(); ++i) shape.push_back(1);
        return Reshape(b, shape);
    }
    std::optional<int64_t> axis;
};

// A function of two inputs, which are aligned as opsets below 7 say.
template <const auto& kFunction>
Kernel Binary(const Node& node) {
    LegacyBroadcast align{node};
    if (!align.axis) return [](const Inputs& in) { return kFunction(in[0], in[1]); };
    return [align](const Inputs& in) { return kFunction(in[0], align(in[0], in[1])); };
}

}  // namespace chainerx::onnx
