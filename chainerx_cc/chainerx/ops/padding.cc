// Arrays made larger at their sides.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/structured.h"

namespace chainerx {
namespace {

Shape PaddedShape(const Array& a, const PadWidths& widths) {
    constexpr int64_t kLongest = std::numeric_limits<int64_t>::max() / 4;
    if (widths.size() != static_cast<size_t>(a.ndim())) {
        throw DimensionError{"pad: widths are given for ", widths.size(), " axes, the array has shape ", a.shape()};
    }
    Shape shape = a.shape();
    for (int8_t ax = 0; ax < a.ndim(); ++ax) {
        for (int64_t width : widths[ax]) {
            if (width < 0) throw DimensionError{"pad: widths must not be negative, one was ", width};
            if (width > kLongest) throw DimensionError{"pad: a width of ", width, " is too large"};
            shape[ax] += width;
        }
    }
    CheckShape(shape, GetItemSize(a.dtype()));
    return shape;
}

// Position in an axis of the length n which an element at i, perhaps outside of it, copies.
int64_t Source(PadMode mode, int64_t i, int64_t n) {
    if (mode == PadMode::kEdge) return std::min(std::max<int64_t>(i, 0), n - 1);
    // Reflections repeat after there and back, once or twice over the elements at the ends.
    int64_t period = mode == PadMode::kWrap ? n : mode == PadMode::kSymmetric ? 2 * n : std::max<int64_t>(2 * n - 2, 1);
    int64_t position = ((i % period) + period) % period;
    if (position < n) return position;
    return mode == PadMode::kSymmetric ? period - 1 - position : period - position;
}

Array PadConstant(const Array& a, const Shape& shape, const PadWidths& widths, const PadValues& values) {
    Array out = Empty(shape, a.dtype(), a.device());
    const Strides& strides = out.strides();
    int64_t begin = 0;
    for (int8_t ax = 0; ax < a.ndim(); ++ax) begin += widths[ax][0] * strides[ax];
    CopyData(a, internal::MakeView(out, a.shape(), strides, begin));
    // Each corner belongs to the last of its axes, as in NumPy.
    Shape slab = a.shape();
    for (int8_t ax = 0; ax < a.ndim(); ++ax) {
        begin -= widths[ax][0] * strides[ax];
        for (int side = 0; side < 2; ++side) {
            slab[ax] = widths[ax][side];
            int64_t offset = side == 0 ? 0 : (shape[ax] - slab[ax]) * strides[ax];
            if (slab.GetTotalSize() > 0) {
                Fill(internal::MakeView(out, slab, strides, begin + offset), values[ax][side]);
            }
        }
        slab[ax] = shape[ax];
    }
    if (GraphMask mask = internal::GetRecordMask(a)) {
        ArrayIndices inner;
        for (int8_t ax = 0; ax < a.ndim(); ++ax) {
            inner.push_back(Slice{widths[ax][0], widths[ax][0] + a.shape()[ax], std::nullopt});
        }
        auto backward = [inner](BackwardContext& ctx) { ctx.SetGrad(0, At(ctx.grad(), inner)); };
        auto* node = new FunctionObjectNode<decltype(backward)>{"pad", mask, std::move(backward)};
        IntrusivePtr<OpNode> guard{node};
        node->AddInput(a, mask);
        node->AddOutput(out);
    }
    return out;
}

Array PadCopying(const Array& a, const PadWidths& widths, PadMode mode) {
    Array out = a;
    for (int8_t ax = 0; ax < a.ndim(); ++ax) {
        const auto& [before, after] = widths[ax];
        if (before == 0 && after == 0) continue;
        int64_t length = a.shape()[ax];
        if (length == 0) {
            throw DimensionError{"pad: axis ", int{ax}, " of length 0 has no elements to copy, the array has shape ",
                                 a.shape()};
        }
        std::vector<int64_t> indices;
        for (int64_t i = -before; i < length + after; ++i) indices.push_back(Source(mode, i, length));
        Shape shape{static_cast<int64_t>(indices.size())};
        out = Take(out, FromHost(shape, Dtype::kInt64, indices.data(), a.device()), ax);
    }
    return out.body() == a.body() ? Copy(a) : out;
}

}  // namespace

Array Pad(const Array& a, const PadWidths& widths, PadMode mode, const PadValues& values) {
    Shape shape = PaddedShape(a, widths);
    if (mode != PadMode::kConstant) return PadCopying(a, widths, mode);
    if (values.empty()) return PadConstant(a, shape, widths, PadValues(widths.size(), {Scalar{0}, Scalar{0}}));
    if (values.size() != widths.size()) {
        throw DimensionError{"pad: values are given for ", values.size(), " axes, the array has shape ", a.shape()};
    }
    return PadConstant(a, shape, widths, values);
}

}  // namespace chainerx
